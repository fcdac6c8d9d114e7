package raftstore_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"quorate/raftstore"
	"quorate/raftstore/testcluster"
)

// candidacies counts the vote requests that a node sends from now on.
func candidacies(t *testing.T, n *testcluster.Node) *atomic.Int64 {
	t.Helper()
	count := new(atomic.Int64)
	observer := raft.NewObserver(nil, false, func(o *raft.Observation) bool {
		if state, is := o.Data.(raft.RaftState); is && state == raft.Candidate {
			count.Add(1)
		}
		return false
	})
	r := n.Store.Raft()
	r.RegisterObserver(observer)
	t.Cleanup(func() { r.DeregisterObserver(observer) })
	return count
}

// A node that was cut off, and requested votes all the time, deposes no leader when it is
// reconnected: the term does not increase.
func TestPreVote(t *testing.T) {
	t.Parallel()
	c := testcluster.New(t, 3, nil)
	c.Ready()
	leader := c.Leader()
	lost := c.Follower(leader)
	term := leader.Store.Term()
	asked := candidacies(t, lost)
	c.Isolate(lost, true)
	testcluster.Eventually(t, "the lost node requests votes", func() bool { return asked.Load() > 0 })
	mustCreate(t, leader.Store, "meanwhile", "x")
	if got := lost.Store.Term(); got != term {
		t.Errorf("vote requests took the lost node from term %d to %d", term, got)
	}
	c.Isolate(lost, false)
	testcluster.Eventually(t, "the lost node follows", func() bool { return lost.Store.Ready() == nil && lost.Store.Applied() == leader.Store.Applied() })
	mustCreate(t, lost.Store, "after", "x")
	for _, n := range c.Nodes {
		if got := n.Store.Term(); got != term || !leader.Store.IsLeader() {
			t.Errorf("%s is in term %d, was in %d; the leader leads: %t", n.Name, got, term, leader.Store.IsLeader())
		}
	}
}

// After the graceful stop of a leader, the next one does not wait for missed heartbeats.
func TestStopTransfersLeadership(t *testing.T) {
	t.Parallel()
	const timeout = 10 * time.Second // the least time until heartbeats are missed
	c := testcluster.New(t, 3, func(cfg *raftstore.Config) { cfg.RaftMultiplier = float64(timeout) / float64(2*time.Second) })
	c.Ready()
	for range 2 {
		leader := c.Leader()
		other := c.Follower(leader)
		stopping := time.Now()
		leader.Stop()
		mustCreate(t, other.Store, "after-"+leader.Name, "x")
		if took := time.Since(stopping); took > timeout/2 { // including the stop
			t.Errorf("no write succeeded for %s", took)
		} else {
			t.Logf("stopped, and a write acknowledged by the next leader, after %s", took)
		}
		leader.Start()
		c.Ready()
	}
}

// slowLog delays each append, as a slow disk does.
type slowLog struct {
	raft.LogStore
	fsync *atomic.Int64 // nanoseconds
}

func (l slowLog) StoreLogs(entries []*raft.Log) error {
	time.Sleep(time.Duration(l.fsync.Load())) // simulates the disk
	return l.LogStore.StoreLogs(entries)
}

// With timeouts longer than a write to the disk, one leader stays elected and serves all writes.
func TestSlowDisks(t *testing.T) {
	t.Parallel()
	const fsync = 300 * time.Millisecond // more than half of the heartbeat timeout that other tests have
	var delay atomic.Int64
	c := testcluster.New(t, 3, func(cfg *raftstore.Config) {
		cfg.RaftMultiplier = 1 // four times as much
		raftstore.WrapLog(cfg, func(inner raft.LogStore) raft.LogStore { return slowLog{inner, &delay} })
	})
	delay.Store(int64(fsync))
	c.Ready()
	leader := c.Leader()
	term := leader.Store.Term()
	for i := range 12 {
		mustCreate(t, c.Nodes[i%3].Store, fmt.Sprintf("o%d", i), "x")
	}
	if !leader.Store.IsLeader() || leader.Store.Term() != term {
		t.Errorf("the leader of term %d leads: %t, in term %d", term, leader.Store.IsLeader(), leader.Store.Term())
	}
}
