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

// Attackers at the members' own address keep as many idle connections to all peer addresses as the
// nodes accept. A node that restarts during the attack rejoins, and serves a read that the leader
// confirms.
func TestRestartAmongIdleConnections(t *testing.T) {
	const bound = 30 * time.Second // two cores run all the strangers and all nodes
	for _, each := range []int{300, 1000} {
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
