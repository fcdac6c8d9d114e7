// Package roster records this node's identity, and which node id owns each member's name.
//
// A node's name is also its Raft server id. The node id, which is generated once and kept in the
// data directory, distinguishes two nodes of one name. A node that lost its disk has lost its votes
// and entries that it acknowledged; if it returned under its old name, Raft would trust it and lose
// writes. So a name belongs to one node id until the member is removed. Each handshake of the peer
// port calls Admit, which enforces this rule.
//
// Every change is on disk (DATA/members.json) before the call returns. Of two bindings of one name,
// the one made at the higher Raft index counts; at the same index, that of the older node. The
// package starts no goroutines; a Roster is safe for concurrent use.
package roster
