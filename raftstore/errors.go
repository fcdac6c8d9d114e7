package raftstore

import "quorate/raftstore/failure"

// Errors that callers compare with errors.Is.
var (
	// ErrUnavailable reports that there is no leader, or that it has no quorum. Nothing was
	// written, so a retry is safe.
	ErrUnavailable = failure.ErrUnavailable
	// ErrUnknownOutcome reports a write that Raft has and whose outcome is unknown. It must not be
	// sent again.
	ErrUnknownOutcome = failure.ErrUnknownOutcome
	// ErrTimeout reports that no state became fresh enough for a read before its deadline.
	ErrTimeout = failure.ErrTimeout
	// ErrNotRetained reports that most nodes no longer retain a state, and that no other node
	// reports that it does.
	ErrNotRetained = failure.ErrNotRetained
	// ErrTooLarge reports an entry larger than MaxEntryBytes.
	ErrTooLarge = failure.ErrTooLarge
	// ErrClosed reports that the store is shutting down. Nothing was written.
	ErrClosed = failure.ErrClosed
	// ErrNotLeader reports that this node is not the leader and did nothing, or that it lost
	// leadership before a change of the configuration was committed, which may still happen.
	ErrNotLeader = failure.ErrNotLeader
)

// Future reports a read of a version that this node has not reached within the deadline.
type Future = failure.Future

// NoLeaderError reports that this node has known no leader for longer than an election takes.
// Nothing was written.
type NoLeaderError = failure.NoLeaderError

// FullError reports a write that the leader refused because too few voters have space on their
// disks. Nothing was written.
type FullError = failure.FullError

// QuotaError reports a write that the leader refused because the state would exceed a quota.
// Nothing was written.
type QuotaError = failure.QuotaError
