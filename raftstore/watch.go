package raftstore

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"sync/atomic"

	"quorate/raftstore/fsm"
	"quorate/raftstore/history"
	"quorate/raftstore/log"
	"quorate/raftstore/state"
)

// Watch returns a cursor on the events of a collection with Index > after, in order, none missing, none twice: from memory,
// from the log on disk, and as they are applied. Its Next returns *history.Compacted when the log no longer reaches back to
// the position, and history.ErrClosed when the store closes.
func (s *Store) Watch(p state.Prefix, after uint64) (*history.Cursor, error) {
	if err := s.life.Check(); err != nil {
		return nil, err
	}
	return s.hub.Watch(p, after), nil
}

// Beginning returns the oldest state of a collection that is kept with all of what followed it, for a watch from the beginning
// of history (semantics D10): its objects, in the order of their keys, and the position that a Watch goes on from. Where the
// log begins with the cluster there are no objects and the position is 0. The objects are read from disk as they are asked
// for; an error ends them.
func (s *Store) Beginning(_ context.Context, p state.Prefix) (iter.Seq2[*state.Object, error], uint64, error) {
	if err := s.life.Check(); err != nil {
		return nil, 0, err
	}
	oldest := s.replay.Oldest()
	if oldest == 0 {
		return func(func(*state.Object, error) bool) {}, 0, nil
	}
	if oldest != math.MaxUint64 {
		meta, err := s.snapshots.Oldest(oldest + 1)
		if err != nil {
			return nil, 0, fmt.Errorf("find the beginning of history: %w", err)
		}
		if meta != nil {
			return s.objectsIn(meta.ID, p), meta.Index, nil
		}
	}
	// A node that has just joined, whose only past is the present.
	root := s.root()
	return func(yield func(*state.Object, error) bool) {
		root.Ascend(p, "", func(o *state.Object) bool { return yield(o, nil) })
	}, root.Index(), nil
}

// errEnough ends a scan that its reader has had enough of.
var errEnough = errors.New("enough")

func (s *Store) objectsIn(snapshotID string, p state.Prefix) iter.Seq2[*state.Object, error] {
	return func(yield func(*state.Object, error) bool) {
		_, content, err := s.snapshots.OpenReader(snapshotID)
		if err != nil {
			yield(nil, err)
			return
		}
		defer content.Close() // only read
		err = fsm.ScanSnapshot(content, p, func(o *state.Object) error {
			if !yield(o, nil) {
				return errEnough
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			yield(nil, fmt.Errorf("read snapshot %s: %w", snapshotID, err))
		}
	}
}

// replayEntries bounds the entries that one read of the log looks at, so that others get a turn.
const replayEntries = 16 << 10

// replay is the log on disk as history sees it: the events that applying its entries made.
type replay struct {
	store *Store
	log   Entries
	floor atomic.Uint64 // positions below it are given up: there is damage in the log
}

var _ history.Log = (*replay)(nil)

func newReplay(s *Store) *replay { return &replay{store: s, log: s.log} }

// Oldest is the smallest position that Events can begin after; the largest number when there is none.
func (r *replay) Oldest() uint64 {
	first, err := r.log.FirstIndex()
	if err != nil || first == 0 {
		return math.MaxUint64
	}
	return max(first-1, r.store.root().Failed().Floor(), r.floor.Load())
}

// Events implements history.Log.
func (r *replay) Events(ctx context.Context, p state.Prefix, after, upTo uint64, maxBytes int) ([]*history.Event, uint64, error) {
	if after < r.floor.Load() {
		return nil, after, &history.Compacted{Want: after, Oldest: r.Oldest()}
	}
	failed := r.store.root().Failed() // of a state that has applied upTo
	at := func(index uint64) ([]byte, error) { return r.at(ctx, index) }
	var events []*history.Event
	size := 0
	next, err := r.log.Read(ctx, after, upTo, replayEntries, func(index uint64, data []byte) error {
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
		return nil, after, &history.Compacted{Want: after, Oldest: r.Oldest()}
	case (errors.As(err, &damaged) || errors.As(err, &unknown)) && len(events) > 0:
		return events, next, nil // it is met next time, at a position of its own
	case damaged != nil:
		r.dropTo(damaged.Index, damagedEntry)
		return nil, after, &history.Compacted{Want: after, Oldest: r.Oldest()}
	case errors.As(err, &unknown):
		r.dropTo(unknown.Index, unknownEntry)
		return nil, after, &history.Compacted{Want: after, Oldest: r.Oldest()}
	default:
		return nil, after, err
	}
}

// at returns the entry at an index, nil when it can't be read any more.
func (r *replay) at(ctx context.Context, index uint64) (data []byte, err error) {
	_, err = r.log.Read(ctx, index-1, index, 1, func(_ uint64, read []byte) error {
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

// Why history up to an entry is given up.
const (
	damagedEntry = "log entry is damaged; watches from before it get 410"
	unknownEntry = "log entry was written by a build that this one does not know; watches from before it get 410"
)

// dropTo gives up history up to an entry that can't be replayed; the state that it led to is safe in a snapshot, or in memory.
func (r *replay) dropTo(index uint64, why string) {
	for {
		floor := r.floor.Load()
		if index <= floor {
			return
		}
		if r.floor.CompareAndSwap(floor, index) {
			r.store.logger.Error(why, "index", index)
			return
		}
	}
}
