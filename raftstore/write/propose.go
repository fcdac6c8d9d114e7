package write

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/raft"

	"quorate/proto/peerpb"
	"quorate/raftstore/failure"
	"quorate/raftstore/fsm"
)

const (
	// maxProposals bounds the proposals that Raft has at the same time; further ones wait.
	maxProposals = 4096
	// queueWait is how long a proposal, or a group of them, waits for a place in Raft's queue before
	// a goroutine of its own does.
	queueWait = time.Millisecond
)

// propose proposes a command on this node, which should be the leader, and waits for its outcome.
// ctx bounds the wait even if Raft or the disk hangs.
func (w *Writer) propose(ctx context.Context, c *command) result {
	e, _ := w.cfg.Leadership.Current()
	if e == nil {
		return notLeader(failure.ErrNotLeader)
	}
	if c.pins {
		return w.apply(ctx, c.data, func() {})
	}
	if err := w.cfg.Shortage.Admit(ctx, c.frees, len(c.data)); err != nil {
		return notApplied(err)
	}
	arrival := w.proof.mark()
	// This node may not have applied the version from which the write was derived.
	if err := w.cfg.Reader.Await(ctx, c.Version); err != nil {
		return notApplied(err)
	}
	for {
		place, err := w.latches.enter(c, c.refusal(w.cfg.Root()))
		if err != nil {
			return notApplied(fmt.Errorf("wait for a write to the same object: %w", err))
		}
		leave := func() { w.latches.leave(place, w.cfg.Root) }
		if err := w.latches.wait(ctx, e, place); err != nil {
			leave()
			return w.unconfirmed(fmt.Errorf("wait for a write to the same object: %w", err))
		}
		if place.released != nil {
			w.latches.delayConflict(ctx, e, place)
		}
		r, decided := w.precheck(ctx, c, arrival)
		if !decided && place.holds {
			return w.applyWithin(ctx, e, c, leave)
		}
		leave()
		if decided {
			return r
		}
	}
}

// precheck refuses a doomed command without a log entry. A deposed leader's state may be old, so
// precheck refuses only by a state that covers what was acknowledged before the command arrived: by
// the commit of a later proposal of this node, as for most writes to a contended object, or by a
// read index, which costs requests to other nodes.
func (w *Writer) precheck(ctx context.Context, c *command, arrival uint64) (r result, decided bool) {
	if c.refusal(w.cfg.Root()) == nil {
		return result{}, false
	}
	if !w.proof.coversSince(arrival) {
		index, err := w.cfg.Reader.Confirm(ctx)
		if err != nil {
			return w.unconfirmed(err), true
		}
		if err := w.cfg.Reader.Await(ctx, index); err != nil {
			return notApplied(err), true
		}
	}
	root := w.cfg.Root()
	if refusal := c.refusal(root); refusal != nil {
		w.metrics.prechecked.Inc()
		return refused(root.Index(), refusal), true
	}
	return result{}, false
}

func (w *Writer) unconfirmed(err error) result {
	if errors.Is(err, failure.ErrNotLeader) {
		return notLeader(err)
	}
	return notApplied(err)
}

// apply proposes an entry and returns its outcome. It calls release once the outcome is decided:
// when Raft has completed the proposal, which may be after apply has returned, or before apply
// returns if it proposes nothing. Before that, a write to the same object would most likely
// conflict.
func (w *Writer) apply(ctx context.Context, data []byte, release func()) result {
	select {
	case w.slots <- struct{}{}:
	case <-w.cfg.Lifecycle.Closing():
		release()
		return notApplied(failure.ErrClosed)
	case <-ctx.Done():
		release()
		w.metrics.proposalsFull.Inc()
		return notApplied(fmt.Errorf("wait for earlier proposals: %w", ctx.Err()))
	}
	if !w.cfg.Lifecycle.StartTask() {
		<-w.slots
		release()
		return notApplied(failure.ErrClosed)
	}
	done := make(chan result, 1)
	start := time.Now()
	number := w.proof.propose()
	// gofail: var proposeBefore struct{}
	w.groups.submit(func(wait time.Duration) func() {
		queued := w.cfg.Raft.Apply(data, wait)
		return func() {
			defer w.cfg.Lifecycle.EndTask()
			r := w.resultOf(queued)
			if errors.Is(r.err, raft.ErrEnqueueTimeout) {
				r = w.resultOf(w.cfg.Raft.Apply(data, remaining(ctx)))
			}
			// gofail: var proposeAfter struct{}
			<-w.slots
			if r.outcome == peerpb.Outcome_APPLIED || r.outcome == peerpb.Outcome_REFUSED {
				w.proof.commit(number) // before release, after which other writes are refused by this state
			}
			release()
			w.metrics.proposalSeconds.Observe(time.Since(start).Seconds())
			done <- r
			w.groups.decided()
		}
	})
	select {
	case r := <-done:
		return r
	case <-ctx.Done():
		select {
		case r := <-done: // the outcome arrived at the same time
			return r
		default:
		}
		w.metrics.abandoned.Inc()
		return unknown(fmt.Errorf("wait for the outcome: %w", ctx.Err()))
	}
}

// CommitInit proposes an Init entry, which sets the cluster's id the first time and changes nothing
// later. It returns nil once this node has applied the entry.
func (w *Writer) CommitInit(ctx context.Context) error {
	data, err := initEntry(w.cfg.Members.ClusterID())
	if err != nil {
		return err
	}
	return w.apply(ctx, data, func() {}).asError()
}

// remaining returns how long Raft may take to accept a proposal, 0 for no limit.
func remaining(ctx context.Context) time.Duration {
	deadline, ok := ctx.Deadline()
	if !ok {
		return 0
	}
	return max(time.Until(deadline), time.Millisecond)
}

// resultOf waits for a proposal's future and returns its outcome.
func (w *Writer) resultOf(f raft.ApplyFuture) result {
	err := f.Error()
	if err == nil {
		refusal := refusalIn(f.Response())
		if _, ended := errors.AsType[*fsm.Unknown](refusal); ended {
			return unknown(refusal) // the entry is committed, but this node can't apply it
		}
		if refusal != nil {
			return refused(f.Index(), refusal)
		}
		return applied(f.Index())
	}
	if errors.Is(err, raft.ErrLeadershipTransferInProgress) {
		w.cfg.Leadership.RefusedByTransfer()
	}
	return raftOutcome(err)
}

// refusalIn returns the refusal in a response of the state machine.
func refusalIn(response any) error {
	err, _ := response.(error)
	return err
}
