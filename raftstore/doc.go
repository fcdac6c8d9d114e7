// Package raftstore replicates keyed objects through Raft and serves writes, linearizable and
// cached reads, and watches. It handles keys, bytes, labels and fields, and knows neither HTTP nor
// kinds.
//
// A write is one log entry, and the entry's index is the object's version. Any node accepts any
// request: a follower forwards writes to the leader, requests read indexes from it, and serves
// reads from its own state. The outcome of a write is exactly one of four: applied, refused (the
// errors of package state), certainly not applied (ErrUnavailable, ErrClosed, ErrTooLarge,
// *FullError, *QuotaError), or unknown (ErrUnknownOutcome). The store never proposes a write of
// unknown outcome again.
//
// A pin is a log entry that changes no object. It makes every node retain the state at its index
// for a while (Pin, Retained); a node that has lost that state fetches pages of it from another
// node (FetchRetained).
//
// Store is a façade. Each part is a package that gets what it needs through its constructor and
// does not depend on the Store:
//
//   - write: commands, latches, proposals, outcomes
//   - read: read indexes, pins, pages of retained states
//   - leadership: epochs, elections, transfers
//   - membership: the servers of the cluster, and holds on log entries for those that join
//   - diskguard: alarms, free space, stalled writes, the store of term and vote
//   - checksum: comparisons of the states of all nodes
//   - applier: the state machine that Raft drives, which applies committed entries
//   - replay: history from the log on disk
//   - entries: single entries of the log on disk, for operators
//   - lifecycle, failure: closing, and the errors that all parts return
//
// This package itself opens the files in an order that makes them consistent (open.go), decides
// when to write snapshots (snapshots.go) and closes everything in order (run.go).
//
// Open restores the state and starts the Raft library. Run owns all goroutines of this package and
// closes everything in order; Close is for a store that was never run. Only the library changes the
// state, through the Applier. DESIGN.md explains the design.
package raftstore
