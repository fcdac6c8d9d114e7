// Package raftstore replicates keyed objects through Raft and serves them: writes, linearizable and
// cached reads, watches. It knows keys, bytes, labels and fields, and nothing of HTTP or kinds.
//
// A write is one log entry, and the entry's index is the object's version. Any node takes any
// request: a follower forwards writes to the leader, asks it for read indexes and serves everything
// from its own state. The outcome of a write is exactly one of four: applied, refused (the errors
// of package state), surely not applied (ErrUnavailable, ErrClosed, ErrTooLarge, *FullError), or
// unknown (ErrUnknownOutcome). The store never proposes a write of unknown outcome again.
//
// A pin is a log entry that changes nothing: all nodes retain the state of exactly its index for a
// while (Pin, Retained), and a node that has lost it fetches it from the others (FetchRetained).
//
// The Store is a façade. Each part is a package of its own, takes what it needs by its constructor
// and knows nothing of the Store:
//
//   - write: commands, latches, proposals, outcomes
//   - read: read indexes, pins, pages of retained states
//   - leadership: epochs, elections, transfers
//   - membership: the servers of the cluster, and the log that joining ones need
//   - diskguard: alarms, free space, stalled writes, the store of term and vote
//   - checksum: comparisons of the states of all nodes
//   - machine: the state machine that Raft drives
//   - replay: history from the log on disk
//   - lifecycle, failure: closing, and the errors that all parts return
//
// This package itself opens the files in an order that makes them consistent (open.go), decides when
// to write snapshots (snapshots.go) and closes everything in order (run.go).
//
// Open restores the state and starts the Raft library. Run owns all goroutines of this package and
// closes everything in order; Close is for a store that is never run. Only Raft's own goroutine
// calls the machine. DESIGN.md has the reasons.
package raftstore
