package raftstore_test

import (
	"net"
	"slices"
	"testing"
	"time"

	"quorate/raftstore"
	"quorate/raftstore/testcluster"
)

// The connections of a removed node are closed although it is still running, and those of members
// stay open.
func TestConnectionsOfARemovedNodeAreClosed(t *testing.T) {
	t.Parallel()
	c := testcluster.New(t, 3, slowElections)
	c.Ready()
	leader := c.Leader()
	removed := c.Follower(leader)
	var member *testcluster.Node
	for _, n := range c.Nodes {
		if n != leader && n != removed {
			member = n
		}
		if _, err := n.Store.View(within(t, time.Minute), raftstore.Quorum()); err != nil { // over gRPC
			t.Fatal(err)
		}
	}
	ofRemoved, ofMember := c.Open(leader, removed), c.Open(leader, member)
	if len(ofRemoved) < 4 || len(ofMember) < 4 { // two protocols, two sides of each connection
		t.Fatalf("%d and %d connections with the leader", len(ofRemoved), len(ofMember))
	}
	if err := leader.Store.RemoveServer(removed.Name); err != nil {
		t.Fatal(err)
	}
	asked := time.Now()
	testcluster.Eventually(t, "the connections of the removed node are closed", func() bool {
		open := c.Open(leader, removed)
		return !slices.ContainsFunc(ofRemoved, func(c net.Conn) bool { return slices.Contains(open, c) })
	})
	t.Logf("after %s", time.Since(asked))
	if open := c.Open(leader, member); !slices.ContainsFunc(ofMember, func(c net.Conn) bool { return slices.Contains(open, c) }) {
		t.Error("the connections of a member were closed as well")
	}
}
