package nodes_test

import (
	"strings"
	"testing"

	"quorate/chaos/capability"
	"quorate/chaos/client"
	"quorate/chaos/network"
	"quorate/chaos/nodes"
)

// TestFleetOnANetwork runs all operations of a fleet, one after the other, on one
// cluster on a virtual network.
func TestFleetOnANetwork(t *testing.T) {
	if testing.Short() {
		t.Skip("starts several servers")
	}
	capability.Require(t, network.Available())
	f := prepare(t, nodes.ProcessesConfig{Count: 3, Network: true, Seed: 1})
	f.startAll()
	f.cutLeader("both ways", func(leader, other string) []nodes.Link {
		return []nodes.Link{{From: leader, To: other}, {From: other, To: leader}}
	})
	f.cutLeader("one way", func(leader, other string) []nodes.Link { return []nodes.Link{{From: leader, To: other}} })
	f.cutClients()
	f.pauseLeader()
	f.restartInOrder()
	f.growAndShrink()
	f.wipe()
	if endings := f.Endings(); len(endings) > 0 {
		t.Errorf("nodes ended by themselves: %v", endings)
	}
}

// cutLeader cuts links between the leader and all others until another node leads.
func (f *fleet) cutLeader(how string, links func(leader, other string) []nodes.Link) {
	f.t.Helper()
	leader := f.member("n1", "a leader", leads)
	rules := map[nodes.Link]nodes.Rule{}
	for _, other := range f.others(leader) {
		for _, link := range links(leader, other) {
			rules[link] = nodes.Rule{Drop: true}
		}
	}
	f.must(f.Shape(f.ctx, rules))
	next := f.member(f.others(leader)[0], "another leader", func(m client.Member) bool { return leads(m) && m.Name != leader })
	f.t.Logf("%s led, was cut off %s, and %s leads", leader, how, next)
	f.must(f.Shape(f.ctx, nil))
	f.awaitReady("n1", "n2", "n3")
}

// cutClients cuts clients off from a node that its administrator can still reach.
func (f *fleet) cutClients() {
	f.t.Helper()
	f.must(f.Shape(f.ctx, map[nodes.Link]nodes.Rule{{From: nodes.Clients, To: "n2"}: {Drop: true}}))
	// The command fails while there is no leader, as after the cuts before this one.
	f.await("members on n2 lists n3", func() bool {
		out, err := f.Operate(f.ctx, "n2", "members")
		return err == nil && strings.Contains(out, "n3")
	})
	f.must(f.Shape(f.ctx, nil))
	if out, err := f.Operate(f.ctx, "n2", "remove", "nobody"); err == nil {
		f.t.Errorf("nobody was removed: %s", out)
	}
}

func (f *fleet) pauseLeader() {
	f.t.Helper()
	leader := f.member("n1", "a leader", leads)
	f.must(f.Pause(f.ctx, leader))
	f.member(f.others(leader)[0], "another leader", func(m client.Member) bool { return leads(m) && m.Name != leader })
	f.must(f.Resume(f.ctx, leader))
	f.awaitReady(leader)
	f.must(f.Pause(f.ctx, leader))
	f.must(f.Kill(f.ctx, leader)) // also kills a paused node
	f.must(f.Start(f.ctx, leader))
	f.awaitReady(leader)
}

func (f *fleet) restartInOrder() {
	f.t.Helper()
	f.must(f.Stop(f.ctx, "n1"))
	if running, err := f.Running(f.ctx, "n1"); err != nil || running {
		f.t.Errorf("n1 runs: %v, %v", running, err)
	}
	f.must(f.Start(f.ctx, "n1"))
	if err := f.Start(f.ctx, "n1"); err == nil {
		f.t.Error("n1 was started twice")
	}
	f.awaitReady("n1")
}

func (f *fleet) growAndShrink() {
	f.t.Helper()
	reader, err := f.Add(f.ctx, false)
	f.must(err)
	if len(f.Nodes()) != 4 || f.Nodes()[3] != reader || reader.Name != "n4" {
		f.t.Errorf("the fleet is %v with %v", f.Nodes(), reader)
	}
	f.awaitReady(reader.Name)
	f.member("n1", "a reader n4", func(m client.Member) bool { return m.Name == reader.Name && m.Role == "nonvoter" && m.IsAlive() })
	_, err = f.Operate(f.ctx, reader.Name, "leave")
	f.must(err)
	f.must(f.Forget(f.ctx, reader.Name))
	if len(f.Nodes()) != 3 {
		f.t.Errorf("the fleet is still %v", f.Nodes())
	}
	if err := f.Start(f.ctx, reader.Name); err == nil {
		f.t.Errorf("%s was started, and is no part of the fleet", reader.Name)
	}
}

// wipe wipes a node and makes it join again.
func (f *fleet) wipe() {
	f.t.Helper()
	if err := f.Wipe(f.ctx, "n3"); err == nil {
		f.t.Fatal("a node was wiped that runs")
	}
	f.must(f.Stop(f.ctx, "n3"))
	for _, other := range []string{"n1", "n2"} { // either may be asked whether the name is free
		f.member(other, "that n3 is gone", func(m client.Member) bool { return m.Name == "n3" && m.IsDead() })
	}
	_, err := f.Operate(f.ctx, "n1", "remove", "n3")
	f.must(err)
	f.must(f.Wipe(f.ctx, "n3"))
	f.must(f.Start(f.ctx, "n3"))
	f.awaitReady("n3")
}
