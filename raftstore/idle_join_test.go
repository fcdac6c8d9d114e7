package raftstore_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"quorate/raftstore"
	"quorate/raftstore/history"
	"quorate/raftstore/state"
	"quorate/raftstore/testcluster"
)

// TestJoinerOfAnIdleCluster: a node that joins with a snapshot serves watches from the last change
// on, however many entries without an event there have been since, and so does a node that starts
// with it.
func TestJoinerOfAnIdleCluster(t *testing.T) {
	c := testcluster.New(t, 1, func(cfg *raftstore.Config) { cfg.LogBytes = 1 })
	leader := c.Leader()
	for i := range 500 {
		mustCreate(t, leader.Store, fmt.Sprintf("o%d", i), "x")
	}
	changed := mustCreate(t, leader.Store, "last", "x").Version
	for range 3 {
		if _, err := leader.Store.CompareChecksums(within(t, 10*time.Second)); err != nil {
			t.Fatal(err)
		}
	}
	_, index, err := leader.Store.Snapshot()
	if err != nil || index <= changed {
		t.Fatalf("a snapshot at %d after the last change at %d: %v", index, changed, err)
	}
	joiner := c.Add("n1")
	if err := leader.Store.Raft().AddNonvoter("n1", raft.ServerAddress(joiner.Addr()), 0, 0).Error(); err != nil {
		t.Fatal(err)
	}
	testcluster.Eventually(t, "the joiner has the snapshot", func() bool { return joiner.Store.Applied() >= index })
	if at := view(t, joiner.Store, raftstore.Cached()).At(changed); at == nil {
		t.Error("the joiner does not know that nothing has changed since")
	}
	leader.Stop()
	leader.Start()
	c.Ready()
	var cursors []*history.Cursor
	for _, n := range c.Nodes {
		cursor, err := n.Store.Watch(state.ResourcePrefix(resource), changed)
		if err != nil {
			t.Fatal(err)
		}
		if events, err := cursor.Ready(t.Context()); err != nil || len(events) > 0 {
			t.Errorf("%s: a watch from the last change on: %d events, %v", n.Name, len(events), err)
		}
		cursors = append(cursors, cursor)
	}
	before, err := joiner.Store.Watch(state.ResourcePrefix(resource), changed-1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := before.Next(within(t, 10*time.Second)); !isCompacted(err) {
		t.Errorf("a watch from before the last change, of which the joiner has no event: %v", err)
	}
	after := mustCreate(t, leader.Store, "after", "x")
	for i, cursor := range cursors {
		events, err := cursor.Next(within(t, 10*time.Second))
		if err != nil || len(events) != 1 || events[0].Index != after.Version {
			t.Errorf("%s: %v, %v, want the change at %d", c.Nodes[i].Name, seenOf(events), err, after.Version)
		}
	}
}
