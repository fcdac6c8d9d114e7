package read

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hashicorp/raft"

	"quorate/raftstore/failure"
	"quorate/raftstore/leadership"
)

// hedge is the time after which the leader asks further peers if one has not confirmed its term.
const hedge = 10 * time.Millisecond

// localIndex confirms that this node leads, and returns the commit index that it had before the
// confirmation. A read that began before the call, and waits until this node has applied that
// index, is linearizable. The proof depends on the order of the steps (hashicorp/raft#603):
//
//  1. Wait until an entry of this term is committed (Epoch.Ready). The commit index then covers all
//     that earlier leaders committed.
//  2. Take the commit index.
//  3. After that, learn from a quorum of voters, this node included, that each is in no later term.
//     A leader of a later term needs the vote of one of them, so no such leader had acknowledged an
//     entry when the commit index was taken.
//  4. Check that the term, and the other voters among which the quorum was counted, are still the
//     same.
//
// Step 3 does not use the library's VerifyLeader, which counts responses to heartbeats sent before
// the call: an old, late response would confirm a leader that has since been deposed. VerifyLeader
// also waits for the followers' disk writes: heartbeats queue behind them, because the transport
// disables the library's fast path (hashicorp/raft#695).
func (r *Reader) localIndex(ctx context.Context) (uint64, error) {
	e, _ := r.cfg.Leadership.Current()
	if e == nil {
		return 0, failure.ErrNotLeader
	}
	return r.indexOf(ctx, e, "")
}

// indexOf is localIndex for an epoch. voucher names a voter that is known to have been in no later
// term since the read began, "" if there is none.
func (r *Reader) indexOf(ctx context.Context, e *leadership.Epoch, voucher string) (uint64, error) {
	select {
	case <-e.Ready():
	case <-e.Done():
		return 0, failure.ErrNotLeader
	case <-ctx.Done():
		return 0, fmt.Errorf("leader not ready: %w", ctx.Err())
	}
	index := r.cfg.Raft.CommitIndex()
	others, voter := r.cfg.Members.OtherVoters()
	// gofail: var readIndexBefore struct{}
	if err := r.confirmTerm(ctx, e.Term(), others, voter, voucher); err != nil {
		return 0, err
	}
	// gofail: var readIndexAfter struct{}
	if now, _ := r.cfg.Members.OtherVoters(); r.cfg.Raft.CurrentTerm() != e.Term() || !slices.Equal(now, others) {
		return 0, failure.ErrNotLeader
	}
	return index, nil
}

// confirmTerm returns nil if a quorum of voters is in no later term. It asks as few of the others
// as needed, beginning with the one that confirmed last. It asks one more when a request fails, and
// all of them when the time hedge has passed.
func (r *Reader) confirmTerm(ctx context.Context, term uint64, others []raft.Server, voter bool, voucher string) error {
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
	return r.askTerms(ctx, term, r.preferred(others), missing)
}

type termResponse struct {
	peer string
	term uint64
	err  error
}

// askTerms asks peers in order until enough of them have confirmed that they are in no later term.
func (r *Reader) askTerms(ctx context.Context, term uint64, peers []raft.Server, missing int) error {
	return countTerms(ctx, term, peers, missing, r.askTerm, func(peer string) { r.lastConfirmed.Store(&peer) })
}

// countTerms is askTerms with the requests made by ask. It returns an error as soon as too few
// peers remain that could confirm.
func countTerms(ctx context.Context, term uint64, peers []raft.Server, missing int,
	ask func(context.Context, raft.Server, chan<- termResponse), confirmed func(peer string),
) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answers := make(chan termResponse, len(peers))
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
				return fmt.Errorf("%s is in term %d: %w", a.peer, a.term, failure.ErrNotLeader)
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

func (r *Reader) askTerm(ctx context.Context, peer raft.Server, answers chan<- termResponse) {
	name := string(peer.ID)
	entered := r.cfg.Lifecycle.Go(func() {
		term, err := r.cfg.Peers.Term(ctx, name, r.cfg.Members.AddressOf(peer), r.cfg.Members.ClusterID())
		answers <- termResponse{name, term, err}
	})
	if !entered {
		answers <- termResponse{peer: name, err: failure.ErrClosed}
	}
}

// preferred returns the peers, beginning with the one that confirmed last.
func (r *Reader) preferred(peers []raft.Server) []raft.Server {
	last := r.lastConfirmed.Load()
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
