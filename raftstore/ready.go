package raftstore

import (
	"context"
	"errors"

	"quorate/raftstore/leadership"
	"quorate/raftstore/lifecycle"
)

var (
	errNoLeader      = errors.New("no leader")
	errUninitialised = errors.New("this node belongs to no cluster yet")
	errLeaderUnready = errors.New("this node leads and has not committed an entry of its term yet")
	errStalled       = errors.New("a write to this node's log hangs")
	errCatchingUp    = errors.New("this node has not caught up with the leader yet")
)

// Ready returns nil if this node can serve, and the reason otherwise. A leader can serve once it
// has applied an entry of its term. Any other node can serve if it belongs to a cluster, knows the
// leader, and has caught up since it started or last lost a leader. A node that is closing, or
// whose log write hangs, can't.
func (s *Store) Ready() error {
	if err := s.life.Check(); err != nil {
		return err
	}
	e, _ := s.leaders.Current()
	_, known := s.Leader()
	switch {
	case s.alarms.IsRaised(DiskStalled):
		return errStalled
	case len(s.Servers()) == 0:
		return errUninitialised
	case e != nil && !e.IsReady():
		return errLeaderUnready
	case e != nil:
		return nil
	case !known:
		return s.noLeader()
	case !s.caughtUp.Load():
		return errCatchingUp
	}
	return nil
}

// Refuse returns a *NoLeaderError if this node has known no leader for longer than an election
// takes, so that a command that needs one would wait to no avail, and nil otherwise.
func (s *Store) Refuse() error { return s.leadership.Refuse() }

// noLeader returns an error that names the voters that do not respond.
func (s *Store) noLeader() error {
	if e := s.leadership.NoLeader(); e != nil {
		return e
	}
	return errNoLeader // the first moments of a node, or of a change
}

// proveReady catches up with the leader each time this node has found one, until ctx ends. Raft's
// indexes can't show whether the node has caught up: after a start the commit index is 0 until a
// leader sends it.
func (s *Store) proveReady(ctx context.Context) error {
	for ctx.Err() == nil {
		_, changed := s.leaders.Current()
		_, known := s.Leader()
		if known && !s.caughtUp.Load() {
			s.caughtUp.Store(s.reader.CatchUp(ctx) == nil)
		}
		if known && !s.caughtUp.Load() {
			lifecycle.Pause(ctx, changed, leadership.RetryInterval)
			continue
		}
		s.caughtUp.Store(known)
		select {
		case <-ctx.Done():
		case <-changed:
		}
	}
	return nil
}
