package bootstrap

import (
	"cmp"
	"fmt"
	"slices"
)

// Node is what the protocol needs to know of a node that gossip reports as alive.
type Node struct {
	Server
	Cluster string // the cluster that it belongs to or waits for
	Member  bool   // has Raft state
	Expect  int
	Voter   bool
}

// candidate reports whether the node is empty and may be one of the first members.
func (n Node) candidate() bool { return n.Cluster == "" && !n.Member && n.Voter && n.Expect > 1 }

// Choose returns the servers of the cluster that a node should form, given the other live nodes:
// the N oldest candidates, if the node is the oldest of them. Otherwise it returns no servers, and
// what the node waits for: a cluster to join, more candidates, agreement about N or about
// addresses, or an older candidate that forms the cluster.
func Choose(self Node, others []Node) (servers []Server, waiting string) {
	if !self.candidate() {
		return nil, "a cluster to join: this node was started to join one (bootstrap-expect 1 with join addresses, or no voter)"
	}
	candidates := []Node{self}
	for _, n := range others {
		if n.Member || n.Cluster != "" {
			return nil, fmt.Sprintf("node %q belongs to a cluster: this node is to join it", n.Name)
		}
		if !n.candidate() {
			continue
		}
		if n.Expect != self.Expect {
			return nil, fmt.Sprintf("nodes disagree: bootstrap-expect is %d here and %d on node %q", self.Expect, n.Expect, n.Name)
		}
		candidates = append(candidates, n)
	}
	if len(candidates) < self.Expect {
		return nil, fmt.Sprintf("%d of %d nodes are here", len(candidates), self.Expect)
	}
	slices.SortFunc(candidates, func(a, b Node) int { return cmp.Compare(a.NodeID, b.NodeID) })
	chosen := candidates[:self.Expect]
	if chosen[0].NodeID != self.NodeID {
		return nil, fmt.Sprintf("node %q forms the cluster", chosen[0].Name)
	}
	return serversOf(chosen)
}

// serversOf refuses two servers at one address, as Raft does.
func serversOf(nodes []Node) (servers []Server, waiting string) {
	at := map[string]string{}
	for _, n := range nodes {
		if other, ok := at[n.PeerAddr]; ok {
			return nil, fmt.Sprintf("nodes %q and %q both say that their peer address is %s: give each its own", other, n.Name, n.PeerAddr)
		}
		at[n.PeerAddr] = n.Name
		servers = append(servers, n.Server)
	}
	return servers, ""
}

// verdict is what a proposer does after the responses to its attempt.
type verdict int

const (
	wait    verdict = iota // ask again
	commit                 // all have promised
	abandon                // it cannot succeed, or an older proposer has precedence
)

// weigh decides by the responses of all servers but the proposer. A response is missing if the
// server could not be reached.
func weigh(p Attempt, responses map[string]Response) (verdict, string) {
	result, why := commit, ""
	for _, s := range p.Servers {
		if s.NodeID == p.Proposer {
			continue
		}
		a, ok := responses[s.NodeID]
		switch {
		case !ok:
			result, why = wait, fmt.Sprintf("node %q cannot be reached", s.Name)
		case a.NodeID != s.NodeID:
			return abandon, fmt.Sprintf("node %q was replaced by another", s.Name)
		case a.Promised:
		case a.Holder != "" && a.Holder >= p.Proposer:
			// The younger proposer will abandon its attempt and release this server; or the server
			// does not know yet that an earlier attempt of this node was abandoned.
			result, why = wait, fmt.Sprintf("node %q: %s", s.Name, a.Reason)
		default:
			return abandon, fmt.Sprintf("node %q: %s", s.Name, a.Reason)
		}
	}
	return result, why
}
