package cluster_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"quorate/cluster"
	"quorate/cluster/keys"
	"quorate/raftstore"
	"quorate/raftstore/history"
	"quorate/raftstore/state"
)

const resource = "configmaps"

func object(name string) raftstore.Create {
	head := `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"` + name + `","resourceVersion":"`
	return raftstore.Create{Key: state.NewKey(resource, "default", name), Object: &state.Object{
		UID: "uid-" + name, Value: []byte(head + `"}}`), VersionOffset: uint32(len(head)),
	}}
}

// checkServes writes through a node, reads it back there in both ways, and sees it in a watch.
func checkServes(t *testing.T, n *node, watch *history.Cursor, name string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	c := object(name)
	_, err := n.store.Create(ctx, c)
	must(t, err)
	for _, read := range []raftstore.Read{raftstore.Quorum(), raftstore.Cached()} {
		root, err := n.store.View(ctx, read)
		must(t, err)
		if root.Get(c.Key) == nil {
			t.Errorf("%s does not have %s", n.name, name)
		}
	}
	events, err := watch.Next(ctx)
	must(t, err)
	if len(events) != 1 || events[0].Object.Key != c.Key {
		t.Errorf("the watch on %s got %d events, the first of %s", n.name, len(events), events[0].Object.Key)
	}
}

// TestReplica: a node that is to stay a non-voter serves as any other does, and is never promoted,
// also when voters die and another newcomer takes their place.
func TestReplica(t *testing.T) {
	t.Parallel()
	key := keys.Generate()
	nodes := trio(t, key, nil)
	replica := start(t, setup{name: "n4", key: key, join: []string{nodes[0].host}, expect: 1, replica: true})
	eventuallyMembers(t, nodes[0], "n1:voter n2:voter n3:voter n4:nonvoter")
	eventually(t, "the replica to be ready", func() bool { return replica.store.Ready() == nil })
	watch, err := replica.store.Watch(state.ResourcePrefix(resource), replica.store.Applied())
	must(t, err)
	checkServes(t, replica, watch, "all-live")

	leader := leaderOf(t, nodes...)
	must(t, leader.stop())
	rest := others(nodes, leader)
	leaderOf(t, rest...)
	checkServes(t, replica, watch, "a-voter-died")

	// A newcomer that may vote is promoted after it was stable for as long as the replica has been
	// by far.
	newcomer := start(t, setup{name: "n5", key: key, join: []string{rest[0].host}, expect: 1})
	eventually(t, "the newcomer to vote", func() bool { return strings.Contains(newcomer.members(t), "n5:voter") })
	if got := newcomer.members(t); !strings.Contains(got, "n4:nonvoter") {
		t.Errorf("members are %s: the replica was promoted", got)
	}
	checkServes(t, replica, watch, "a-newcomer-votes")
}

// TestQuorumGuard: nobody is removed, or leaves, without whom the living have no quorum.
func TestQuorumGuard(t *testing.T) {
	t.Parallel()
	nodes := trio(t, keys.Generate(), nil)
	leader := leaderOf(t, nodes...)
	rest := others(nodes, leader)
	staying, dead := rest[0], rest[1]
	must(t, dead.stop())
	eventually(t, "the dead one to be seen as such", func() bool { return strings.Contains(leader.members(t), dead.name+":voter†") })
	for _, asked := range []*node{leader, staying} { // it is said by the leader, and carried to who was asked
		err := asked.Remove(t.Context(), staying.name)
		if !errors.Is(err, cluster.ErrNoQuorum) || !strings.Contains(err.Error(), "bring "+dead.name+" back, or remove what is dead first") {
			t.Errorf("through %s, removing a living one: %v", asked.name, err)
		}
	}
	if err := staying.Leave(t.Context()); !errors.Is(err, cluster.ErrNoQuorum) {
		t.Errorf("a living one leaves: %v", err)
	}
	if got := leader.members(t); !strings.Contains(got, staying.name+":voter") {
		t.Errorf("members are %s", got)
	}
	// A busy machine may have the one that stays taken for dead for a moment, and then these are
	// refused as well.
	eventually(t, "the dead one to be removed", func() bool {
		err := leader.Remove(t.Context(), dead.name)
		return err == nil || errors.Is(err, cluster.ErrUnknownMember)
	})
	eventually(t, "a living one to leave", func() bool { return staying.Leave(t.Context()) == nil })
	eventuallyMembers(t, leader, leader.name+":voter")
}
