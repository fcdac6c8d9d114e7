package applier_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/hashicorp/raft"

	"quorate/raftstore/fsm"
	"quorate/raftstore/history"
	"quorate/raftstore/snapshot"
	"quorate/raftstore/state"
)

// createEntries returns three creates, the second of a newer format.
func createEntries(t *testing.T) entryList {
	t.Helper()
	var l entryList
	for _, name := range []string{"a", "b", "c"} {
		data, err := entryOf(name)
		if err != nil {
			t.Fatal(err)
		}
		l = append(l, data)
	}
	l[1] = []byte{8, 2}
	return l
}

// The Applier applies no entry after an unknown one, in the same batch or later, and takes and
// restores no snapshot.
func TestNoEntryIsAppliedAfterUnknownEntry(t *testing.T) {
	entries := createEntries(t)
	n := newNode(t, entries)
	a := n.applier
	answers := a.ApplyBatch([]*raft.Log{commandAt(1, entries[0]), commandAt(2, entries[1]), commandAt(3, entries[2])})
	answers = append(answers, a.ApplyBatch([]*raft.Log{{Index: 4, Type: raft.LogConfiguration}})...)
	answers = append(answers, a.ApplyBatch([]*raft.Log{commandAt(5, entries[2])})...)
	if answers[0] != nil {
		t.Errorf("the entry before was answered with %v", answers[0])
	}
	var unknown *fsm.Unknown
	for i, answer := range answers[1:] {
		if err, _ := answer.(error); !errors.As(err, &unknown) || unknown.Index != 2 {
			t.Errorf("entry %d was answered with %v", i+2, answer)
		}
	}
	if root := a.Root(); root.Index() != 1 || root.Len() != 1 || n.applied.Index() != 1 {
		t.Errorf("%d objects at entry %d; the applied index is %d", root.Len(), root.Index(), n.applied.Index())
	}
	if err := <-n.life.Failed(); !errors.As(err, &unknown) {
		t.Errorf("the node ends with %v", err)
	}
	if _, err := a.Snapshot(); !errors.As(err, &unknown) {
		t.Errorf("a snapshot: %v", err)
	}
	if err := a.Restore(io.NopCloser(bytes.NewReader(nil))); !errors.As(err, &unknown) {
		t.Errorf("restore of another node's snapshot: %v", err)
	}
}

// TestWatchAcrossUnknownEntry restores a node from a snapshot that another build took after an
// entry that the node does not know. A watch from before that entry gets the events before it and
// then *history.Compacted (D13: a watch from a version older than history gets 410). A watch from
// after it works.
func TestWatchAcrossUnknownEntry(t *testing.T) {
	entries := createEntries(t)
	n := newNode(t, entries)
	tree := state.NewTree()
	for _, index := range []uint64{1, 3} {
		if _, _, err := fsm.Apply(tree, index, entries[index-1]); err != nil {
			t.Fatal(err)
		}
	}
	var written bytes.Buffer
	w := snapshot.NewWriter(&written)
	if err := errors.Join(fsm.WriteSnapshot(w, tree.Publish()), w.Close()); err != nil {
		t.Fatal(err)
	}
	if err := n.applier.Restore(io.NopCloser(&written)); err != nil {
		t.Fatal(err)
	}
	all := state.ResourcePrefix("configmaps")
	cursor := n.hub.Watch(all, 0)
	if events, err := cursor.Next(t.Context()); err != nil || len(events) != 1 || events[0].Index != 1 {
		t.Fatalf("before the entry: %v, %v", events, err)
	}
	var compacted *history.Compacted
	if _, err := cursor.Next(t.Context()); !errors.As(err, &compacted) || compacted.Oldest != 2 {
		t.Fatalf("over the entry: %v", err)
	}
	if events, err := n.hub.Watch(all, compacted.Oldest).Next(t.Context()); err != nil || len(events) != 1 || events[0].Index != 3 {
		t.Errorf("from after the entry: %v, %v", events, err)
	}
}
