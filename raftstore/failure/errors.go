package failure

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Errors that callers compare with errors.Is.
var (
	// ErrUnavailable reports that there is no leader, or that it has no quorum. Nothing was
	// written, so a retry is safe.
	ErrUnavailable = errors.New("no leader with a quorum")
	// ErrUnknownOutcome reports a write that Raft has and whose outcome is unknown. It must not be
	// sent again.
	ErrUnknownOutcome = errors.New("outcome unknown: the write may still be applied")
	// ErrTimeout reports that no state became fresh enough for a read before its deadline.
	ErrTimeout = errors.New("timed out waiting for a fresh enough state")
	// ErrNotRetained reports that most nodes no longer retain a state, and that no other node
	// reports that it does.
	ErrNotRetained = errors.New("state is not kept")
	// ErrTooLarge reports an entry that exceeds the largest size of an entry.
	ErrTooLarge = errors.New("entry too large")
	// ErrClosed reports that the store is shutting down. Nothing was written.
	ErrClosed = errors.New("store is closed")
	// ErrNotLeader reports that this node is not the leader and did nothing, or that it lost
	// leadership before a change of the configuration was committed, which may still happen.
	ErrNotLeader = errors.New("not the leader")
)

// NoLeaderError reports that this node has known no leader for longer than an election takes.
// Nothing was written. A retry succeeds only once enough of the voters are back.
type NoLeaderError struct {
	// For is how long the node has known no leader.
	For time.Duration
	// Voters is the number of voters in the cluster, 0 if the node belongs to no cluster yet.
	Voters int
	// Missing names the voters that do not respond to this node, in order.
	Missing []string
}

// Error returns a message that names the voters that are missing.
func (e *NoLeaderError) Error() string {
	switch {
	case e.Voters == 0:
		return "this node belongs to no cluster yet"
	case len(e.Missing) == 0:
		return fmt.Sprintf("no leader for %s", e.For.Truncate(time.Second))
	}
	return fmt.Sprintf("no leader for %s: %d of %d voters do not respond: %s",
		e.For.Truncate(time.Second), len(e.Missing), e.Voters, strings.Join(e.Missing, ", "))
}

// Unwrap returns ErrUnavailable.
func (e *NoLeaderError) Unwrap() error { return ErrUnavailable }

// Future reports a read of a version that this node has not reached within the deadline.
type Future struct{ Want, Have uint64 }

// Error returns a message with both versions.
func (e *Future) Error() string { return fmt.Sprintf("version %d is ahead of %d", e.Want, e.Have) }

// Unwrap returns ErrTimeout.
func (e *Future) Unwrap() error { return ErrTimeout }

// FullError reports a write that the leader refused because too few voters have space on their
// disks. Nothing was written.
type FullError struct{ Nodes []string }

// Error returns a message that names the nodes whose disks are full.
func (e *FullError) Error() string {
	return fmt.Sprintf("the cluster takes no writes: the disk has no space left on %s; free some there, and writes go on by themselves",
		strings.Join(e.Nodes, ", "))
}

// QuotaError reports a write that the leader refused because the state would exceed a quota.
// Nothing was written.
type QuotaError struct {
	// Resource and Namespace name the collection that has as many objects as it may. They are "" if
	// it is the whole state that is too large.
	Resource, Namespace string
	// Used and Limit are numbers of objects, or bytes of the whole state.
	Used, Limit uint64
}

// Error returns a message with the numbers and what to do.
func (e *QuotaError) Error() string {
	if e.Resource == "" {
		return fmt.Sprintf("the state is too large: it has %d bytes, and may have %d (--max-state-bytes); delete objects, and writes go on by themselves",
			e.Used, e.Limit)
	}
	resource := e.Resource
	if group, plural, ok := strings.Cut(resource, "/"); ok {
		resource = plural + "." + group
	}
	return fmt.Sprintf("exceeded quota: object-quota, requested: count/%[1]s=1, used: count/%[1]s=%[2]d, limited: count/%[1]s=%[3]d",
		resource, e.Used, e.Limit)
}
