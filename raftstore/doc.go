// Package raftstore replicates keyed objects through Raft and serves them: writes, linearizable and cached reads, watches. It
// knows keys, bytes, labels and fields, and nothing of HTTP or kinds.
//
// A write is one log entry, and the entry's index is the object's version. Any node takes any request: a follower forwards
// writes to the leader, asks it for read indexes and serves everything from its own state. What became of a write is always one
// of four things: applied, refused (the errors of package state), surely not applied (ErrUnavailable, ErrClosed, ErrTooLarge),
// or unknown (ErrUnknownOutcome), and a write is never proposed again after the last.
//
// A pin is a log entry that changes nothing: all nodes keep the state of exactly its index for a while (Pin, Retained), and one
// that lost it reads it from the others (FetchRetained).
//
// Open restores the state and starts the Raft library; Run owns all goroutines of this package and closes everything in order;
// Close is for a store that is never run. The machine is called by Raft's own goroutine alone. DESIGN.md tells why things are
// as they are.
package raftstore
