package raftstore_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"quorate/raftstore"
	"quorate/raftstore/testcluster"
)

// delayHeartbeatTimeouts sets the heartbeat timeout of every running node except the leader to ten
// seconds: long after a node notices that the leader's process has ended, but soon enough to repeat
// an election without a winner within the test.
func delayHeartbeatTimeouts(t *testing.T, c *testcluster.Cluster, leader *testcluster.Node) {
	t.Helper()
	for _, n := range c.Running() {
		if n == leader {
			continue
		}
		if err := n.Store.SetHeartbeatTimeout(10 * time.Second); err != nil {
			t.Fatal(err)
		}
	}
}

// The other nodes elect a leader without waiting for missed heartbeats of a process that has ended,
// and no acknowledged write is lost.
func TestFastFailover(t *testing.T) {
	for _, size := range []int{3, 5} {
		t.Run(strconv.Itoa(size)+" nodes", func(t *testing.T) {
			t.Parallel()
			registry := prometheus.NewRegistry()
			c := testcluster.New(t, size, registered(registry))
			c.Ready()
			leader := c.Leader()
			delayHeartbeatTimeouts(t, c, leader)
			for i := range 50 {
				mustCreate(t, leader.Store, "before-"+strconv.Itoa(i), "x")
			}
			leader.Destroy()
			next := c.Leader(leader)
			mustCreate(t, next.Store, "after", "x")
			if got := view(t, next.Store, raftstore.Quorum()); got.Get(key("before-49")) == nil {
				t.Error("an acknowledged write was lost")
			}
			if fastFailovers(t, registry) == 0 {
				t.Error("no node campaigned")
			}
		})
	}
}

// The host of an unreachable leader does not refuse connections, so the other nodes wait for missed
// heartbeats.
func TestNoFastFailoverOfUnreachableLeader(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	c := testcluster.New(t, 3, registered(registry))
	c.Ready()
	leader := c.Leader()
	c.Isolate(leader, true)
	c.Leader(leader)
	if stood := fastFailovers(t, registry); stood != 0 {
		t.Errorf("campaigned %v times against a leader that may be alive", stood)
	}
}

// A follower's request that waits for a connection to a leader that has become unreachable goes to
// the next leader, long before its context ends.
func TestRequestsFindNextLeaderWithoutConnection(t *testing.T) {
	for name, request := range map[string]func(*testing.T, *raftstore.Store){
		"write": func(t *testing.T, s *raftstore.Store) { mustCreate(t, s, "a", "x") },
		"read":  func(t *testing.T, s *raftstore.Store) { view(t, s, raftstore.Quorum()) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := testcluster.New(t, 3, func(cfg *raftstore.Config) { cfg.LeaderWait = time.Minute })
			c.Ready()
			leader := c.Leader()
			follower := c.Follower(leader)
			c.Isolate(leader, true) // before the follower has connected for such a request
			request(t, follower.Store)
		})
	}
}

// registered registers the metrics of all nodes at one registry.
func registered(registry *prometheus.Registry) func(*raftstore.Config) {
	return func(c *raftstore.Config) {
		c.Registerer = prometheus.WrapRegistererWith(prometheus.Labels{"node": c.Name}, registry)
	}
}

// fastFailovers returns how often all nodes together campaigned because the leader's process had
// ended.
func fastFailovers(t *testing.T, registry *prometheus.Registry) (total float64) {
	t.Helper()
	for _, m := range metricsOf(t, registry, "quorate_raftstore_successions_total") {
		total += m.GetCounter().GetValue()
	}
	return total
}

// metricsOf returns the metrics of all nodes of this name.
func metricsOf(t *testing.T, registry *prometheus.Registry, name string) []*dto.Metric {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() == name {
			return family.GetMetric()
		}
	}
	return nil
}
