package raftstore

import (
	"context"
	"slices"
	"time"

	"github.com/hashicorp/raft"
)

const (
	// probeLimit bounds the question whether the leader's process is there.
	probeLimit = time.Second
	// maxProbes bounds how often it is asked when the leader's last messages are still being worked on.
	maxProbes = 5
	// successionSteps is how many voters may stand one after the other within an election timeout: each must have lost, or won, before
	// the next one begins, or they split the vote and wait for that timeout after all.
	successionSteps = 2
	// looks is how often a voter that waits looks within such a step whether another one stands, or leads.
	looks = 20
)

// followSuccession replaces a leader whose process has ended without waiting for its heartbeats to be missed: connections to it
// break, and its host says that nobody listens there any longer. What looks otherwise (a partition, a host that is gone, a
// process that hangs) is left to the heartbeat timeout, as nobody can tell it from a slow network. Until ctx ends.
//
// Nothing rests on this being right: an election against a leader that lives costs a term, as any other does.
func (s *Store) followSuccession(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case peer := <-s.transport.Lost():
			s.succeed(ctx, raft.ServerID(peer))
		}
	}
}

// succeed stands for election in place of a leader that has ended. Voters go in the order of their names, so that they do not
// split the vote; one without the whole log loses, and the next one has its turn.
func (s *Store) succeed(ctx context.Context, leader raft.ServerID) {
	addr, led := s.raft.LeaderWithID()
	turn, voter := s.turn(leader)
	if led != leader || !voter {
		return
	}
	for range maxProbes { // what the leader sent at last may be worked on only now
		probed := time.Now()
		if !s.ended(ctx, leader, addr) || !s.awaitTurn(ctx, leader, turn) {
			return
		}
		if s.raft.LastContact().After(probed) {
			turn = 0
			continue
		}
		s.logger.Info("standing for election: the leader's process has ended", "leader", leader)
		s.metrics.successions.Inc()
		if err := s.stand(); err != nil {
			s.logger.Warn("not standing for election at once", "error", err)
		}
		return
	}
}

// awaitTurn waits for the voters that go first, each of them longer than an election takes. It returns false when another leader
// is there, or this node stands already.
func (s *Store) awaitTurn(ctx context.Context, leader raft.ServerID, turn int) bool {
	step := s.cfg.electionTimeout() / successionSteps
	deadline := time.Now().Add(time.Duration(turn) * step)
	term := s.raft.CurrentTerm()
	for {
		if _, led := s.raft.LeaderWithID(); led != leader && led != "" || s.raft.State() != raft.Follower || ctx.Err() != nil {
			return false
		}
		now := time.Now()
		if current := s.raft.CurrentTerm(); current != term { // somebody stands
			term = current
			deadline = later(deadline, now.Add(step))
		}
		if !now.Before(deadline) {
			return true
		}
		pause(ctx, nil, min(deadline.Sub(now), step/looks))
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// turn returns how many voters go before this node in place of a leader.
func (s *Store) turn(leader raft.ServerID) (turn int, voter bool) {
	others, voter := s.otherVoters()
	others = slices.DeleteFunc(others, func(o raft.Server) bool { return o.ID == leader || o.ID > raft.ServerID(s.cfg.Name) })
	return len(others), voter
}

// ended reports whether the host of a node says that nobody listens at the node's peer address.
func (s *Store) ended(ctx context.Context, id raft.ServerID, addr raft.ServerAddress) bool {
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	return s.transport.Refused(ctx, id, addr)
}
