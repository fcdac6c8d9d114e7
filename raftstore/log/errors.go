package log

import (
	"errors"
	"fmt"
)

var (
	// ErrLocked: another process has the file open.
	ErrLocked = errors.New("in use: another quorate runs with this data directory")
	// ErrClosed: the store has been closed.
	ErrClosed = errors.New("log is closed")
	// ErrKeyNotFound: the stable store has no such key. Raft compares this text.
	ErrKeyNotFound = errors.New("not found")
)

// Corrupt reports a log file that can't be trusted. Its message is for the operator: one line, with what to do.
type Corrupt struct {
	Index  uint64 // the entry at fault; 0 when the fault is not in one entry
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

// Truncated reports a read from a position that the log no longer reaches back to.
type Truncated struct {
	After uint64 // the position asked for
	First uint64 // the oldest entry kept; 0 when there is none. First-1 is the oldest position that can be read from.
}

func (e *Truncated) Error() string {
	return fmt.Sprintf("log position %d is gone; the oldest entry kept is %d", e.After, e.First)
}
