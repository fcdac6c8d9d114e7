package bootstrap_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/hashicorp/raft"

	"quorate/cluster/bootstrap"
)

// fed is a node that a leader sends entries to though it was never added.
type fed struct{}

func (fed) HasState() (bool, error)       { return true, nil }
func (fed) Bootstrap([]raft.Server) error { return errors.New("it has state") }

func TestNodeWithEntriesThatWasNeverAddedSettlesOnTheClusterItSees(t *testing.T) {
	dir := t.TempDir()
	record, err := bootstrap.Open(dir, "5", fed{}.HasState)
	if err != nil {
		t.Fatal(err)
	}
	ask := func(context.Context, bootstrap.Server, bootstrap.Attempt) (bootstrap.Response, error) {
		return bootstrap.Response{}, errors.New("nobody is to be asked")
	}
	bootstrapper := bootstrap.New(bootstrap.Config{Record: record, Store: fed{}, Ask: ask, Logger: slog.New(slog.DiscardHandler)})
	member := empty("1", 3)
	if waiting, err := bootstrapper.Step(t.Context(), empty("5", 3), []bootstrap.Node{member}); err != nil || record.Joining() != "" {
		t.Errorf("with no cluster in sight it waits for %q and joins %q: %v", waiting, record.Joining(), err)
	}
	member.Member, member.Cluster = true, "A"
	waiting, err := bootstrapper.Step(t.Context(), empty("5", 3), []bootstrap.Node{member})
	if err != nil || record.Joining() != "A" || !strings.Contains(waiting, "being added to cluster A") {
		t.Errorf("it waits for %q and joins %q: %v", waiting, record.Joining(), err)
	}
}
