package raftstore_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"quorate/raftstore"
	"quorate/raftstore/fsm"
	"quorate/raftstore/testcluster"
)

// newerEntry is of format 2, and nothing else in it could be read.
func newerEntry() []byte { return []byte{8, 2} }

// wantUnknown checks what a node ended with.
func wantUnknown(t *testing.T, err error) *fsm.Unknown {
	t.Helper()
	var unknown *fsm.Unknown
	if !errors.As(err, &unknown) || unknown.Format != 2 {
		t.Fatalf("ended with %v", err)
	}
	if err.Error() != unknown.Error() || strings.Contains(err.Error(), "\n") {
		t.Errorf("it is not all that the node ends with, or not one line: %q", err)
	}
	return unknown
}

// TestEntryOfANewerBuildEndsTheNode: with one line, which says so, and nothing applied from there
// on, now and at each start.
func TestEntryOfANewerBuildEndsTheNode(t *testing.T) {
	for _, size := range []int{1, 3} {
		t.Run(fmt.Sprintf("of_%d", size), func(t *testing.T) {
			c := testcluster.New(t, size, nil)
			c.Ready()
			leader := c.Leader()
			before := mustCreate(t, leader.Store, "before", "1")
			leader.Store.ProposeUnchecked(newerEntry())
			_, err := leader.Store.Create(within(t, 20*time.Second), raftstore.Create{Key: key("after"), Object: object("after", "1")})
			if err == nil || errors.Is(err, raftstore.ErrUnavailable) {
				t.Errorf("a write behind the entry, which others may apply, is said to have come out as %v", err)
			}
			// What a node had shown stays, and no read that is confirmed passes for the state after
			// what it didn't apply.
			if root := view(t, leader.Store, raftstore.Cached()); root.Get(key("before")) == nil || root.Get(key("after")) != nil {
				t.Error("the state is not that before the entry")
			}
			if root, err := leader.Store.View(within(t, time.Second), raftstore.Quorum()); err == nil {
				t.Errorf("a confirmed read is answered by the state of %d", root.Index())
			}
			if _, _, err := leader.Store.Snapshot(); err == nil {
				t.Error("a snapshot was taken")
			}
			if unknown := wantUnknown(t, leader.Ended()); unknown.Index <= before.Version {
				t.Errorf("the leader ended with the entry %d", unknown.Index)
			}
			for _, n := range c.Running() {
				if err := n.Quit(); err != nil { // or it has not heard that the entry is committed
					wantUnknown(t, err)
				}
			}
			if size == 1 {
				leader.Start()
				wantUnknown(t, leader.Ended())
			}
		})
	}
}
