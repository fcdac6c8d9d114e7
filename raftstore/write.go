package raftstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"quorate/proto/logpb"
	"quorate/proto/peerpb"
	"quorate/raftstore/forward"
	"quorate/raftstore/leadership"
	"quorate/raftstore/lifecycle"
	"quorate/raftstore/state"
)

// Create stores an object and returns it as it is stored. Errors: *state.Exists, *state.GuardFailed; ErrUnavailable,
// ErrTooLarge, ErrClosed, *FullError when surely nothing was written; ErrUnknownOutcome when it may have been. This node has applied the
// write when Create returns (semantics N5).
func (s *Store) Create(ctx context.Context, c Create) (*state.Object, error) {
	cmd, err := c.command()
	if err != nil {
		return nil, err
	}
	index, err := s.write(ctx, cmd)
	if err != nil {
		return nil, fmt.Errorf("create: %w", err)
	}
	return stored(c.Object, c.Key, index, index), nil
}

// Update replaces an object and returns it as it is stored. Errors as Create's, and *state.NotFound, *state.Conflict,
// *state.UIDMismatch.
func (s *Store) Update(ctx context.Context, u Update) (*state.Object, error) {
	cmd, err := u.command()
	if err != nil {
		return nil, err
	}
	index, err := s.write(ctx, cmd)
	if err != nil {
		return nil, fmt.Errorf("update: %w", err)
	}
	return stored(u.Object, u.Key, index, u.Previous.Created), nil
}

// Delete removes an object and returns its final state, with the deletion's index as version. Errors as Update's.
func (s *Store) Delete(ctx context.Context, d Delete) (*state.Object, error) {
	cmd, err := d.command()
	if err != nil {
		return nil, err
	}
	index, err := s.write(ctx, cmd)
	if err != nil {
		return nil, fmt.Errorf("delete: %w", err)
	}
	return stored(d.final(), d.Key, index, d.Previous.Created), nil
}

// stored is the object as applying its entry at index made it.
func stored(o *state.Object, key state.Key, index, created uint64) *state.Object {
	made := *o
	made.Key, made.Version, made.Created = key, index, created
	made.Value = state.Splice(o.Value, o.VersionOffset, index)
	return &made
}

// write finds the command's outcome. What is surely not applied is tried again, with whoever leads then, for as long as a
// change of leader may reasonably take; nothing else is tried twice.
func (s *Store) write(ctx context.Context, c *command) (uint64, error) {
	giveUp := time.Now().Add(s.cfg.patience())
	for {
		_, changed := s.leaders.Current()
		r := s.attempt(ctx, c)
		switch r.outcome {
		case peerpb.Outcome_APPLIED, peerpb.Outcome_REFUSED:
			s.metrics.outcome(r)
			return r.index, s.settle(ctx, r)
		case peerpb.Outcome_UNKNOWN:
			// gofail: var breakApplyTwice struct{}
			// c = s.anew(ctx, c)
			// continue

			s.metrics.outcome(r)
			return 0, r.asError()
		}
		if r.final() || ctx.Err() != nil || time.Now().After(giveUp) {
			s.metrics.outcome(r)
			return 0, r.asError()
		}
		s.metrics.retries.Inc()
		lifecycle.Pause(ctx, changed, leadership.RetryInterval)
	}
}

// settle waits until this node has applied what the outcome speaks of, so that a cached read after the answer sees it. The
// outcome is known whether or not that comes in time.
func (s *Store) settle(ctx context.Context, r result) error {
	if err := s.reader.Await(ctx, r.index); err != nil {
		s.metrics.unsettled.Inc()
	}
	return r.asError()
}

// attempt takes the command to the leader once.
func (s *Store) attempt(ctx context.Context, c *command) result {
	if err := s.life.Check(); err != nil {
		return notApplied(err)
	}
	name, address, known := s.members.Leader()
	switch {
	case !known:
		return notLeader(errors.New("no leader known"))
	case name == s.cfg.Name:
		return s.propose(ctx, c)
	default:
		return s.forward(ctx, name, address, c)
	}
}

// forward hands the command to the leader.
func (s *Store) forward(ctx context.Context, name, address string, c *command) result {
	// gofail: var forwardBefore struct{}
	start := time.Now()
	resp, err := s.peers.Write(ctx, name, address, &peerpb.WriteRequest{Entry: c.data, ClusterId: s.ClusterID(), Frees: c.frees, Client: c.client})
	// gofail: var forwardAfter struct{}
	s.metrics.forwarded.Observe(time.Since(start).Seconds())
	switch {
	case errors.Is(err, forward.ErrNotSent):
		return notApplied(err)
	case err != nil:
		return unknown(err)
	}
	s.reader.LearnCommit(resp.GetTerm(), resp.GetIndex())
	switch resp.GetOutcome() {
	case peerpb.Outcome_APPLIED:
		return applied(resp.GetIndex())
	case peerpb.Outcome_REFUSED:
		if refusal := forward.Decode(resp.GetRefusal(), &c.Precondition); refusal != nil {
			return refused(resp.GetIndex(), refusal)
		}
		return unknown(fmt.Errorf("leader %s refused for a reason unknown here: %s", name, resp.GetMessage()))
	case peerpb.Outcome_NOT_APPLIED:
		if full := resp.GetFull(); len(full) > 0 {
			return notApplied(&FullError{Nodes: full})
		}
		return notApplied(fmt.Errorf("leader %s: %s", name, resp.GetMessage()))
	case peerpb.Outcome_NOT_LEADER:
		return notLeader(fmt.Errorf("%s is not the leader", name))
	default:
		return unknown(fmt.Errorf("leader %s: %s", name, resp.GetMessage()))
	}
}

// proposePin writes an entry that makes every node retain the state of its index, which proposePin
// returns.
func (s *Store) proposePin(ctx context.Context) (uint64, error) {
	c, err := encode(&logpb.Entry{Op: &logpb.Entry_Pin{Pin: &logpb.Pin{}}})
	if err != nil {
		return 0, err
	}
	return s.write(ctx, c)
}
