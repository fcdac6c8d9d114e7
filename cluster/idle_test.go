package cluster_test

import (
	"context"
	"errors"
	"testing"

	"quorate/cluster"
	"quorate/cluster/keys"
	"quorate/raftstore"
)

// serveReads requires every node to be ready and to answer a linearizable read. Nothing is written
// meanwhile, so a read that waits for an entry which no state machine applies fails.
func serveReads(t *testing.T, after string, nodes ...*node) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for _, n := range nodes {
		eventually(t, n.name+" to be ready after "+after, func() bool { return n.store.Ready() == nil })
		if _, err := n.store.View(ctx, raftstore.Quorum()); err != nil {
			t.Errorf("%s, after %s: %v", n.name, after, err)
		}
	}
}

// TestIdleClusterServesReads runs operator commands (valid, mistaken and repeated) on a cluster
// that receives no writes. After each, every remaining node must serve linearizable reads. The
// newest log entry is then a configuration, or one that the command appended. If such an entry
// never reached the state machine, a read that waits for it would fail.
func TestIdleClusterServesReads(t *testing.T) {
	t.Parallel()
	key := keys.Generate()
	nodes := trio(t, key, nil)
	eventuallyMembers(t, nodes[0], "n1:voter n2:voter n3:voter")
	serveReads(t, "the start", nodes...)

	leader := leaderOf(t, nodes...)
	follower := others(nodes, leader)[0]
	for range 2 {
		for _, asked := range []*node{leader, follower} {
			if err := asked.Remove(t.Context(), "n9"); !errors.Is(err, cluster.ErrUnknownMember) {
				t.Errorf("%s removes nobody: %v", asked.name, err)
			}
			serveReads(t, "remove of an unknown name", nodes...)
		}
	}
	replaceNode(t, nodes, follower)
	serveReads(t, "a follower's restart behind a mistaken remove", nodes...)

	for range 2 { // the second time it leads already
		if _, err := leader.TransferLeader(t.Context(), nodes[2].name); err != nil {
			t.Errorf("transfer: %v", err)
		}
		serveReads(t, "transfer", nodes...)
	}
	replica := start(t, setup{name: "n4", key: key, join: []string{nodes[0].host}, expect: 1, replica: true})
	eventuallyMembers(t, nodes[2], "n1:voter n2:voter n3:voter n4:nonvoter")
	serveReads(t, "a replica's arrival", append(nodes, replica)...)
	for attempt := range 2 { // as after a response that was lost
		err := nodes[0].Remove(t.Context(), "n4")
		if err != nil && (attempt == 0 || !errors.Is(err, cluster.ErrUnknownMember)) {
			t.Errorf("remove, attempt %d: %v", attempt, err)
		}
		serveReads(t, "remove", nodes...)
	}
	leaving := nodes[0]
	for range 2 {
		must(t, leaving.Leave(t.Context()))
		serveReads(t, "leave", nodes[1:]...)
	}
	must(t, leaving.stop())
	replaceNode(t, nodes, nodes[1])
	serveReads(t, "a restart behind a leave", nodes[1:]...)
}

// replaceNode restarts a node in its place among the nodes.
func replaceNode(t *testing.T, nodes []*node, old *node) {
	t.Helper()
	for i, n := range nodes {
		if n == old {
			nodes[i] = old.again(t, nil)
		}
	}
}
