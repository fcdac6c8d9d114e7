package replay

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"sync/atomic"

	"quorate/raftstore/fsm"
	"quorate/raftstore/history"
	"quorate/raftstore/log"
	"quorate/raftstore/state"
)

// readEntries bounds the entries that one call of Events reads, so that other readers of the log
// can proceed.
const readEntries = 16 << 10

// errEnough stops a read that has returned enough events.
var errEnough = errors.New("enough")

// Entries is a log as history reads it, implemented by *log.Store, whose Read documents the
// contract.
type Entries interface {
	FirstIndex() (uint64, error)
	Read(ctx context.Context, after, upTo uint64, limit int, fn func(index uint64, data []byte) error) (next uint64, err error)
}

// Log is the log on disk as history reads it: the events that its entries caused. All methods are
// safe for concurrent use.
type Log struct {
	log    Entries
	root   func() *state.Root
	logger *slog.Logger
	floor  atomic.Uint64 // Log serves no lower position, because of damage or an unknown entry
}

var _ history.Log = (*Log)(nil)

// New returns the history in entries. root must return the state as of the last applied batch.
func New(entries Entries, root func() *state.Root, logger *slog.Logger) *Log {
	return &Log{log: entries, root: root, logger: logger}
}

// Oldest returns the smallest position that Events can begin after, and the maximum uint64 if there
// is none.
func (l *Log) Oldest() uint64 {
	first, err := l.log.FirstIndex()
	if err != nil || first == 0 {
		return math.MaxUint64
	}
	return max(first-1, l.root().Failed().Floor(), l.floor.Load())
}

// Events implements history.Log.
func (l *Log) Events(ctx context.Context, p state.Prefix, after, upTo uint64, maxBytes int) ([]*history.Event, uint64, error) {
	if after < l.floor.Load() {
		return nil, after, &history.Compacted{Want: after, Oldest: l.Oldest()}
	}
	failed := l.root().Failed() // from a state that has applied upTo
	at := func(index uint64) ([]byte, error) { return l.at(ctx, index) }
	var events []*history.Event
	size := 0
	next, err := l.log.Read(ctx, after, upTo, readEntries, func(index uint64, data []byte) error {
		if size >= maxBytes {
			return errEnough
		}
		event, err := fsm.Replay(data, index, failed, p, at)
		if err != nil || event == nil {
			return err
		}
		size += event.Size()
		events = append(events, event)
		return nil
	})
	var truncated *log.Truncated
	var damaged *log.Corrupt
	var unknown *fsm.Unknown
	switch {
	case err == nil, errors.Is(err, errEnough):
		return events, next, nil
	case errors.As(err, &truncated):
		return nil, after, &history.Compacted{Want: after, Oldest: l.Oldest()}
	case (errors.As(err, &damaged) || errors.As(err, &unknown)) && len(events) > 0:
		return events, next, nil // the next call begins at the entry and reports it
	case damaged != nil:
		l.DropDamaged(damaged.Index)
		return nil, after, &history.Compacted{Want: after, Oldest: l.Oldest()}
	case errors.As(err, &unknown):
		l.dropTo(unknown.Index, unknownEntry)
		return nil, after, &history.Compacted{Want: after, Oldest: l.Oldest()}
	default:
		return nil, after, err
	}
}

// at returns the entry at an index, nil if the log no longer has it or it is damaged.
func (l *Log) at(ctx context.Context, index uint64) (data []byte, err error) {
	_, err = l.log.Read(ctx, index-1, index, 1, func(_ uint64, read []byte) error {
		data = read
		return nil
	})
	var truncated *log.Truncated
	var damaged *log.Corrupt
	if errors.As(err, &truncated) || errors.As(err, &damaged) {
		return nil, nil
	}
	return data, err
}

// The reasons for which Log serves no position below an entry.
const (
	damagedEntry = "log entry is damaged; watches from before it get 410"
	unknownEntry = "log entry was written by a build that this one does not know; watches from before it get 410"
)

// DropDamaged makes history begin after a damaged entry.
func (l *Log) DropDamaged(index uint64) { l.dropTo(index, damagedEntry) }

// dropTo makes history begin after an entry that can't be replayed. A snapshot, or memory, has the
// state after it.
func (l *Log) dropTo(index uint64, why string) {
	for {
		floor := l.floor.Load()
		if index <= floor {
			return
		}
		if l.floor.CompareAndSwap(floor, index) {
			l.logger.Error(why, "index", index)
			return
		}
	}
}
