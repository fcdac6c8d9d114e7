package applier_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"quorate/raftstore/fsm"
	"quorate/raftstore/history"
	storelog "quorate/raftstore/log"
	"quorate/raftstore/replay"
	"quorate/raftstore/snapshot"
	"quorate/raftstore/state"
)

// creating returns a node that has applied creates of objects with these names, from index 1 on.
// The function on wraps the entries as the node's log on disk.
func creating(t *testing.T, on func(entryList) replay.Entries, names ...string) *node {
	t.Helper()
	var entries entryList
	var batch []*raft.Log
	for i, name := range names {
		data, err := entryOf(name)
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, data)
		batch = append(batch, commandAt(uint64(i)+1, data))
	}
	n := newNode(t, on(entries))
	for i, answer := range n.applier.ApplyBatch(batch) {
		if answer != nil {
			t.Fatalf("entry %d is answered with %v", i+1, answer)
		}
	}
	return n
}

// snapshotAt returns the content of a snapshot at index that has forgotten the failed entries up to
// floor.
func snapshotAt(t *testing.T, index, floor uint64) io.ReadCloser {
	t.Helper()
	loader, err := state.NewLoader(index, "c", nil, floor)
	if err != nil {
		t.Fatal(err)
	}
	var content bytes.Buffer
	w := snapshot.NewWriter(&content)
	if err := errors.Join(fsm.WriteSnapshot(w, loader.Tree().Publish()), w.Close()); err != nil {
		t.Fatal(err)
	}
	return io.NopCloser(&content)
}

// damagedLog is a log with a damaged entry at index.
type damagedLog struct {
	entryList
	index uint64
}

func (l damagedLog) Read(ctx context.Context, after, upTo uint64, limit int, fn func(uint64, []byte) error) (uint64, error) {
	if after+1 == l.index {
		return after, &storelog.Corrupt{Index: l.index}
	}
	next, err := l.entryList.Read(ctx, after, min(upTo, l.index-1), limit, fn)
	if err == nil && upTo >= l.index {
		err = &storelog.Corrupt{Index: l.index}
	}
	return next, err
}

// A read of the log returns the events up to a damaged entry, and the next read reports the damage.
func TestEventsBeforeDamage(t *testing.T) {
	damaged := func(l entryList) replay.Entries { return damagedLog{l, 3} }
	log := creating(t, damaged, "a", "b", "c", "d").replay
	prefix := state.ResourcePrefix("configmaps")
	events, next, err := log.Events(t.Context(), prefix, 0, 4, 1<<20)
	if len(events) != 2 || next != 2 || err != nil {
		t.Errorf("%d events, position %d, error %v; want 2 events, position 2", len(events), next, err)
	}
	_, next, err = log.Events(t.Context(), prefix, 2, 4, 1<<20)
	compacted, ok := errors.AsType[*history.Compacted](err)
	if next != 2 || !ok || compacted.Oldest != 3 {
		t.Errorf("at the damage: position %d, error %v; want that history begins after 3", next, err)
	}
	events, next, err = log.Events(t.Context(), prefix, 0, 4, 1<<20)
	if _, ok := errors.AsType[*history.Compacted](err); !ok {
		t.Errorf("before the damage: %d events, position %d, error %v", len(events), next, err)
	}
}

// The installation of another node's snapshot drops the states retained for paged lists, because
// they would keep all of the former state in memory.
func TestInstalledSnapshotFreesOlderStates(t *testing.T) {
	n := creating(t, func(l entryList) replay.Entries { return l }, "a", "b")
	kept := n.applier.Root()
	n.retained.Retain(kept, time.Now())
	if n.retained.Get(kept.Index()) == nil {
		t.Fatal("the state is not retained")
	}
	n.applier.Started()
	if err := n.applier.Restore(snapshotAt(t, 20, 0)); err != nil {
		t.Fatal(err)
	}
	if n.retained.Get(kept.Index()) != nil {
		t.Errorf("the state of index %d is retained after a snapshot of index %d was installed", kept.Index(), n.applier.Root().Index())
	}
}

// The log is not replayed where it is unknown which entries failed, although it reaches further
// back.
func TestHistoryBeginsAfterForgottenFailures(t *testing.T) {
	n := newNode(t, entryList(nil))
	if err := n.applier.Restore(snapshotAt(t, 20, 7)); err != nil {
		t.Fatal(err)
	}
	if got := n.replay.Oldest(); got != 7 {
		t.Errorf("the log is replayed after %d, want 7: failures up to there are forgotten", got)
	}
}
