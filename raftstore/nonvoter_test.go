package raftstore_test

import (
	"fmt"
	"testing"

	"github.com/hashicorp/raft"
	"github.com/prometheus/client_golang/prometheus"

	"quorate/raftstore"
	"quorate/raftstore/state"
	"quorate/raftstore/testcluster"
)

// withPaceMetrics returns three nodes, and how many appends one of them has paced.
func withPaceMetrics(t *testing.T) (c *testcluster.Cluster, paced func(n *testcluster.Node) float64) {
	registries := map[string]*prometheus.Registry{}
	c = testcluster.New(t, 3, func(cfg *raftstore.Config) {
		registries[cfg.Name] = prometheus.NewRegistry()
		cfg.Registerer, cfg.RaftMultiplier = registries[cfg.Name], 1
	})
	return c, func(n *testcluster.Node) float64 {
		return metric(t, registries[n.Name], "quorate_raftstore_paced_appends_total", "")
	}
}

// addNonvoter adds a non-voter and waits until it is ready.
func addNonvoter(t *testing.T, c *testcluster.Cluster, leader *testcluster.Node) *testcluster.Node {
	t.Helper()
	n := c.Add("n3")
	if err := leader.Store.Raft().AddNonvoter("n3", raft.ServerAddress(n.Addr()), 0, 0).Error(); err != nil {
		t.Fatal(err)
	}
	testcluster.Eventually(t, "the non-voter is ready", func() bool { return n.Store.Ready() == nil })
	return n
}

// The leader paces a non-voter that only follows, and neither one whose clients write or read
// consistently nor a voter.
func TestNonvoterIsPacedUnlessItAsks(t *testing.T) {
	const ops = 60
	c, pacedBy := withPaceMetrics(t)
	leader := c.Leader()
	paced := func() float64 { return pacedBy(leader) }
	for i := range ops {
		mustCreate(t, leader.Store, fmt.Sprint("voters-", i), "x")
	}
	if n := paced(); n != 0 {
		t.Errorf("%v appends to voters were paced", n)
	}
	nonvoter := addNonvoter(t, c, leader)
	during := func(what string, op func(name string)) float64 {
		before := paced()
		for i := range ops {
			op(fmt.Sprint(what, "-", i))
		}
		return paced() - before
	}
	var last *state.Object
	followed := 0
	follow := func() {
		before := paced()
		testcluster.Eventually(t, "appends to a non-voter that asks for nothing are paced", func() bool {
			followed++
			last = mustCreate(t, leader.Store, fmt.Sprint("followed-", followed), "x")
			return paced() > before+ops/4
		})
	}
	follow()
	if n := during("forwarded", func(name string) { mustCreate(t, nonvoter.Store, name, "x") }); n > ops/4 {
		t.Errorf("%v appends were paced during %d writes through the non-voter", n, ops)
	}
	follow()
	if n := during("read", func(name string) {
		mustCreate(t, leader.Store, name, "x")
		view(t, nonvoter.Store, raftstore.Quorum())
	}); n > ops/4 {
		t.Errorf("%v appends were paced during %d quorum reads of the non-voter", n, ops)
	}
	follow()
	testcluster.Eventually(t, "the non-voter has all writes", func() bool { return nonvoter.Store.Applied() >= last.Version })
}

// A paced non-voter has every write after the leader was killed, the next leader paces it too, and
// it is paced no longer as soon as it is a voter, without which a write has no quorum.
func TestPacedNonvoterOutlivesItsLeader(t *testing.T) {
	const ops = 60
	c, paced := withPaceMetrics(t)
	first := c.Leader()
	nonvoter := addNonvoter(t, c, first)
	written := 0
	write := func(leader *testcluster.Node) (last *state.Object) {
		written++
		return mustCreate(t, leader.Store, fmt.Sprint("m-", written), "x")
	}
	pacedWrites := func(leader *testcluster.Node) (last *state.Object) {
		before := paced(leader)
		testcluster.Eventually(t, "appends to the non-voter are paced", func() bool {
			last = write(leader)
			return paced(leader) > before+ops/4
		})
		return last
	}
	pacedWrites(first)
	first.Kill()
	second := c.Leader()
	last := pacedWrites(second)
	testcluster.Eventually(t, "the non-voter has all writes", func() bool { return nonvoter.Store.Applied() >= last.Version })
	if got := view(t, nonvoter.Store, raftstore.Cached()).Len(); got != written {
		t.Errorf("the non-voter has %d of %d objects", got, written)
	}

	if err := second.Store.Raft().AddVoter("n3", raft.ServerAddress(nonvoter.Addr()), 0, 0).Error(); err != nil {
		t.Fatal(err)
	}
	before := paced(second)
	for range ops { // three of four voters run, and all of them are required
		write(second)
	}
	if n := paced(second) - before; n > 1 { // one may have been on its way
		t.Errorf("%v appends to a voter were paced", n)
	}
}
