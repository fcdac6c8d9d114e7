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

// The leader paces a non-voter that only follows, and neither one whose clients write or read
// consistently nor a voter.
func TestNonvoterIsPacedUnlessItAsks(t *testing.T) {
	const ops = 60
	registries := map[string]*prometheus.Registry{}
	c := testcluster.New(t, 3, func(cfg *raftstore.Config) {
		registries[cfg.Name] = prometheus.NewRegistry()
		cfg.Registerer, cfg.RaftMultiplier = registries[cfg.Name], 1
	})
	leader := c.Leader()
	paced := func() float64 {
		return metric(t, registries[leader.Name], "quorate_raftstore_paced_appends_total", "")
	}
	for i := range ops {
		mustCreate(t, leader.Store, fmt.Sprint("voters-", i), "x")
	}
	if n := paced(); n != 0 {
		t.Errorf("%v appends to voters were paced", n)
	}
	nonvoter := c.Add("n3")
	if err := leader.Store.Raft().AddNonvoter("n3", raft.ServerAddress(nonvoter.Addr()), 0, 0).Error(); err != nil {
		t.Fatal(err)
	}
	testcluster.Eventually(t, "the non-voter is ready", func() bool { return nonvoter.Store.Ready() == nil })
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
