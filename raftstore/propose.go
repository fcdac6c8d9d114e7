package raftstore

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/raft"
	"google.golang.org/protobuf/proto"

	"quorate/proto/logpb"
	"quorate/proto/peerpb"
	"quorate/raftstore/fsm"
	"quorate/raftstore/leadership"
)

const (
	// maxProposals bounds the proposals in Raft's hands; further ones wait.
	maxProposals = 4096
	// queueWait bounds how long a request itself waits for room in Raft's queue, which takes maxAppendEntries.
	queueWait = time.Millisecond
)

// propose takes a command to the log of this node, which should be the leader, and waits for its outcome. Ctx bounds the
// wait, whatever Raft or the disk does.
func (s *Store) propose(ctx context.Context, c *command) result {
	e, _ := s.leaders.Current()
	if e == nil {
		return notLeader(ErrNotLeader)
	}
	if c.pins {
		return s.apply(ctx, c.data, func() {})
	}
	if err := s.shortage.Refuse(c.frees); err != nil {
		return notApplied(err)
	}
	// Derived from a version that this node hasn't applied yet, though it may be committed.
	if err := s.reader.Await(ctx, c.Version); err != nil {
		return notApplied(err)
	}
	for {
		w, err := s.latches.enter(c, c.refusal(s.root()))
		if err != nil {
			return notApplied(fmt.Errorf("wait for a write to the same object: %w", err))
		}
		leave := func() { s.latches.leave(w, s.root) }
		if err := s.latches.wait(ctx, e, w); err != nil {
			leave()
			return s.unconfirmed(fmt.Errorf("wait for a write to the same object: %w", err))
		}
		r, decided := s.precheck(ctx, c)
		if !decided && w.holds {
			return s.apply(ctx, c.data, leave)
		}
		if r.outcome == peerpb.Outcome_REFUSED && w.released != nil {
			r = s.delayConflict(ctx, e, w, r)
		}
		leave()
		if decided {
			return r
		}
	}
}

// delayConflict delays a proven conflict until it is released. The conflict is then with the newest
// state, which refuses the write too, since a replaced version never returns: a retry from that state
// has the best chance.
func (s *Store) delayConflict(ctx context.Context, e *leadership.Epoch, w *waiter, r result) result {
	s.latches.delayConflict(ctx, e, w)
	root := s.root()
	if refusal := w.c.refusal(root); refusal != nil {
		return refused(root.Index(), refusal)
	}
	return r
}

// precheck decides what needs no log entry: a command that a state proves hopeless. That state must be one that was current
// during the request, or a deposed leader would answer from the past; so the proof is repeated on a confirmed state.
func (s *Store) precheck(ctx context.Context, c *command) (r result, decided bool) {
	if c.refusal(s.root()) == nil {
		return result{}, false
	}
	index, err := s.reader.Confirm(ctx)
	if err != nil {
		return s.unconfirmed(err), true
	}
	if err := s.reader.Await(ctx, index); err != nil {
		return notApplied(err), true
	}
	root := s.root()
	if refusal := c.refusal(root); refusal != nil {
		s.metrics.prechecked.Inc()
		return refused(root.Index(), refusal), true
	}
	return result{}, false
}

func (s *Store) unconfirmed(err error) result {
	if errors.Is(err, ErrNotLeader) {
		return notLeader(err)
	}
	return notApplied(err)
}

// apply proposes an entry. Release is called once Raft has let go of it, which may be after apply has returned: until then
// nothing is known, and a later write to the same object could only fail.
func (s *Store) apply(ctx context.Context, data []byte, release func()) result {
	select {
	case s.slots <- struct{}{}:
	case <-s.life.Closing():
		release()
		return notApplied(ErrClosed)
	case <-ctx.Done():
		release()
		s.metrics.proposalsFull.Inc()
		return notApplied(fmt.Errorf("wait for earlier proposals: %w", ctx.Err()))
	}
	if !s.life.StartTask() {
		<-s.slots
		release()
		return notApplied(ErrClosed)
	}
	done := make(chan result, 1)
	start := time.Now()
	// gofail: var proposeBefore struct{}
	queued := s.raft.Apply(data, queueWait) // by the request, so that Raft begins before the goroutine does
	go func() {
		defer s.life.EndTask()
		r := s.resultOf(queued)
		if errors.Is(r.err, raft.ErrEnqueueTimeout) {
			r = s.resultOf(s.raft.Apply(data, remaining(ctx)))
		}
		// gofail: var proposeAfter struct{}
		<-s.slots
		release()
		s.metrics.proposed(time.Since(start))
		done <- r
	}()
	select {
	case r := <-done:
		return r
	case <-ctx.Done():
		select {
		case r := <-done: // at the same moment
			return r
		default:
		}
		s.metrics.abandoned.Inc()
		return unknown(fmt.Errorf("wait for the outcome: %w", ctx.Err()))
	}
}

// commitInit proposes an entry that changes nothing but the cluster's id, the first time, and returns
// nil when this node has applied it.
func (s *Store) commitInit(ctx context.Context) error {
	id := s.ClusterID()
	if id == "" {
		id = rand.Text()
	}
	data, err := proto.Marshal(&logpb.Entry{
		Format: entryFormat, TimeUnixNano: time.Now().UnixNano(),
		Op: &logpb.Entry_Init{Init: &logpb.Init{ClusterId: id}},
	})
	if err != nil {
		return fmt.Errorf("encode init entry: %w", err)
	}
	return s.apply(ctx, data, func() {}).asError()
}

// remaining is how long Raft may take to accept a proposal: 0 for no limit.
func remaining(ctx context.Context) time.Duration {
	deadline, ok := ctx.Deadline()
	if !ok {
		return 0
	}
	return max(time.Until(deadline), time.Millisecond)
}

// resultOf waits for a proposal's future.
func (s *Store) resultOf(f raft.ApplyFuture) result {
	err := f.Error()
	if err == nil {
		refusal := refusalIn(f.Response())
		if _, ended := errors.AsType[*fsm.Unknown](refusal); ended {
			return unknown(refusal) // committed, and this node won't see what comes of it
		}
		if refusal != nil {
			return refused(f.Index(), refusal)
		}
		return applied(f.Index())
	}
	if errors.Is(err, raft.ErrLeadershipTransferInProgress) {
		s.leadership.RefusedByTransfer()
	}
	return ofRaft(err)
}

// respond is the answer to a peer that forwarded a write.
func (r result) respond(leader string) *peerpb.WriteResponse {
	resp := &peerpb.WriteResponse{Outcome: r.outcome, Index: r.index, Leader: leader}
	if r.err != nil {
		resp.Message = r.err.Error()
	}
	if full, ok := errors.AsType[*FullError](r.err); ok {
		resp.Full = full.Nodes
	}
	return resp
}
