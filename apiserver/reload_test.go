package apiserver_test

import (
	"bytes"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"quorate/apiserver"
	"quorate/apiserver/access/audit"
	"quorate/apiserver/access/fairness"
	"quorate/apiserver/access/reload"
	"quorate/apiserver/internal/testserver"
)

// lines collects what is written to it.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), text)
}

// rewrite replaces a file by one of another size, so that the change is seen whatever the clock of
// the file system.
func rewrite(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path+".new", []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// TestFilesAreReadAgain: a changed audit policy and changed priority levels take effect, and a
// version that can't be used changes nothing, is logged once and counted.
func TestFilesAreReadAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	policyPath, levelsPath := filepath.Join(dir, "policy"), filepath.Join(dir, "levels")
	policy := func(level string) string {
		return "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: " + level + "}]\n"
	}
	rewrite(t, policyPath, policy("None"))
	rewrite(t, levelsPath, "levels: [{name: before, share: 1}]\n")
	policyFile, levelsFile := reload.Open(policyPath), reload.Open(levelsPath)
	first, err := audit.ReadPolicy(policyPath)
	if err != nil {
		t.Fatal(err)
	}
	levels, err := fairness.Load(levelsPath)
	if err != nil {
		t.Fatal(err)
	}
	var events, log lines
	s := testserver.Start(t, func(cfg *apiserver.Config) {
		cfg.AuditPolicy, cfg.AuditPolicyFile, cfg.AuditSinks = first, policyFile, []io.Writer{&events}
		cfg.Levels, cfg.LevelsFile = levels, levelsFile
		cfg.Logger = slog.New(slog.NewTextHandler(&log, nil))
	})
	recorded := func() bool {
		before := events.count("\n")
		s.Do("GET", "/api/v1/namespaces/default", "")
		return events.count("\n") > before
	}
	reloads := func(file, result string) float64 {
		return metricOf(t, s, `quorate_apiserver_file_reloads_total{file="`+file+`",result="`+result+`"}`)
	}
	seats := func(level string) bool {
		return strings.Contains(s.Do("GET", "/metrics", "").Body, `quorate_apiserver_fairness_seats{class="read",level="`+level+`"}`)
	}
	if recorded() || !seats("before") {
		t.Fatal("the first versions are not in effect")
	}

	rewrite(t, policyPath, policy("Metadata"))
	rewrite(t, levelsPath, "levels: [{name: afterwards, share: 1}]\n")
	s.Eventually("the policy takes effect", recorded)
	s.Eventually("the levels take effect", func() bool { return seats("afterwards") && !seats("before") })
	if n := reloads("audit-policy", "used"); n != 1 {
		t.Errorf("%v policies counted, want 1", n)
	}

	rewrite(t, policyPath, policy("Everything"))
	rewrite(t, levelsPath, "levels: [{name: nobody, share: 0}]\n")
	for _, file := range []string{"audit-policy", "fairness"} {
		s.Eventually("the bad version of "+file+" is refused", func() bool { return reloads(file, "refused") == 1 })
	}
	if n := log.count("its former version stays in effect"); n != 2 {
		t.Errorf("%d lines about bad versions, want 2", n)
	}
	if !recorded() || !seats("afterwards") {
		t.Error("a bad version took effect")
	}
}
