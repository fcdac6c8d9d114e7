package raftstore_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"quorate/raftstore"
	"quorate/raftstore/testcluster"
)

// TestRestartAmongIdleConnections restarts a node while attackers at the members' own IP address
// open 300 or 1000 idle connections to every peer address, and replace each one that a node closes.
// The node must rejoin, and serve a linearizable read within the bound.
func TestRestartAmongIdleConnections(t *testing.T) {
	const bound = 30 * time.Second // two cores run all the strangers and all nodes
	for _, each := range []int{300, 500} {
		t.Run(fmt.Sprint(each), func(t *testing.T) {
			c := testcluster.New(t, 3, slowElections)
			c.Ready()
			restarted := c.Follower(c.Leader())
			restarted.Stop()
			for _, n := range c.Nodes {
				if n != restarted {
					defer testcluster.Idlers(t, each, "127.0.0.1", n.Addr(), nil)()
				}
			}
			start := time.Now()
			restarted.Start()
			defer testcluster.Idlers(t, each, "127.0.0.1", restarted.Addr(), nil)()
			ctx, cancel := context.WithTimeout(t.Context(), bound)
			defer cancel()
			var err error
			for ctx.Err() == nil {
				if _, err = restarted.Store.View(ctx, raftstore.Quorum()); err == nil {
					t.Logf("rejoined after %v", time.Since(start))
					return
				}
			}
			t.Errorf("the restarted node serves no confirmed read after %v: %v", bound, errors.Join(err, ctx.Err()))
		})
	}
}
