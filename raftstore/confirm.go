package raftstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hashicorp/raft"

	"quorate/raftstore/leadership"
)

// hedge is how long a confirming peer may take before the others are asked too.
const hedge = 10 * time.Millisecond

// localIndex confirms that this node leads and returns its commit index of before: a read that began before the call, and
// waits until that index is applied, is linearizable. The order is what matters (hashicorp/raft#603):
//
//  1. an entry of the own term is committed (epoch.ready), so the commit index covers all that earlier leaders committed;
//  2. take the commit index;
//  3. a quorum of voters, asked after that, is in no later term. Any leader of a later term needs the vote of one of them, so
//     none existed when they were asked, and nothing was acknowledged that the commit index does not cover;
//  4. the term, and the configuration that the quorum was counted in, are still the same.
//
// The library's VerifyLeader is not used for step 3: it counts answers to heartbeats sent before it was called, so an old
// answer that was long under way confirms a leader deposed since. It also waits for the followers' disk writes, since
// heartbeats queue behind them (hashicorp/raft#695).
func (s *Store) localIndex(ctx context.Context) (uint64, error) {
	e, _ := s.leaders.Current()
	if e == nil {
		return 0, ErrNotLeader
	}
	return s.indexOf(ctx, e, "")
}

// indexOf is localIndex for an epoch; voucher names a voter known to have been in no later term since the read began.
func (s *Store) indexOf(ctx context.Context, e *leadership.Epoch, voucher string) (uint64, error) {
	select {
	case <-e.Ready():
	case <-e.Done():
		return 0, ErrNotLeader
	case <-ctx.Done():
		return 0, fmt.Errorf("leader not ready: %w", ctx.Err())
	}
	index := s.raft.CommitIndex()
	others, voter := s.members.OtherVoters()
	// gofail: var readIndexBefore struct{}
	if err := s.confirmTerm(ctx, e.Term(), others, voter, voucher); err != nil {
		return 0, err
	}
	// gofail: var readIndexAfter struct{}
	if now, _ := s.members.OtherVoters(); s.raft.CurrentTerm() != e.Term() || !slices.Equal(now, others) {
		return 0, ErrNotLeader
	}
	return index, nil
}

// confirmTerm returns nil when a quorum is in no later term. It asks as few peers as are needed, those first that answered
// last time, and the others when one fails or takes long.
func (s *Store) confirmTerm(ctx context.Context, term uint64, others []raft.Server, voter bool, voucher string) error {
	total := len(others)
	missing := 0
	if voter {
		total++
		missing = -1
	}
	missing += total/2 + 1
	if i := slices.IndexFunc(others, func(p raft.Server) bool { return string(p.ID) == voucher }); i >= 0 {
		missing--
		others = slices.Delete(slices.Clone(others), i, i+1)
	}
	if missing <= 0 {
		return nil
	}
	return s.askTerms(ctx, term, s.preferred(others), missing)
}

type termAnswer struct {
	peer string
	term uint64
	err  error
}

// askTerms asks peers in their order until enough have answered that they are in no later term.
func (s *Store) askTerms(ctx context.Context, term uint64, peers []raft.Server, missing int) error {
	return countTerms(ctx, term, peers, missing, s.askTerm, func(peer string) { s.lastConfirmed.Store(&peer) })
}

// countTerms is askTerms with the asking left to its caller. It gives up as soon as too few peers are left that may answer.
func countTerms(ctx context.Context, term uint64, peers []raft.Server, missing int,
	ask func(context.Context, raft.Server, chan<- termAnswer), confirmed func(peer string),
) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answers := make(chan termAnswer, len(peers))
	asked, unanswered := 0, len(peers)
	askUpTo := func(count int) {
		for ; asked < min(count, len(peers)); asked++ {
			ask(ctx, peers[asked], answers)
		}
	}
	askUpTo(missing)
	slow := time.NewTimer(hedge)
	defer slow.Stop()
	var errs []error
	for missing > 0 {
		if unanswered < missing {
			return fmt.Errorf("confirm leadership: %w", errors.Join(errs...))
		}
		select {
		case a := <-answers:
			unanswered--
			switch {
			case a.err == nil && a.term <= term:
				missing--
				confirmed(a.peer)
			case a.err == nil:
				return fmt.Errorf("%s is in term %d: %w", a.peer, a.term, ErrNotLeader)
			default:
				errs = append(errs, a.err)
				askUpTo(asked + 1)
			}
		case <-slow.C:
			askUpTo(len(peers))
		case <-ctx.Done():
			return fmt.Errorf("confirm leadership: %w", errors.Join(append(errs, ctx.Err())...))
		}
	}
	return nil
}

func (s *Store) askTerm(ctx context.Context, peer raft.Server, answers chan<- termAnswer) {
	name := string(peer.ID)
	entered := s.life.Go(func() {
		term, err := s.peers.Term(ctx, name, s.members.AddressOf(peer), s.ClusterID())
		answers <- termAnswer{name, term, err}
	})
	if !entered {
		answers <- termAnswer{peer: name, err: ErrClosed}
	}
}

// preferred puts the peer first that confirmed last.
func (s *Store) preferred(peers []raft.Server) []raft.Server {
	last := s.lastConfirmed.Load()
	if last == nil {
		return peers
	}
	i := slices.IndexFunc(peers, func(p raft.Server) bool { return string(p.ID) == *last })
	if i <= 0 {
		return peers
	}
	ordered := slices.Clone(peers)
	ordered[0], ordered[i] = ordered[i], ordered[0]
	return ordered
}
