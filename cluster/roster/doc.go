// Package roster remembers who is who: this node's own identity, and which node id owns each
// member's name.
//
// A node is known by its name, which is its Raft server id too, and told from another of the same
// name by its node id, made once and kept in the data directory. A node that lost its disk and
// returns under its old name would break Raft's promises (it has forgotten its votes and entries it
// acknowledged), so a name belongs to one node id until the member is removed. The roster enforces
// that where nothing can go round it: Admit is asked on every handshake of the peer port.
//
// Invariants: every change is on the disk before the call returns (DATA/members.json). Of two
// bindings of one name the later counts, by the Raft index at which it was made. The package starts
// no goroutines; a Roster may be used by any number of them.
package roster
