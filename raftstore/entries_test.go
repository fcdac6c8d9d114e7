package raftstore_test

import (
	"errors"
	"testing"
	"time"

	"quorate/raftstore"
	"quorate/raftstore/entries"
	"quorate/raftstore/log"
	"quorate/raftstore/testcluster"
)

// TestEntries: every node shows the same entries, and of each change the object before and after.
func TestEntries(t *testing.T) {
	c := testcluster.New(t, 3, nil)
	c.Ready()
	store := c.Leader().Store
	created := mustCreate(t, store, "a", "1")
	updated := mustUpdate(t, store, created, "2")
	final, err := store.Delete(within(t, 20*time.Second), raftstore.Delete{Key: key("a"), Previous: updated})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range c.Nodes {
		view(t, n.Store, raftstore.AtLeast(final.Version))
		checkChange(t, n.Store, created.Version, entries.Create, "", string(created.Value))
		checkChange(t, n.Store, updated.Version, entries.Update, string(created.Value), string(updated.Value))
		checkChange(t, n.Store, final.Version, entries.Delete, string(updated.Value), "")
		page, err := n.Store.Entries(final.Version+1, 3)
		if err != nil || len(page) != 3 || page[0].Index != final.Version || page[2].Index != final.Version-2 {
			t.Errorf("%s: the page before entry %d is %+v (%v)", n.Name, final.Version+1, page, err)
		}
		all, err := n.Store.Entries(0, 1000)
		if err != nil || len(all) == 0 || all[len(all)-1].Index != 1 || all[len(all)-1].Operation != entries.Configuration {
			t.Errorf("%s: the whole log is %+v (%v)", n.Name, all, err)
		}
		if none, err := n.Store.Entries(1, 10); err != nil || len(none) != 0 {
			t.Errorf("%s: before the first entry there are %+v (%v)", n.Name, none, err)
		}
		if _, err := n.Store.Change(final.Version + 1000); !errors.Is(err, entries.ErrNoEntry) {
			t.Errorf("%s: an entry of the future: %v", n.Name, err)
		}
	}
}

func checkChange(t *testing.T, store *raftstore.Store, index uint64, operation entries.Operation, before, after string) {
	t.Helper()
	c, err := store.Change(index)
	if err != nil {
		t.Errorf("entry %d: %v", index, err)
		return
	}
	if c.Operation != operation || c.Key != key("a") || c.Stage != entries.Applied || c.Time.IsZero() || c.Term == 0 {
		t.Errorf("entry %d: %+v", index, c.Entry)
	}
	if string(c.Before) != before || string(c.After) != after || c.BeforeUnknown {
		t.Errorf("entry %d changes %s to %s, want %s to %s", index, c.Before, c.After, before, after)
	}
}

// TestEntryOfTrimmedLog: the log no longer has what a snapshot trimmed, and says where it begins.
func TestEntryOfTrimmedLog(t *testing.T) {
	c := testcluster.New(t, 1, func(cfg *raftstore.Config) { cfg.LogBytes = 1 })
	store := c.Leader().Store
	created := mustCreate(t, store, "a", "1")
	for store.Positions().First <= created.Version {
		updated := mustUpdate(t, store, view(t, store, raftstore.Quorum()).Get(key("a")), "2")
		if _, _, err := store.Snapshot(); err != nil {
			t.Fatal(err)
		}
		if updated.Version > created.Version+1000 {
			t.Fatalf("the log is not trimmed: %+v", store.Positions())
		}
	}
	_, err := store.Change(created.Version)
	if trimmed, ok := errors.AsType[*log.Truncated](err); !ok || trimmed.First != store.Positions().First {
		t.Errorf("a trimmed entry: %v, want the log's first, %d", err, store.Positions().First)
	}
	p := store.Positions()
	if p.Snapshot == 0 || p.Committed < p.Snapshot || p.Last < p.Committed || p.Term == 0 {
		t.Errorf("positions %+v", p)
	}
	snapshots, err := store.Snapshots()
	if err != nil || len(snapshots) == 0 || snapshots[0].Index != p.Snapshot || snapshots[0].Bytes == 0 || time.Since(snapshots[0].Time) > time.Hour {
		t.Errorf("snapshots %+v (%v)", snapshots, err)
	}
}
