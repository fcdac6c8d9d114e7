package raftstore

import (
	"errors"
	"fmt"
)

// Conditions that callers branch on, with errors.Is.
var (
	// ErrUnavailable: there is no leader, or it has no quorum; nothing was written. Safe to try again.
	ErrUnavailable = errors.New("no leader with a quorum")
	// ErrUnknownOutcome: the write was handed to the log and its fate is not known. It must not be sent again.
	ErrUnknownOutcome = errors.New("outcome unknown: the write may still be applied")
	// ErrTimeout: a read could not be made fresh enough within its deadline.
	ErrTimeout = errors.New("timed out waiting for a fresh enough state")
	// ErrNotRetained: most nodes keep that state no more, and nobody else says that it does.
	ErrNotRetained = errors.New("state is not kept")
	// ErrTooLarge: the entry is over MaxEntryBytes.
	ErrTooLarge = errors.New("entry too large")
	// ErrClosed: the store is shutting down; nothing was written.
	ErrClosed = errors.New("store is closed")
	// ErrNotLeader: this node is not the leader; nothing was done.
	ErrNotLeader = errors.New("not the leader")
)

// Future reports a read of a version that this node has not reached within the deadline.
type Future struct{ Want, Have uint64 }

func (e *Future) Error() string { return fmt.Sprintf("version %d is ahead of %d", e.Want, e.Have) }
func (e *Future) Unwrap() error { return ErrTimeout }
