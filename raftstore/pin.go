package raftstore

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"quorate/proto/logpb"
	"quorate/raftstore/readindex"
	"quorate/raftstore/state"
)

// pinShared is for how long after it was proposed a pin serves further callers, while nothing is written. A state is kept that
// much longer than its readers may count on.
const pinShared = time.Minute

// PinnedFor is how long all nodes keep a state from the moment on that Pin returned it, unless a bound on number or memory is
// hit before.
const PinnedFor = 10 * time.Minute

// pinning is how states come to be kept on all nodes.
type pinning struct {
	batcher *readindex.Batcher     // of pins, which are shared as read indexes are
	last    atomic.Pointer[pinned] // the newest that was applied here
}

type pinned struct {
	index uint64
	since time.Time
}

// Pin returns a state that every node keeps for PinnedFor, by its index: one that has every write acknowledged, by any node,
// before the call. Errors are View's for a Quorum read. It costs one log entry for all who call at the same time, and none
// when nothing was written since the last.
func (s *Store) Pin(ctx context.Context) (*state.Root, error) {
	bounded, cancel := context.WithTimeout(ctx, s.patience())
	defer cancel()
	index, err := s.pins.batcher.Index(bounded)
	if err == nil {
		err = s.await(bounded, index)
	}
	if err != nil {
		s.metrics.pins.WithLabelValues("failed").Inc()
		return nil, readFailure(ctx, err)
	}
	if root := s.Retained(index); root != nil {
		return root, nil
	}
	// A snapshot of another node was installed over it, or much was written meanwhile.
	return nil, fmt.Errorf("%w: the state of pin %d is gone already", ErrUnavailable, index)
}

// pinIndex returns the index of a pin that was proposed, or confirmed to be of the newest state, after it was called.
func (s *Store) pinIndex(ctx context.Context) (uint64, error) {
	if _, ok := s.pinnedNow(); ok {
		index, err := s.readIndex(ctx)
		if err == nil {
			err = s.await(ctx, index)
		}
		if err != nil {
			return 0, err
		}
		if index, ok := s.pinnedNow(); ok {
			s.metrics.pins.WithLabelValues("reused").Inc()
			return index, nil
		}
	}
	c, err := encode(command{pins: true}, &logpb.Entry{Op: &logpb.Entry_Pin{Pin: &logpb.Pin{}}})
	if err != nil {
		return 0, err
	}
	for ctx.Err() == nil {
		index, err := s.write(ctx, c)
		if errors.Is(err, ErrUnknownOutcome) {
			continue // another one does no harm
		}
		if err == nil {
			s.metrics.pins.WithLabelValues("proposed").Inc()
		}
		return index, err
	}
	return 0, ctx.Err()
}

// pinnedNow returns the index of this node's present state if a pin that is young enough to share names it.
func (s *Store) pinnedNow() (uint64, bool) {
	last := s.pins.last.Load()
	if last == nil || last.index != s.root().Index() || time.Since(last.since) >= pinShared || s.Retained(last.index) == nil {
		return 0, false
	}
	return last.index, true
}

// keep retains the state after a pin that was asked for at a time. One that is replayed from the log when its time is over is
// passed by.
func (m *machine) keep(asked time.Time) {
	now := time.Now()
	if asked.After(now) {
		asked = now // its proposer's clock is ahead
	}
	if now.Sub(asked) >= state.DefaultRetainedAge {
		return
	}
	root := m.tree.Publish()
	m.store.retainer.Retain(root, asked)
	m.store.pins.last.Store(&pinned{root.Index(), asked})
}
