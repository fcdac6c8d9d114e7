package cluster_test

import (
	"fmt"
	"slices"
	"testing"

	"quorate/cluster/keys"
)

// leaderOf waits until all nodes name the same leader, and returns it.
func leaderOf(t *testing.T, nodes ...*node) *node {
	t.Helper()
	var leader *node
	eventually(t, "one leader", func() bool {
		name, ok := nodes[0].store.Leader()
		leader = nil
		for _, n := range nodes {
			other, known := n.store.Leader()
			if !ok || !known || other != name {
				return false
			}
			if n.name == name {
				leader = n
			}
		}
		return leader != nil
	})
	return leader
}

// trio starts n1, n2 and n3 and waits until they are one cluster.
func trio(t *testing.T, key *keys.Key, change func(*setup)) []*node {
	t.Helper()
	hosts := []string{newHost(), newHost(), newHost()}
	var nodes []*node
	for i, host := range hosts {
		s := setup{name: fmt.Sprintf("n%d", i+1), key: key, host: host, join: hosts, expect: 3}
		if change != nil {
			change(&s)
		}
		nodes = append(nodes, start(t, s))
	}
	for _, n := range nodes {
		eventuallyMembers(t, n, "n1:voter n2:voter n3:voter")
	}
	leaderOf(t, nodes...)
	return nodes
}

func oneCluster(t *testing.T, nodes ...*node) {
	t.Helper()
	eventually(t, "a cluster id on every node", func() bool {
		for _, n := range nodes {
			if n.store.ClusterID() == "" {
				return false
			}
		}
		return true
	})
	for _, n := range nodes {
		if got, want := n.store.ClusterID(), nodes[0].store.ClusterID(); got != want {
			t.Errorf("%s is in cluster %s, %s in %s", n.name, got, nodes[0].name, want)
		}
	}
}

func TestBootstrap(t *testing.T) {
	t.Run("a node without configuration is a cluster at once", func(t *testing.T) {
		n := start(t, setup{name: "n1", key: keys.Generate(), expect: 1})
		eventuallyMembers(t, n, "n1:voter")
		oneCluster(t, n)
		id := n.store.ClusterID()
		n = n.again(t, nil)
		oneCluster(t, n)
		if got := n.store.ClusterID(); got != id {
			t.Errorf("after a restart it is in cluster %s, was in %s", got, id)
		}
	})
	for _, order := range [][]int{{0, 1, 2}, {2, 0, 1}, {1, 2, 0}} {
		t.Run(fmt.Sprintf("three empty nodes started in order %v are one cluster", order), func(t *testing.T) {
			t.Parallel()
			key := keys.Generate()
			hosts := []string{newHost(), newHost(), newHost()}
			nodes := make([]*node, 3)
			for i, which := range order {
				// Each names one other only, so that they have to find the third by gossip.
				join := []string{hosts[(which+1)%3]}
				nodes[which] = start(t, setup{name: fmt.Sprintf("n%d", which+1), key: key, host: hosts[which], join: join, expect: 3})
				if i == 1 {
					eventually(t, "two to wait for the third", func() bool { return nodes[which].logs.count("2 of 3 nodes are here") > 0 })
				}
			}
			oneCluster(t, nodes...)
			for _, n := range nodes {
				eventuallyMembers(t, n, "n1:voter n2:voter n3:voter")
			}
		})
	}
	t.Run("a node that is to join never starts a cluster", func(t *testing.T) {
		t.Parallel()
		n := start(t, setup{name: "n1", key: keys.Generate(), join: []string{newHost()}, expect: 1})
		eventually(t, "it to say what it waits for", func() bool { return n.logs.count("not in a cluster yet", "a cluster to join") > 0 })
		if has, err := n.store.HasState(); has || err != nil {
			t.Errorf("it has state %v, %v", has, err)
		}
	})
}

func TestJoin(t *testing.T) {
	t.Run("an extra node becomes a non-voter, then a voter", func(t *testing.T) {
		t.Parallel()
		key := keys.Generate()
		nodes := trio(t, key, nil)
		n4 := start(t, setup{name: "n4", key: key, join: []string{nodes[0].host}, expect: 3})
		eventually(t, "n4 to be added", func() bool { // by whoever led then
			return slices.ContainsFunc(nodes, func(n *node) bool { return n.logs.count("change=add", "member=n4") > 0 })
		})
		for _, n := range append(nodes, n4) {
			eventuallyMembers(t, n, "n1:voter n2:voter n3:voter n4:voter")
		}
		oneCluster(t, append(nodes, n4)...)
	})
	t.Run("a replica stays a non-voter", func(t *testing.T) {
		t.Parallel()
		key := keys.Generate()
		n1 := start(t, setup{name: "n1", key: key, expect: 1})
		n2 := start(t, setup{name: "n2", key: key, join: []string{n1.host}, expect: 1, replica: true})
		n3 := start(t, setup{name: "n3", key: key, join: []string{n1.host}, expect: 1})
		for _, n := range []*node{n1, n2, n3} {
			eventuallyMembers(t, n, "n1:voter n2:nonvoter n3:voter")
		}
	})
	t.Run("a member that returns at another address keeps its identity", func(t *testing.T) {
		t.Parallel()
		nodes := trio(t, keys.Generate(), nil)
		moved := nodes[1].again(t, func(s *setup) { s.host = newHost() })
		nodes[1] = moved
		for _, n := range nodes {
			eventually(t, "the new address in "+n.name+"'s configuration", func() bool {
				for _, s := range n.store.Servers() {
					if string(s.ID) == "n2" && string(s.Address)[:len(moved.host)] == moved.host {
						return len(n.store.Servers()) == 3
					}
				}
				return false
			})
			eventuallyMembers(t, n, "n1:voter n2:voter n3:voter")
		}
	})
}
