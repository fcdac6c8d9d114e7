package gossip

import (
	"cmp"
	"fmt"
)

// Refused ends this node's part in gossip: another node has the better right to what this one says
// it is.
type Refused struct{ Reason string }

func (e *Refused) Error() string { return "refused by the cluster: " + e.Reason }

// stranger is the judgement that the other node is not let in.
type stranger struct{ reason string }

func (e *stranger) Error() string { return e.reason }

// view is what a judgement rests on.
type view struct {
	self    Meta
	cluster string // the cluster this node belongs to or waits for; empty before it knows one
	// admit refuses a name that belongs to another node id, and removed node ids.
	admit func(name, nodeID string) error
	// alive is the member of that name that is alive, if there is one.
	alive func(name string) (Meta, bool)
	// over reports whether a later start of a node was heard of, alive or not.
	over func(Meta) bool
}

// judge decides about another node from what it says of itself: nil lets it in, a *stranger keeps
// it out, and *Refused says that this node has to give way. All nodes judge alike, whoever meets
// whom first.
func judge(v view, other Meta) error {
	if v.cluster != "" && other.Cluster != "" && v.cluster != other.Cluster {
		return &stranger{fmt.Sprintf("it belongs to cluster %s, this node to cluster %s", other.Cluster, v.cluster)}
	}
	if other.Name == v.self.Name {
		return judgeNamesake(v, other)
	}
	if err := v.admit(other.Name, other.NodeID); err != nil {
		return &stranger{err.Error()}
	}
	have, ok := v.alive(other.Name)
	if ok && have.NodeID != other.NodeID && precedes(have, other) {
		return &stranger{taken(have, other)}
	}
	return nil
}

// judgeNamesake decides about a node that has this one's name.
func judgeNamesake(v view, other Meta) error {
	if other.NodeID == v.self.NodeID {
		if newer(other, v.self) {
			return &Refused{fmt.Sprintf("another process runs as node %s (%s), with a copy of this data directory or the same one",
				other.Name, other.NodeID)}
		}
		return nil // an earlier start of this node
	}
	if v.over(other) {
		return &stranger{fmt.Sprintf("node %s was started again since, whoever has not missed this start of it yet", other.NodeID)}
	}
	mine, theirs := v.admit(v.self.Name, v.self.NodeID), v.admit(other.Name, other.NodeID)
	switch {
	case theirs != nil && mine == nil:
		return &stranger{theirs.Error()}
	case mine != nil && theirs == nil:
		return &Refused{mine.Error()}
	case precedes(v.self, other):
		return &stranger{taken(v.self, other)}
	}
	return &Refused{taken(other, v.self)}
}

// precedes reports whether node a keeps a name that b claims as well: a member of the cluster
// precedes one that joins, then the older node precedes.
func precedes(a, b Meta) bool {
	if a.Member != b.Member {
		return a.Member
	}
	return cmp.Less(a.NodeID, b.NodeID)
}

func taken(owner, claims Meta) string {
	return fmt.Sprintf("name %q is taken by node %s at %s, so node %s at %s cannot use it: choose another name, or, "+
		"if that node has ended for good, remove it and try again once quorate members shows it as not alive",
		owner.Name, owner.NodeID, owner.PeerAddr, claims.NodeID, claims.PeerAddr)
}
