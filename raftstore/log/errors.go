package log

import (
	"errors"
	"fmt"

	"quorate/raftstore/log/segment"
	"quorate/raftstore/log/stable"
)

var (
	// ErrLocked reports that another process has the log open.
	ErrLocked = errors.New("in use: another quorate runs with this data directory")
	// ErrClosed reports that the store has been closed.
	ErrClosed = errors.New("log is closed")
	// ErrReadOnly reports a write to a log that was opened for reading.
	ErrReadOnly = errors.New("log is open for reading only")
	// ErrKeyNotFound reports a key without a value in the stable store. Raft compares this text.
	ErrKeyNotFound = errors.New("not found")
)

// isInDoubt reports whether the disk may or may not have a change.
func isInDoubt(err error) bool {
	return errors.Is(err, segment.ErrInDoubt) || errors.Is(err, stable.ErrInDoubt)
}

// Corrupt reports a damaged log. Its message addresses the operator: one line, with the
// remedy.
type Corrupt struct {
	Index  uint64 // of the damaged entry; 0 if the damage is not in one entry
	Path   string
	Reason string
}

func (e *Corrupt) Error() string {
	what := "log " + e.Path
	if e.Index > 0 {
		what = fmt.Sprintf("%s: entry %d", what, e.Index)
	}
	return fmt.Sprintf("%s: %s; remove this node from the cluster and start it with an empty data directory; if it is the only one left, "+
		"go on from what is whole with quorate recover, or restore a backup", what, e.Reason)
}

// Truncated reports a read from a position before the beginning of the log.
type Truncated struct {
	After uint64 // the requested position
	First uint64 // the oldest entry, 0 if there is none; reads may begin after First-1
}

func (e *Truncated) Error() string {
	return fmt.Sprintf("log position %d is gone; the oldest entry kept is %d", e.After, e.First)
}
