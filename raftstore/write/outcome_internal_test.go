package write

import (
	"errors"
	"testing"

	"github.com/hashicorp/raft"

	"quorate/proto/peerpb"
	"quorate/raftstore/failure"
)

// A write is sent again only if its entry certainly never entered a log.
func TestOutcomeOfRaftErrors(t *testing.T) {
	for _, tc := range []struct {
		err     error
		outcome peerpb.Outcome
		want    error
	}{
		{raft.ErrNotLeader, peerpb.Outcome_NOT_LEADER, failure.ErrUnavailable},
		{raft.ErrLeadershipTransferInProgress, peerpb.Outcome_NOT_APPLIED, failure.ErrUnavailable},
		{raft.ErrEnqueueTimeout, peerpb.Outcome_NOT_APPLIED, failure.ErrUnavailable},
		{raft.ErrLeadershipLost, peerpb.Outcome_UNKNOWN, failure.ErrUnknownOutcome},
		{raft.ErrAbortedByRestore, peerpb.Outcome_UNKNOWN, failure.ErrUnknownOutcome},
		{raft.ErrRaftShutdown, peerpb.Outcome_UNKNOWN, failure.ErrUnknownOutcome},
		{errors.New("input/output error"), peerpb.Outcome_UNKNOWN, failure.ErrUnknownOutcome},
	} {
		r := raftOutcome(tc.err)
		if r.outcome != tc.outcome || !errors.Is(r.asError(), tc.want) || r.final() {
			t.Errorf("%v: %v, %v, final: %v", tc.err, r.outcome, r.asError(), r.final())
		}
	}
}
