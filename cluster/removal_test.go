package cluster_test

import (
	"errors"
	"strings"
	"testing"

	"google.golang.org/grpc"

	"quorate/cluster/gossip"
	"quorate/cluster/keys"
	"quorate/proto/peerpb"
)

// TestRemovedMemberIsNotAddedAgain: a node is removed by a request that it does not know of. It
// ends when gossip reports that to it, and so do its later starts, whoever leads: the leader that
// removed it, its successor, also after a restart, and a node that joined after the removal.
func TestRemovedMemberIsNotAddedAgain(t *testing.T) {
	t.Parallel()
	key := keys.Generate()
	nodes := trio(t, key, nil)
	eventuallyMembers(t, nodes[0], "n1:voter n2:voter n3:voter")
	leader := leaderOf(t, nodes...)
	rest := others(nodes, leader)
	successor, removed := rest[0], rest[1]
	for _, n := range []*node{leader, successor} {
		eventually(t, "gossip of all nodes at "+n.name, func() bool { return !strings.Contains(n.members(t), "†") })
	}

	removeUnnoticed(t, leader, removed)
	removed = refused(t, removed)
	addAnother(t, leader, key, "n4", removed)

	// A new node is added only by a leader that has considered all nodes of lower names first.
	if _, err := leader.TransferLeader(t.Context(), successor.name); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the successor to lead", successor.store.IsLeader)
	removed = refused(t, removed)
	addAnother(t, successor, key, "n5", removed)

	if _, err := successor.TransferLeader(t.Context(), leader.name); err != nil {
		t.Fatal(err)
	}
	successor = successor.again(t, nil)
	eventually(t, "leadership of the restarted node", func() bool {
		_, err := leader.TransferLeader(t.Context(), successor.name)
		return err == nil && successor.store.IsLeader()
	})
	removed = refused(t, removed)
	joiner := start(t, setup{name: "n6", key: key, join: []string{successor.host}, expect: 1})
	eventually(t, "the joiner to lead", func() bool {
		_, err := successor.TransferLeader(t.Context(), joiner.name)
		return err == nil && joiner.store.IsLeader()
	})
	addAnother(t, joiner, key, "n7", refused(t, removed))
}

// refused waits until a node ends because the cluster refuses it, and returns its next start.
func refused(t *testing.T, n *node) *node {
	t.Helper()
	var refused *gossip.Refused
	if err := n.exit(t); !errors.As(err, &refused) {
		t.Errorf("the removed node ends with %v", err)
	}
	return start(t, n.setup)
}

// removeUnnoticed removes a node with a request that the node does not know of.
func removeUnnoticed(t *testing.T, leader, removed *node) {
	t.Helper()
	service := &registrar{}
	leader.Register(service)
	request := &peerpb.LeaveRequest{Name: removed.name, NodeId: nodeID(t, removed.dir)}
	_, err := service.membership.Leave(t.Context(), request)
	must(t, err)
}

// registrar keeps the Membership service that a node registers.
type registrar struct{ membership peerpb.MembershipServer }

func (r *registrar) RegisterService(_ *grpc.ServiceDesc, service any) {
	r.membership = service.(peerpb.MembershipServer)
}

// addAnother starts a replica and waits until the leader has added it, without the removed node.
func addAnother(t *testing.T, leader *node, key *keys.Key, name string, removed *node) {
	t.Helper()
	start(t, setup{name: name, key: key, join: []string{leader.host}, expect: 1, replica: true})
	eventually(t, name+" to be added", func() bool { return isServer(leader, name) })
	if isServer(leader, removed.name) {
		t.Fatalf("the leader %s has added %s again, which was removed: %s", leader.name, removed.name, leader.members(t))
	}
}

func isServer(n *node, name string) bool {
	for _, s := range n.store.Servers() {
		if string(s.ID) == name {
			return true
		}
	}
	return false
}
