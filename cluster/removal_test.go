package cluster_test

import (
	"strings"
	"testing"

	"google.golang.org/grpc"

	"quorate/cluster/keys"
	"quorate/proto/peerpb"
)

// TestRemovedMemberIsNotAddedAgain: two members know of a removal from the log alone, as after a
// partition that cut them off from gossip. The removed node is alive. Neither the leader nor its
// successor adds the node again, even after the successor was restarted. A later start of the node
// may return.
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
	addAnother(t, leader, key, "n4", removed)

	// A new node is added only by a leader that has considered all nodes of lower names first.
	if _, err := leader.TransferLeader(t.Context(), successor.name); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the successor to lead", successor.store.IsLeader)
	addAnother(t, successor, key, "n5", removed)

	if _, err := successor.TransferLeader(t.Context(), leader.name); err != nil {
		t.Fatal(err)
	}
	successor = successor.again(t, nil)
	eventually(t, "the restarted node to hear of the removed one", func() bool {
		return strings.Contains(successor.members(t), removed.name)
	})
	eventually(t, "leadership of the restarted node", func() bool {
		_, err := leader.TransferLeader(t.Context(), successor.name)
		return err == nil && successor.store.IsLeader()
	})
	addAnother(t, successor, key, "n6", removed)

	removed = removed.again(t, nil)
	eventually(t, "a later start of the removed node to be a member", func() bool {
		return isServer(successor, removed.name)
	})
}

// TestLaterMemberAddsNoRemovedMember: a node that joined after a removal becomes the leader. It has
// applied no configuration with the removed node, which is alive and known to it by gossip.
func TestLaterMemberAddsNoRemovedMember(t *testing.T) {
	t.Parallel()
	key := keys.Generate()
	nodes := trio(t, key, nil)
	eventuallyMembers(t, nodes[0], "n1:voter n2:voter n3:voter")
	leader := leaderOf(t, nodes...)
	removed := others(nodes, leader)[0]
	eventually(t, "gossip of all nodes", func() bool { return !strings.Contains(leader.members(t), "†") })
	removeUnnoticed(t, leader, removed)

	joiner := start(t, setup{name: "n4", key: key, join: []string{leader.host}, expect: 1})
	eventually(t, "the joiner to lead", func() bool {
		_, err := leader.TransferLeader(t.Context(), joiner.name)
		return err == nil && joiner.store.IsLeader()
	})
	addAnother(t, joiner, key, "n5", removed)
}

// removeUnnoticed removes a node with a request that the node does not know of: it runs on, and
// gossip never reports its removal.
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
