// Package bootstrap makes exactly one cluster of N empty nodes, whatever the order in which they
// start, crash and return.
//
// It is a two-phase commit with the node of the lowest id as coordinator; ../DESIGN.md argues why
// one cluster comes out. Book is the memory of one node: at most one pledge, on the disk before it
// is given. Former is one step of the protocol, taken again and again until this node has Raft
// state. The package starts no goroutines that outlive a call.
package bootstrap
