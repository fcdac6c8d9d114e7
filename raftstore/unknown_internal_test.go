package raftstore

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"testing"

	"github.com/hashicorp/raft"
	"github.com/prometheus/client_golang/prometheus"

	"quorate/raftstore/fsm"
	"quorate/raftstore/history"
	"quorate/raftstore/snapshot"
	"quorate/raftstore/state"
)

// entryList is a log on disk.
type entryList [][]byte

func (entryList) FirstIndex() (uint64, error) { return 1, nil }

func (l entryList) Read(_ context.Context, after, upTo uint64, _ int, fn func(uint64, []byte) error) (uint64, error) {
	for after < min(upTo, uint64(len(l))) {
		if err := fn(after+1, l[after]); err != nil {
			return after, err
		}
		after++
	}
	return after, nil
}

// createEntries are three creates; the second is of a newer format.
func createEntries(t *testing.T) entryList {
	t.Helper()
	var l entryList
	for _, name := range []string{"a", "b", "c"} {
		data, err := Encode(Create{Key: state.NewKey("configmaps", "", name), Object: &state.Object{Value: []byte("{}"), UID: name}})
		if err != nil {
			t.Fatal(err)
		}
		l = append(l, data)
	}
	l[1] = []byte{8, 2}
	return l
}

func newReplica(t *testing.T, entries Entries) *Replica {
	t.Helper()
	r, err := NewReplica(ReplicaConfig{
		Log: entries, Logger: slog.New(slog.DiscardHandler), Registerer: prometheus.NewRegistry(), Fits: func(uint64) error { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func commandAt(index uint64, data []byte) *raft.Log {
	return &raft.Log{Index: index, Type: raft.LogCommand, Data: data}
}

// TestNothingIsAppliedAfterAnEntryOfANewerBuild, in its batch and later ones, nor is there a
// snapshot, or a way around it.
func TestNothingIsAppliedAfterAnEntryOfANewerBuild(t *testing.T) {
	entries := createEntries(t)
	r := newReplica(t, entries)
	m := r.store.machine
	answers := m.ApplyBatch([]*raft.Log{commandAt(1, entries[0]), commandAt(2, entries[1]), commandAt(3, entries[2])})
	answers = append(answers, m.ApplyBatch([]*raft.Log{{Index: 4, Type: raft.LogConfiguration}})...)
	answers = append(answers, m.ApplyBatch([]*raft.Log{commandAt(5, entries[2])})...)
	if answers[0] != nil {
		t.Errorf("the entry before was answered with %v", answers[0])
	}
	var unknown *fsm.Unknown
	for i, answer := range answers[1:] {
		if err, _ := answer.(error); !errors.As(err, &unknown) || unknown.Index != 2 {
			t.Errorf("entry %d was answered with %v", i+2, answer)
		}
	}
	if root := r.Root(); root.Index() != 1 || root.Len() != 1 || r.store.Applied() != 1 {
		t.Errorf("%d objects, of entry %d; said to be of %d", root.Len(), root.Index(), r.store.Applied())
	}
	if err := <-r.store.life.Failed(); !errors.As(err, &unknown) {
		t.Errorf("the node ends with %v", err)
	}
	if _, err := m.Snapshot(); !errors.As(err, &unknown) {
		t.Errorf("a snapshot: %v", err)
	}
	if err := m.Restore(io.NopCloser(bytes.NewReader(nil))); !errors.As(err, &unknown) {
		t.Errorf("a snapshot of another: %v", err)
	}
}

// TestWatchOverAnEntryOfANewerBuild: a node that was sent the state behind such an entry, or took a
// snapshot of it as another build, serves watches from after it, and tells others that their
// position is too old (semantics D13).
func TestWatchOverAnEntryOfANewerBuild(t *testing.T) {
	entries := createEntries(t)
	r := newReplica(t, entries)
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
	if err := r.Machine().Restore(io.NopCloser(&written)); err != nil {
		t.Fatal(err)
	}
	all := state.ResourcePrefix("configmaps")
	cursor := r.Watch(all, 0)
	if events, err := cursor.Next(t.Context()); err != nil || len(events) != 1 || events[0].Index != 1 {
		t.Fatalf("before the entry: %v, %v", events, err)
	}
	var compacted *history.Compacted
	if _, err := cursor.Next(t.Context()); !errors.As(err, &compacted) || compacted.Oldest != 2 {
		t.Fatalf("over the entry: %v", err)
	}
	if events, err := r.Watch(all, compacted.Oldest).Next(t.Context()); err != nil || len(events) != 1 || events[0].Index != 3 {
		t.Errorf("from after the entry: %v, %v", events, err)
	}
}
