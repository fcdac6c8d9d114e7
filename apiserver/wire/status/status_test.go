package status_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"quorate/apiserver/objects/schema"
	"quorate/apiserver/wire/status"
	"quorate/raftstore"
	"quorate/raftstore/history"
	"quorate/raftstore/state"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestGolden compares the Status of every error with the golden file byte by byte, because clients
// parse some of them.
func TestGolden(t *testing.T) {
	t.Parallel()
	s := status.Subject{Group: "apps", Plural: "statefulsets", Kind: "StatefulSet", Name: "web"}
	key := state.NewKey("apps/statefulsets", "ns", "web")
	guard := state.NewKey("namespaces", "", "ns")
	invalid := field.ErrorList{
		field.Required(field.NewPath("spec", "template"), ""),
		field.NotSupported(field.NewPath("spec").Child("policy"), "x", []string{"A", "B"}),
	}
	var b strings.Builder
	for _, tc := range []struct {
		name string
		err  error
	}{
		{"I1", status.NewBadRequest("bad")}, {"I2", status.NewUnauthorized()},
		{"I3", status.NewForbidden(s, "no <b>")}, {"J26 path", status.NewForbiddenPath("no")},
		{"B2", fmt.Errorf("get: %w", &state.NotFound{Key: key})}, {"B4", status.NewNoRoute()},
		{"I5", status.NewMethodNotAllowed(s, "GET")}, {"D36", status.NewNotSupported(s, "watch", "")},
		{"B23", status.NewNotAcceptable([]string{"application/json", "application/yaml"})},
		{"A10", &state.Exists{Key: key}}, {"A10 terminating", status.NewAlreadyExists(s, true)}, {"A12", status.NewNameNotGenerated(s)},
		{"E2", &state.Conflict{Key: key, Want: 1, Have: 2}}, {"E5", &state.UIDMismatch{Key: key, Want: "a", Have: "b"}},
		{"G17", status.NewDeleteUIDConflict(s, "a", "b")}, {"G18", status.NewDeleteVersionConflict(s, "1", "2")},
		{"A31", &state.GuardFailed{Guard: guard}}, {"A32", &state.GuardFailed{Guard: guard, Sealed: true}},
		{"D13", &history.Compacted{Want: 3, Oldest: 9}}, {"C37", status.NewExpiredContinue()}, {"C26", status.NewTooOldList()},
		{"A43", status.NewEntityTooLarge(3145728)}, {"A44", raftstore.ErrTooLarge},
		{"A42", status.NewUnsupportedMediaType([]string{"application/json"})},
		{"A45", status.NewInvalid(s, invalid)}, {"A45 one", status.NewInvalid(s, invalid[:1])},
		{"A50", status.NewInvalidOption("CreateOptions", invalid[1])},
		{"A38", &schema.DecodeError{Message: "json parse error"}},
		{"I13", status.NewTooManyRequests()}, {"I13", status.NewLimitReached("you have 9 watches", 3)}, {"I14", errors.New("odd")}, {"I16", raftstore.ErrUnavailable},
		{"I16 no leader", fmt.Errorf("%w: %w", raftstore.ErrUnavailable, &raftstore.NoLeaderError{For: 14*time.Second + 1, Voters: 3, Missing: []string{"n1", "n3"}})},
		{"I16 no cluster", fmt.Errorf("create: %w", &raftstore.NoLeaderError{For: time.Minute})},
		{"quota of objects", fmt.Errorf("create: %w", &raftstore.QuotaError{Resource: "apps/deployments", Namespace: "a", Used: 5, Limit: 5})},
		{"quota of bytes", fmt.Errorf("create: %w", &raftstore.QuotaError{Used: 1000, Limit: 1024})},
		{"I16 full", fmt.Errorf("create: %w", &raftstore.FullError{Nodes: []string{"n1", "n2"}})}, {"I16 closed", raftstore.ErrClosed}, {"C33", &raftstore.Future{Want: 9, Have: 3}},
		{"F8", status.NewPatchRefused("why")}, {"F11", status.NewPatchTooLarge("why")},
		{"I17", raftstore.ErrTimeout}, {"I17 deadline", context.DeadlineExceeded}, {"I22", raftstore.ErrUnknownOutcome},
	} {
		failed, _ := status.From(tc.err, s)
		fmt.Fprintf(&b, "%-16s %s\n", tc.name, failed.Status.JSON())
	}
	fmt.Fprintf(&b, "%-16s %s\n", "G1", status.Success(s, "u").JSON())
	golden(t, "statuses.txt", b.String())
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	wanted, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(wanted) {
		t.Errorf("not as in %s:\n%s", path, got)
	}
}

func TestRetryAfterOnlyWhenSurelyNotApplied(t *testing.T) {
	t.Parallel()
	for _, err := range []error{
		raftstore.ErrUnknownOutcome, fmt.Errorf("update: %w", raftstore.ErrUnknownOutcome), context.DeadlineExceeded, context.Canceled,
	} {
		failed, mapped := status.From(err, status.Subject{})
		if d := failed.Status.Details; !mapped || failed.Status.Code != 504 || d != nil && d.RetryAfterSeconds != 0 {
			t.Errorf("I21, I22: %v becomes %s", err, failed.Status.JSON())
		}
	}
}
