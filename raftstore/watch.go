package raftstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"

	"quorate/raftstore/fsm"
	"quorate/raftstore/history"
	"quorate/raftstore/state"
)

// Watch returns a cursor over the events of a collection with Index > after, in order and exactly
// once: events from the log on disk, from memory, and as this node applies them. Its Next returns
// *history.Compacted if this node no longer has the events after the cursor's position, and
// history.ErrClosed once the store closes. Watch itself returns ErrClosed if the store is closing.
func (s *Store) Watch(p state.Prefix, after uint64) (*history.Cursor, error) {
	return s.WatchFor("", p, after)
}

// WatchFor is Watch for a user. Users, and the node itself, take turns at reads of the log on disk,
// so that one with many watches does not delay the others.
func (s *Store) WatchFor(user string, p state.Prefix, after uint64) (*history.Cursor, error) {
	if err := s.life.Check(); err != nil {
		return nil, err
	}
	return s.hub.WatchFor(user, p, after), nil
}

// Beginning returns the oldest state of a collection whose later events this node still has, and
// the position from which Watch continues. A watch without a version, which replays the retained
// history (D10), starts there. If the log begins with the cluster's first entry, there are no
// objects and the position is 0. Otherwise the state is that of the oldest snapshot that the log
// continues, or the current state if there is no such snapshot, as on a node that has just joined.
// The iterator yields the objects in the order of their keys. If it can't read the snapshot, it
// yields an error and stops.
func (s *Store) Beginning(ctx context.Context, p state.Prefix) (iter.Seq2[*state.Object, error], uint64, error) {
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
			return s.objectsIn(ctx, meta.ID, p), meta.Index, nil
		}
	}
	// This node has just joined, and has no history.
	root := s.root()
	return func(yield func(*state.Object, error) bool) {
		root.Ascend(p, "", func(o *state.Object) bool { return yield(o, nil) })
	}, root.Index(), nil
}

// errEnough stops a scan whose consumer has stopped iterating.
var errEnough = errors.New("enough")

func (s *Store) objectsIn(ctx context.Context, snapshotID string, p state.Prefix) iter.Seq2[*state.Object, error] {
	return func(yield func(*state.Object, error) bool) {
		_, content, err := s.snapshots.OpenReader(snapshotID)
		if err != nil {
			yield(nil, err)
			return
		}
		defer content.Close() // only read
		err = fsm.ScanSnapshot(endingReader{ctx, content}, p, func(o *state.Object) error {
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

// endingReader reads until ctx ends: a scan may pass over a whole snapshot without finding an
// object of its collection.
type endingReader struct {
	ctx context.Context
	io.Reader
}

// Read implements io.Reader.
func (r endingReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}
