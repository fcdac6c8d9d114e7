package raftstore

import (
	"errors"
	"testing"

	"github.com/hashicorp/raft"

	"quorate/proto/peerpb"
)

// TestOutcomeOfRaftErrors: a write is sent again only if its entry never entered a log.
func TestOutcomeOfRaftErrors(t *testing.T) {
	for _, tc := range []struct {
		err     error
		outcome peerpb.Outcome
		want    error
	}{
		{raft.ErrNotLeader, peerpb.Outcome_NOT_LEADER, ErrUnavailable},
		{raft.ErrLeadershipTransferInProgress, peerpb.Outcome_NOT_APPLIED, ErrUnavailable},
		{raft.ErrEnqueueTimeout, peerpb.Outcome_NOT_APPLIED, ErrUnavailable},
		{raft.ErrLeadershipLost, peerpb.Outcome_UNKNOWN, ErrUnknownOutcome},
		{raft.ErrAbortedByRestore, peerpb.Outcome_UNKNOWN, ErrUnknownOutcome},
		{raft.ErrRaftShutdown, peerpb.Outcome_UNKNOWN, ErrUnknownOutcome},
		{errors.New("input/output error"), peerpb.Outcome_UNKNOWN, ErrUnknownOutcome},
	} {
		r := ofRaft(tc.err)
		if r.outcome != tc.outcome || !errors.Is(r.asError(), tc.want) || r.final() {
			t.Errorf("%v: %v, %v, final: %v", tc.err, r.outcome, r.asError(), r.final())
		}
	}
}
