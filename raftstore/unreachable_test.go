package raftstore_test

import (
	"errors"
	"testing"
	"time"

	"quorate/raftstore"
	"quorate/raftstore/state"
	"quorate/raftstore/testcluster"
)

// Nodes that are down may retain a state that this node lacks, so its pages are unavailable rather
// than gone.
func TestPageOfUnreachableNodes(t *testing.T) {
	c := testcluster.New(t, 3, nil)
	c.Ready()
	n := c.Nodes[0]
	for _, other := range c.Nodes[1:] {
		other.Kill()
	}
	p := raftstore.Page{Index: 1, Prefix: state.ResourcePrefix(resource)}
	_, err := n.Store.FetchRetained(within(t, 20*time.Second), p)
	if !errors.Is(err, raftstore.ErrUnavailable) || errors.Is(err, raftstore.ErrNotRetained) {
		t.Errorf("one node of three lacks the state, the others are down: %v", err)
	}
}
