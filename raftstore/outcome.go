package raftstore

import (
	"errors"
	"fmt"

	"github.com/hashicorp/raft"

	"quorate/proto/peerpb"
)

// result is what became of a write. Exactly one of four things, and nothing in doubt counts as not applied.
type result struct {
	outcome peerpb.Outcome
	index   uint64 // of the entry, when APPLIED or REFUSED by it; of the state that proved it, when refused before
	err     error  // the refusal when REFUSED; why, otherwise; nil when APPLIED
}

func applied(index uint64) result { return result{outcome: peerpb.Outcome_APPLIED, index: index} }

func refused(index uint64, refusal error) result {
	return result{outcome: peerpb.Outcome_REFUSED, index: index, err: refusal}
}

// notApplied: surely never in the log, so it may be sent again.
func notApplied(err error) result { return result{outcome: peerpb.Outcome_NOT_APPLIED, err: err} }

// notLeader: as notApplied, for want of a leader here.
func notLeader(err error) result { return result{outcome: peerpb.Outcome_NOT_LEADER, err: err} }

// unknown: it may still be applied, and must not be sent again.
func unknown(err error) result { return result{outcome: peerpb.Outcome_UNKNOWN, err: err} }

// final says of what was not applied that another attempt would have no other outcome soon.
func (r result) final() bool {
	_, full := errors.AsType[*FullError](r.err)
	return full || errors.Is(r.err, ErrClosed) || errors.Is(r.err, ErrTooLarge)
}

// asError is the result as callers of the store see it.
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
		return fmt.Errorf("%w: %w", ErrUnavailable, r.err)
	default:
		return fmt.Errorf("%w: %w", ErrUnknownOutcome, r.err)
	}
}

// ofRaft judges the error of a proposal. Only what the library says before it has appended the entry is "not applied": after
// ErrLeadershipLost or a failed disk write the entry may be in somebody's log, and on shutdown it may be committed.
func ofRaft(err error) result {
	switch {
	case errors.Is(err, raft.ErrNotLeader):
		return notLeader(ErrNotLeader)
	case errors.Is(err, raft.ErrLeadershipTransferInProgress), errors.Is(err, raft.ErrEnqueueTimeout):
		return notApplied(err)
	default:
		return unknown(err)
	}
}
