package raftstore_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"quorate/raftstore"
	"quorate/raftstore/testcluster"
)

// patientFollowers makes all but the leader miss heartbeats late: long after the others have seen
// that a process has ended, and soon enough to end an election without a winner.
func patientFollowers(t *testing.T, c *testcluster.Cluster, leader *testcluster.Node) {
	t.Helper()
	for _, n := range c.Running() {
		if n == leader {
			continue
		}
		if err := n.Store.AwaitHeartbeats(10 * time.Second); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLeaderThatEndsIsReplacedAtOnce: nobody waits for heartbeats of a process that has ended, and
// nothing acknowledged is lost.
func TestLeaderThatEndsIsReplacedAtOnce(t *testing.T) {
	for _, size := range []int{3, 5} {
		t.Run(strconv.Itoa(size)+" nodes", func(t *testing.T) {
			t.Parallel()
			registry := prometheus.NewRegistry()
			c := testcluster.New(t, size, registered(registry))
			c.Ready()
			leader := c.Leader()
			patientFollowers(t, c, leader)
			for i := range 50 {
				mustCreate(t, leader.Store, "before-"+strconv.Itoa(i), "x")
			}
			leader.Destroy()
			next := c.Leader(leader)
			mustCreate(t, next.Store, "after", "x")
			if got := view(t, next.Store, raftstore.Quorum()); got.Get(key("before-49")) == nil {
				t.Error("an acknowledged write is lost")
			}
			if successions(t, registry) == 0 {
				t.Error("nobody stood for election")
			}
		})
	}
}

// TestLeaderThatIsCutOffIsNotReplacedAtOnce: its host does not say that it has ended, so only
// missing heartbeats tell.
func TestLeaderThatIsCutOffIsNotReplacedAtOnce(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	c := testcluster.New(t, 3, registered(registry))
	c.Ready()
	leader := c.Leader()
	c.Isolate(leader, true)
	c.Leader(leader)
	if stood := successions(t, registry); stood != 0 {
		t.Errorf("they stood %v times for a leader that may live", stood)
	}
}

// registered gives each node metrics in one registry.
func registered(registry *prometheus.Registry) func(*raftstore.Config) {
	return func(c *raftstore.Config) {
		c.Registerer = prometheus.WrapRegistererWith(prometheus.Labels{"node": c.Name}, registry)
	}
}

// successions is how often all nodes together stood for election because the leader's process had
// ended.
func successions(t *testing.T, registry *prometheus.Registry) (total float64) {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() == "quorate_raftstore_successions_total" {
			for _, m := range family.GetMetric() {
				total += m.GetCounter().GetValue()
			}
		}
	}
	return total
}
