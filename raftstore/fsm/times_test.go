package fsm_test

import (
	"bytes"
	"errors"
	"maps"
	"testing"
	"time"

	"quorate/proto/logpb"
	"quorate/raftstore/fsm"
	"quorate/raftstore/state"
)

func TestSnapshot_keeps_when_entries_were_appended(t *testing.T) {
	t.Parallel()
	tree := state.NewTree()
	for i := range uint64(100) {
		tree.Advance(i + 1)
		tree.Stamp(time.Unix(1_700_000_000+int64(i)*3, 0))
	}
	root := tree.Publish()
	again, err := fsm.ReadSnapshot(bytes.NewReader(snapshotOf(t, root)))
	if err != nil {
		t.Fatal(err)
	}
	got, want := maps.Collect(again.Publish().Times().All()), maps.Collect(root.Times().All())
	if len(want) != 50 || !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestReadSnapshot_refuses_invalid_times(t *testing.T) {
	t.Parallel()
	for name, header := range map[string]*logpb.SnapshotHeader{
		"not as many":     {Format: 1, Index: 5, TimeIndex: []uint64{1, 1}, TimeSeconds: []uint64{100}},
		"standing still":  {Format: 1, Index: 5, TimeIndex: []uint64{1, 1}, TimeSeconds: []uint64{100, 0}},
		"of no entry yet": {Format: 1, Index: 5, TimeIndex: []uint64{6}, TimeSeconds: []uint64{100}},
	} {
		if _, err := fsm.ReadSnapshot(bytes.NewReader(records(t, header))); !errors.Is(err, fsm.ErrSnapshotCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
