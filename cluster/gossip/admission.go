package gossip

import (
	"cmp"
	"fmt"
)

// Refused ends this node's gossip: another node has the right to the name or identity that this
// node claims.
type Refused struct{ Reason string }

func (e *Refused) Error() string { return "refused by the cluster: " + e.Reason }

// rejection is the verdict that refuses the other node.
type rejection struct{ reason string }

func (e *rejection) Error() string { return e.reason }

// view is what admission decides on.
type view struct {
	self    Meta
	cluster string // the cluster this node belongs to or waits for; empty before it knows one
	// admit refuses a name that belongs to another node id, and removed node ids.
	admit func(name, nodeID string) error
	// alive is the member of that name that is alive, if there is one.
	alive func(name string) (Meta, bool)
	// over reports whether gossip has reported a later start of a node, alive or not.
	over func(Meta) bool
}

// admission decides about another node by the meta that it announces. It returns nil to admit the
// node, a *rejection to refuse it, and a *Refused if this node must end instead. Two nodes decide
// consistently about each other, whichever of them meets the other first.
func admission(v view, other Meta) error {
	if v.cluster != "" && other.Cluster != "" && v.cluster != other.Cluster {
		return &rejection{fmt.Sprintf("it belongs to cluster %s, this node to cluster %s", other.Cluster, v.cluster)}
	}
	if other.Name == v.self.Name {
		return checkNamesake(v, other)
	}
	if err := v.admit(other.Name, other.NodeID); err != nil {
		return &rejection{err.Error()}
	}
	have, ok := v.alive(other.Name)
	if ok && have.NodeID != other.NodeID && precedes(have, other) {
		return &rejection{taken(have, other)}
	}
	return nil
}

// checkNamesake decides about a node with this node's name.
func checkNamesake(v view, other Meta) error {
	if other.NodeID == v.self.NodeID {
		if newer(other, v.self) {
			return &Refused{fmt.Sprintf("another process runs as node %s (%s), with a copy of this data directory or the same one",
				other.Name, other.NodeID)}
		}
		return nil // an earlier start of this node
	}
	if v.over(other) {
		return &rejection{fmt.Sprintf("node %s was started again since, whoever has not missed this start of it yet", other.NodeID)}
	}
	mine, theirs := v.admit(v.self.Name, v.self.NodeID), v.admit(other.Name, other.NodeID)
	switch {
	case theirs != nil && mine == nil:
		return &rejection{theirs.Error()}
	case mine != nil && theirs == nil:
		return &Refused{mine.Error()}
	case precedes(v.self, other):
		return &rejection{taken(v.self, other)}
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
