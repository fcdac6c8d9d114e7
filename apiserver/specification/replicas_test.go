package specification

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"quorate/apiserver/internal/testserver"
	"quorate/raftstore"
	"quorate/raftstore/testcluster"
)

// replicas are the nodes of a cluster, each with a server of its own.
type replicas struct {
	*testcluster.Cluster
	t       *testing.T
	servers map[*testcluster.Node]*testserver.Server
}

// startReplicas runs three nodes that end with the test. They elect as slowly as in production:
// rows are about elections that they cause, not about those of a machine that has much else to do.
func startReplicas(t *testing.T) *replicas {
	t.Helper()
	unhurried := func(cfg *raftstore.Config) { cfg.RaftMultiplier = 1 }
	r := &replicas{Cluster: testcluster.New(t, 3, unhurried), t: t, servers: map[*testcluster.Node]*testserver.Server{}}
	for i, s := range testserver.StartOnNodes(t, r.Nodes, quiet) {
		r.servers[r.Nodes[i]] = s
	}
	return r
}

// on is the server of a node.
func (r *replicas) on(n *testcluster.Node) *testserver.Server { return r.servers[n] }

// node is the server of the i-th node, counted round.
func (r *replicas) node(i int) *testserver.Server { return r.servers[r.Nodes[i%len(r.Nodes)]] }

// follower returns a node that does not lead, and the leader.
func (r *replicas) follower() (follower, leader *testcluster.Node) {
	r.t.Helper()
	r.Ready()
	leader = r.Leader()
	return r.Follower(leader), leader
}

// others lists the names of all nodes except n.
func (r *replicas) others(n *testcluster.Node) string {
	var names []string
	for _, other := range r.Nodes {
		if other != n {
			names = append(names, other.Name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// cutOff runs fn while a node reaches no other and knows it; all are ready again afterwards.
func (r *replicas) cutOff(n *testcluster.Node, fn func()) {
	r.t.Helper()
	r.Isolate(n, true)
	defer func() {
		r.Isolate(n, false)
		r.Ready()
	}()
	testcluster.Eventually(r.t, n.Name+" misses its leader", func() bool {
		// What the leader sent before may still make the node follow it, for a while, and
		// connections take their time to break.
		_, err := n.Store.View(r.t.Context(), raftstore.Quorum())
		_, known := n.Store.Leader()
		return errors.Is(err, raftstore.ErrUnavailable) && !known
	})
	fn()
}

// restart stops a node with its server and starts both again; meanwhile runs in between.
func (r *replicas) restart(n *testcluster.Node, meanwhile func()) {
	r.t.Helper()
	r.servers[n].Stop()
	n.Stop()
	meanwhile()
	n.Start()
	r.Ready()
	r.servers[n] = testserver.StartOn(r.t, n.Store, quiet)
}
