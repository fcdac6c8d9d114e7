// Package roster records this node's identity, and which node id owns each member's name.
//
// A node's name is also its Raft server id. The node id, which is made once and kept in the data
// directory, distinguishes two nodes of one name. A node that lost its disk has lost its votes and
// entries that it acknowledged; if it returned under its old name, Raft would trust it and lose
// writes. So a name belongs to one node id until the member is removed. Each handshake of the peer
// port calls Admit, so no node gets round this rule.
//
// Invariants: every change is on the disk before the call returns (DATA/members.json). Of two
// bindings of one name the later counts, by the Raft index at which it was made. The package starts
// no goroutines; a Roster may be used by any number of them.
package roster
