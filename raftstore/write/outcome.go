package write

import (
	"errors"
	"fmt"

	"github.com/hashicorp/raft"

	"quorate/proto/peerpb"
	"quorate/raftstore/failure"
	"quorate/raftstore/forward"
)

// result is the outcome of a write. Nothing in doubt counts as not applied.
type result struct {
	outcome peerpb.Outcome
	index   uint64 // of the entry that was applied or refused, or of the state that refused the write before
	err     error  // nil when APPLIED; the refusal when REFUSED; otherwise the reason
}

func applied(index uint64) result { return result{outcome: peerpb.Outcome_APPLIED, index: index} }

func refused(index uint64, refusal error) result {
	return result{outcome: peerpb.Outcome_REFUSED, index: index, err: refusal}
}

// notApplied: the entry is surely in no log, so the write may be retried.
func notApplied(err error) result { return result{outcome: peerpb.Outcome_NOT_APPLIED, err: err} }

// notLeader: as notApplied, because this node does not lead.
func notLeader(err error) result { return result{outcome: peerpb.Outcome_NOT_LEADER, err: err} }

// unknown: the write may still be applied, and must not be retried.
func unknown(err error) result { return result{outcome: peerpb.Outcome_UNKNOWN, err: err} }

// final reports whether a retry of a write that was not applied is pointless for now.
func (r result) final() bool {
	_, full := errors.AsType[*failure.FullError](r.err)
	return full || errors.Is(r.err, failure.ErrClosed) || errors.Is(r.err, failure.ErrTooLarge)
}

// asError returns the result as the store's callers see it.
func (r result) asError() error {
	switch r.outcome {
	case peerpb.Outcome_APPLIED:
		return nil
	case peerpb.Outcome_REFUSED:
		return r.err
	case peerpb.Outcome_NOT_APPLIED, peerpb.Outcome_NOT_LEADER:
		if r.final() {
			return r.err
		}
		return fmt.Errorf("%w: %w", failure.ErrUnavailable, r.err)
	default:
		return fmt.Errorf("%w: %w", failure.ErrUnknownOutcome, r.err)
	}
}

// ofRaft returns the outcome of a proposal that failed. Only the errors that the library returns
// before it appends the entry mean "not applied": after ErrLeadershipLost or a failed disk write a
// log may have the entry, and on shutdown the entry may be committed.
func ofRaft(err error) result {
	switch {
	case errors.Is(err, raft.ErrNotLeader):
		return notLeader(failure.ErrNotLeader)
	case errors.Is(err, raft.ErrLeadershipTransferInProgress), errors.Is(err, raft.ErrEnqueueTimeout):
		return notApplied(err)
	default:
		return unknown(err)
	}
}

// outcomeOf returns the outcome of the command that a leader responded to.
func (c *command) outcomeOf(leader string, resp *peerpb.WriteResponse) result {
	switch resp.GetOutcome() {
	case peerpb.Outcome_APPLIED:
		return applied(resp.GetIndex())
	case peerpb.Outcome_REFUSED:
		if refusal := forward.Decode(resp.GetRefusal(), &c.Precondition); refusal != nil {
			return refused(resp.GetIndex(), refusal)
		}
		return unknown(fmt.Errorf("leader %s refused for a reason unknown here: %s", leader, resp.GetMessage()))
	case peerpb.Outcome_NOT_APPLIED:
		if full := resp.GetFull(); len(full) > 0 {
			return notApplied(&failure.FullError{Nodes: full})
		}
		return notApplied(fmt.Errorf("leader %s: %s", leader, resp.GetMessage()))
	case peerpb.Outcome_NOT_LEADER:
		return notLeader(fmt.Errorf("%s is not the leader", leader))
	default:
		return unknown(fmt.Errorf("leader %s: %s", leader, resp.GetMessage()))
	}
}

// response returns the result as nodes send it to each other, without the leader's name.
func (r result) response() *peerpb.WriteResponse {
	resp := &peerpb.WriteResponse{Outcome: r.outcome, Index: r.index}
	if r.err != nil {
		resp.Message = r.err.Error()
	}
	if r.outcome == peerpb.Outcome_REFUSED {
		resp.Refusal = forward.Encode(r.err)
	}
	if full, ok := errors.AsType[*failure.FullError](r.err); ok {
		resp.Full = full.Nodes
	}
	return resp
}
