package raftstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"quorate/raftstore/leadership"
	"quorate/raftstore/lifecycle"
	"quorate/raftstore/readindex"
	"quorate/raftstore/state"
)

// View returns a state as fresh as the Read asks. Cached never waits. AtLeast waits for ctx at most, then the error is a
// *Future. Quorum gives up with ErrUnavailable when no leader with a quorum confirms it within a few election timeouts, and
// with ErrTimeout when ctx ends before.
func (s *Store) View(ctx context.Context, r Read) (*state.Root, error) {
	switch {
	case r.quorum:
		if err := s.catchUp(ctx); err != nil {
			return nil, err
		}
	case r.index > s.applied.Index():
		if err := s.await(ctx, r.index); errors.Is(err, ErrClosed) {
			return nil, err
		} else if err != nil {
			return nil, &Future{Want: r.index, Have: s.applied.Index()}
		}
	}
	return s.root(), nil
}

// catchUp waits until this node has applied what had been committed anywhere when it was called.
func (s *Store) catchUp(ctx context.Context) error {
	// gofail: var breakReadIndex struct{}
	// return nil

	if e, ok := s.aloneAndReady(); ok {
		if index, err := s.indexAlone(e); err == nil && index <= s.applied.Index() {
			return nil
		}
	}
	bounded, cancel := context.WithTimeout(ctx, s.patience())
	defer cancel()
	start := time.Now()
	index, err := s.readIndex(bounded)
	if err == nil {
		err = s.await(bounded, index)
	}
	s.metrics.readWaits.Observe(time.Since(start).Seconds())
	return readFailure(ctx, err)
}

// readFailure says of a read that failed whether its own time was up, or there is nobody to confirm it.
func readFailure(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrClosed):
		return err
	case ctx.Err() != nil:
		return fmt.Errorf("%w: %w", ErrTimeout, err)
	default:
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
}

// await waits until this node has applied index.
func (s *Store) await(ctx context.Context, index uint64) error {
	err := s.applied.Await(ctx, index)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, readindex.ErrStopped):
		return ErrClosed
	default:
		return fmt.Errorf("wait for index %d: %w", index, err)
	}
}

// readIndex asks whoever leads for a confirmed index, until one is had or ctx ends.
func (s *Store) readIndex(ctx context.Context) (uint64, error) {
	for {
		if err := s.life.Check(); err != nil {
			return 0, err
		}
		e, changed := s.leaders.Current()
		batcher := s.remote
		if e != nil {
			batcher = s.local
		}
		index, err := batcher.Index(ctx)
		if err == nil || ctx.Err() != nil {
			return index, err
		}
		if errors.Is(err, readindex.ErrStopped) {
			return 0, ErrClosed
		}
		lifecycle.Pause(ctx, changed, leadership.RetryInterval)
		if ctx.Err() != nil {
			return 0, err // says more than that time is up
		}
	}
}

// remoteIndex asks the leader, for all readers here that wait for it.
func (s *Store) remoteIndex(ctx context.Context) (uint64, error) {
	name, address, known := s.members.Leader()
	switch {
	case !known:
		return 0, errors.New("no leader known")
	case name == s.cfg.Name:
		return s.confirmed(ctx)
	}
	resp, err := s.peers.ReadIndex(ctx, name, address, s.ClusterID(), s.raft.CurrentTerm())
	if err != nil {
		return 0, err
	}
	if resp.GetNotLeader() {
		return 0, fmt.Errorf("%s: %w", name, ErrNotLeader)
	}
	if resp.GetMessage() != "" {
		return 0, fmt.Errorf("leader %s: %s", name, resp.GetMessage())
	}
	s.learnCommit(resp.GetTerm(), resp.GetIndex())
	return resp.GetIndex(), nil
}

// learnCommit takes the leader's word that its entry at index is committed, so that it is applied here
// without waiting for the next append. A term of 0 is no such word.
func (s *Store) learnCommit(term, index uint64) {
	if term != 0 && index > s.applied.Index() {
		s.transport.AdvanceCommit(term, index)
	}
}

// confirmed returns a read index of this node as leader, shared with all who ask meanwhile.
func (s *Store) confirmed(ctx context.Context) (uint64, error) {
	if e, ok := s.aloneAndReady(); ok {
		return s.indexAlone(e)
	}
	return s.local.Index(ctx)
}

// aloneAndReady returns the present epoch when this node leads, is ready and is the only voter.
func (s *Store) aloneAndReady() (*leadership.Epoch, bool) {
	e, _ := s.leaders.Current()
	if e == nil || !e.IsReady() {
		return nil, false
	}
	others, _ := s.members.OtherVoters()
	return e, len(others) == 0
}

// indexAlone is the read index of a cluster of one: nobody to ask, but the order is the same.
func (s *Store) indexAlone(e *leadership.Epoch) (uint64, error) {
	index := s.raft.CommitIndex()
	if s.raft.CurrentTerm() != e.Term() {
		return 0, ErrNotLeader
	}
	return index, nil
}
