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

// newerEntry returns an entry of format 2 with no field that this build can read.
func newerEntry() []byte { return []byte{8, 2} }

// wantUnknown checks that a node ended with an *fsm.Unknown and nothing else.
func wantUnknown(t *testing.T, err error) *fsm.Unknown {
	t.Helper()
	var unknown *fsm.Unknown
	if !errors.As(err, &unknown) || unknown.Format != 2 {
		t.Fatalf("ended with %v", err)
	}
	if err.Error() != unknown.Error() || strings.Contains(err.Error(), "\n") {
		t.Errorf("the error has other causes, or more than one line: %q", err)
	}
	return unknown
}

// The node ends with a one-line error and applies no later entry, also after each restart.
func TestUnknownEntryEndsNode(t *testing.T) {
	for _, size := range []int{1, 3} {
		t.Run(fmt.Sprintf("of_%d", size), func(t *testing.T) {
			c := testcluster.New(t, size, nil)
			c.Ready()
			leader := c.Leader()
			before := mustCreate(t, leader.Store, "before", "1")
			leader.Store.ProposeUnchecked(newerEntry())
			_, err := leader.Store.Create(within(t, 20*time.Second), raftstore.Create{Key: key("after"), Object: object("after", "1")})
			if err == nil || errors.Is(err, raftstore.ErrUnavailable) {
				t.Errorf("the outcome of a write after the entry, which other nodes may apply, is %v", err)
			}
			// The node still serves its last state, and no confirmed read returns it as the state
			// after the unknown entry.
			if root := view(t, leader.Store, raftstore.Cached()); root.Get(key("before")) == nil || root.Get(key("after")) != nil {
				t.Error("the state is not that before the entry")
			}
			if root, err := leader.Store.View(within(t, time.Second), raftstore.Quorum()); err == nil {
				t.Errorf("a confirmed read returned the state at %d", root.Index())
			}
			if _, _, err := leader.Store.Snapshot(); err == nil {
				t.Error("a snapshot was taken")
			}
			if unknown := wantUnknown(t, leader.Ended()); unknown.Index <= before.Version {
				t.Errorf("the leader ended with the entry %d", unknown.Index)
			}
			for _, n := range c.Running() {
				if err := n.Quit(); err != nil { // the node may not know that the entry is committed
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
