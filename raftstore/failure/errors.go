package failure

import (
	"errors"
	"fmt"
	"strings"
)

// Conditions that callers branch on, with errors.Is.
var (
	// ErrUnavailable: there is no leader, or it has no quorum; nothing was written. A retry is
	// safe.
	ErrUnavailable = errors.New("no leader with a quorum")
	// ErrUnknownOutcome: Raft has the write, and its outcome is not known. It must not be sent
	// again.
	ErrUnknownOutcome = errors.New("outcome unknown: the write may still be applied")
	// ErrTimeout: no state became fresh enough for a read within its deadline.
	ErrTimeout = errors.New("timed out waiting for a fresh enough state")
	// ErrNotRetained: most nodes no longer retain that state, and no other node reports that it
	// does.
	ErrNotRetained = errors.New("state is not kept")
	// ErrTooLarge: the entry exceeds the largest size of an entry.
	ErrTooLarge = errors.New("entry too large")
	// ErrClosed: the store is shutting down; nothing was written.
	ErrClosed = errors.New("store is closed")
	// ErrNotLeader: this node is not the leader; nothing was done.
	ErrNotLeader = errors.New("not the leader")
)

// Future reports a read of a version that this node has not reached within the deadline.
type Future struct{ Want, Have uint64 }

// Error names both versions.
func (e *Future) Error() string { return fmt.Sprintf("version %d is ahead of %d", e.Want, e.Have) }

// Unwrap returns ErrTimeout.
func (e *Future) Unwrap() error { return ErrTimeout }

// FullError reports a write that the leader refused because too few voters have space on their
// disks. Nothing was written.
type FullError struct{ Nodes []string }

// Error names the nodes whose disks are full.
func (e *FullError) Error() string {
	return fmt.Sprintf("the cluster takes no writes: the disk has no space left on %s; free some there, and writes go on by themselves",
		strings.Join(e.Nodes, ", "))
}
