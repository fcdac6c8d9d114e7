package write

import (
	"errors"
	"fmt"

	"github.com/hashicorp/raft"

	"quorate/proto/peerpb"
	"quorate/raftstore/failure"
	"quorate/raftstore/forward"
)

// result is the outcome of a write. If in doubt, the outcome is unknown.
type result struct {
	outcome peerpb.Outcome
	index   uint64 // of the entry that was applied or refused, or of the state by which the leader refused the write
	err     error  // nil if APPLIED; the refusal if REFUSED; otherwise the reason
}

func applied(index uint64) result { return result{outcome: peerpb.Outcome_APPLIED, index: index} }

func refused(index uint64, refusal error) result {
	return result{outcome: peerpb.Outcome_REFUSED, index: index, err: refusal}
}

// notApplied returns the result of a write whose entry is certainly in no log, so that it may be
// retried.
func notApplied(err error) result { return result{outcome: peerpb.Outcome_NOT_APPLIED, err: err} }

// notLeader is notApplied for a node that does not lead.
func notLeader(err error) result { return result{outcome: peerpb.Outcome_NOT_LEADER, err: err} }

// unknown returns the result of a write that may still be applied, so that it must not be retried.
func unknown(err error) result { return result{outcome: peerpb.Outcome_UNKNOWN, err: err} }

// final reports that a write was not applied and that a retry would currently fail as well.
func (r result) final() bool {
	_, full := errors.AsType[*failure.FullError](r.err)
	_, quota := errors.AsType[*failure.QuotaError](r.err)
	_, leaderless := errors.AsType[*failure.NoLeaderError](r.err)
	return full || quota || leaderless || errors.Is(r.err, failure.ErrClosed) || errors.Is(r.err, failure.ErrTooLarge)
}

// asError returns the result as an error for the store's callers.
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

// raftOutcome returns the outcome of a proposal for which Raft returned err. Only errors that the
// library returns before it appends the entry mean "not applied". After ErrLeadershipLost or a
// failed disk write, a log may have the entry; after a shutdown, the entry may even be committed.
func raftOutcome(err error) result {
	switch {
	case errors.Is(err, raft.ErrNotLeader):
		return notLeader(failure.ErrNotLeader)
	case errors.Is(err, raft.ErrLeadershipTransferInProgress), errors.Is(err, raft.ErrEnqueueTimeout):
		return notApplied(err)
	default:
		return unknown(err)
	}
}

// outcomeOf returns the outcome of the command from the leader's response.
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
		if q := resp.GetQuota(); q != nil {
			return notApplied(&failure.QuotaError{
				Resource: q.GetResource(), Namespace: q.GetNamespace(), Used: q.GetUsed(), Limit: q.GetLimit(),
			})
		}
		return notApplied(fmt.Errorf("leader %s: %s", leader, resp.GetMessage()))
	case peerpb.Outcome_NOT_LEADER:
		return notLeader(fmt.Errorf("%s is not the leader", leader))
	default:
		return unknown(fmt.Errorf("leader %s: %s", leader, resp.GetMessage()))
	}
}

// response returns the result as a message between nodes, without the leader's name.
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
	if q, ok := errors.AsType[*failure.QuotaError](r.err); ok {
		resp.Quota = &peerpb.Quota{Resource: q.Resource, Namespace: q.Namespace, Used: q.Used, Limit: q.Limit}
	}
	return resp
}
