// Package bootstrap makes exactly one cluster of N empty nodes, in whatever order they start, crash
// and return.
//
// The protocol is a two-phase commit, coordinated by the node with the lowest id; ../DESIGN.md
// shows why it makes one cluster. A Record holds the one attempt that a node has promised, if any;
// the promise is on disk before the node responds. A Bootstrapper takes one step of the protocol at
// a time, until this node has Raft state. The package starts no goroutines that outlive a call.
package bootstrap
