// Package raftstore replicates keyed objects through Raft and serves writes, linearizable and
// cached reads, and watches. It handles keys, bytes, labels and fields, and knows neither HTTP nor
// kinds.
//
// A write is one log entry, and the entry's index is the object's version. Any node accepts any
// request: a follower forwards writes to the leader, requests read indexes from it, and serves all
// reads from its own state. The outcome of a write is exactly one of four: applied, refused (the
// errors of package state), certainly not applied (ErrUnavailable, ErrClosed, ErrTooLarge,
// *FullError), or unknown (ErrUnknownOutcome). The store never proposes a write of unknown outcome
// again.
//
// A pin is a log entry that changes nothing: all nodes retain the state of exactly its index for a
// while (Pin, Retained), and a node that has lost it fetches it from the others (FetchRetained).
//
// Store is a façade. Each part is a package that gets what it needs through its constructor and
// does not depend on the Store:
//
//   - write: commands, latches, proposals, outcomes
//   - read: read indexes, pins, pages of retained states
//   - leadership: epochs, elections, transfers
//   - membership: the servers of the cluster, and the log that joining ones need
//   - diskguard: alarms, free space, stalled writes, the store of term and vote
//   - checksum: comparisons of the states of all nodes
//   - applier: applies committed entries; the state machine that Raft drives
//   - replay: history from the log on disk
//   - lifecycle, failure: closing, and the errors that all parts return
//
// This package itself opens the files in an order that makes them consistent (open.go), decides
// when to write snapshots (snapshots.go) and closes everything in order (run.go).
//
// Open restores the state and starts the Raft library. Run owns all goroutines of this package and
// closes everything in order; Close is for a store that was never run. Only Raft's own goroutine
// calls the Applier. DESIGN.md explains the design.
package raftstore
