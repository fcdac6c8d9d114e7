package raftstore_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"quorate/raftstore"
	"quorate/raftstore/log"
	"quorate/raftstore/testcluster"
)

// The library writes the first term and then the first configuration. A crash in between must not
// prevent another bootstrap.
func TestInterruptedBootstrapCanBeRepeated(t *testing.T) {
	c := testcluster.New(t, 1, func(cfg *raftstore.Config) { storeFirstTerm(t, cfg.DataDir) }) // bootstraps
	c.Ready()
	has, err := c.Nodes[0].Store.HasState()
	if err != nil || !has {
		t.Errorf("has state: %v, %v", has, err)
	}
}

// Start and bootstrap may both call SelfElect on a new node. A second election would depose a
// leader that already accepts writes.
func TestOnlyVoterCampaignsOnce(t *testing.T) {
	c := testcluster.New(t, 1, nil)
	store := c.Nodes[0].Store
	for range 8 {
		store.SelfElect()
	}
	c.Ready()
	first := store.Raft().CurrentTerm()
	for i := range 20 {
		mustCreate(t, store, strconv.Itoa(i), "")
	}
	if term := store.Raft().CurrentTerm(); term != first || term != bootstrapTerm+1 {
		t.Errorf("elected in term %d, now in %d, bootstrapped in %d", first, term, bootstrapTerm)
	}
}

// The first nodes that are bootstrapped may elect a leader, whose entries reach another node before
// that one is bootstrapped.
func TestBootstrapOfANodeWithState(t *testing.T) {
	t.Parallel()
	c := testcluster.New(t, 3, nil)
	c.Ready()
	for _, n := range c.Nodes {
		before := n.Store.Servers()
		if err := n.Store.Bootstrap(before); err != nil {
			t.Errorf("%s: %v", n.Name, err)
		}
		if after := n.Store.Servers(); !slices.Equal(after, before) {
			t.Errorf("%s: the members were %v and are %v", n.Name, before, after)
		}
	}
}

// bootstrapTerm is the term of the first configuration.
const bootstrapTerm = 1

// storeFirstTerm creates a log that has only the first term.
func storeFirstTerm(t *testing.T, dataDir string) {
	t.Helper()
	dir := filepath.Join(dataDir, raftstore.RaftDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := log.Open(log.Config{Dir: filepath.Join(dir, raftstore.LogDir), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.SetUint64([]byte(log.CurrentTerm), 1); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}
