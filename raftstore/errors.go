package raftstore

import "quorate/raftstore/failure"

// Conditions that callers branch on, with errors.Is.
var (
	// ErrUnavailable: there is no leader, or it has no quorum; nothing was written. A retry is
	// safe.
	ErrUnavailable = failure.ErrUnavailable
	// ErrUnknownOutcome: Raft has the write, and its outcome is not known. It must not be sent
	// again.
	ErrUnknownOutcome = failure.ErrUnknownOutcome
	// ErrTimeout: no state became fresh enough for a read within its deadline.
	ErrTimeout = failure.ErrTimeout
	// ErrNotRetained: most nodes no longer retain that state, and no other node reports that it
	// does.
	ErrNotRetained = failure.ErrNotRetained
	// ErrTooLarge: the entry is over MaxEntryBytes.
	ErrTooLarge = failure.ErrTooLarge
	// ErrClosed: the store is shutting down; nothing was written.
	ErrClosed = failure.ErrClosed
	// ErrNotLeader: this node is not the leader; nothing was done.
	ErrNotLeader = failure.ErrNotLeader
)

// Future reports a read of a version that this node has not reached within the deadline.
type Future = failure.Future

// FullError reports a write that the leader refused because too few voters have space on their
// disks. Nothing was written.
type FullError = failure.FullError
