package chaos

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"quorate/chaos/check"
	"quorate/chaos/client"
	"quorate/chaos/history"
	"quorate/chaos/nemesis"
)

// TestInterruptedJudgementReportsFindings checks that a run which is interrupted while a phase is
// judged reports the findings made until then, and no report of the phase if there are none.
func TestInterruptedJudgementReportsFindings(t *testing.T) {
	brokenOff, cancel := context.WithCancel(t.Context())
	cancel()
	right := history.Record{
		Start: 1, End: 2, Ops: []history.Op{{
			Kind: history.Create, Client: 1, Key: "a", Value: "1/1", Invoked: 1, Answered: 2 * time.Second,
			Outcome: client.OK, Got: history.Item{Key: "a", UID: "u", Version: 2, Value: "1/1"},
		}},
		Watches:   []history.Watch{{Client: 2, After: 1, Reached: 2, Events: []history.Event{{Type: "ADDED", Arrived: time.Second}}}},
		Finals:    []history.Final{{Node: "n1", Version: 2}},
		Checksums: client.Checksums{Nodes: []client.Checksum{{Name: "n1", Checksum: "s"}}},
	}
	right.Watches[0].Events[0].Item = right.Ops[0].Got
	right.Finals[0].Items = []history.Item{right.Ops[0].Got}
	lost := right
	lost.Finals = []history.Final{{Node: "n1", Version: 2}}
	for name, c := range map[string]struct {
		ctx      context.Context
		record   history.Record
		change   func(*PhaseReport)
		cutShort bool
	}{
		"to the end":               {t.Context(), right, nil, false},
		"nothing was found":        {brokenOff, right, nil, true},
		"a write is lost":          {brokenOff, lost, nil, false},
		"the cluster is not whole": {brokenOff, right, func(p *PhaseReport) { p.NotRecovered = "n1 is not ready" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			report := &PhaseReport{Injections: []nemesis.Record{{}}, Verdict: check.All(c.ctx, &c.record, check.Options{})}
			if c.change != nil {
				c.change(report)
			}
			if got := report.cutShort(); got != c.cutShort {
				t.Errorf("%v, want %v: %s, %+v", got, c.cutShort, report.Outcome(), report.Verdict)
			}
		})
	}
}

// TestNoWritesBeforeTheFirstFault checks that a cluster which accepts no writes before the first
// fault is a finding, and not an error of the run.
func TestNoWritesBeforeTheFirstFault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &running{phase: Phase{Name: "kill-all", Rounds: 1}}
		err := p.hurt(t.Context(), &nemesis.Nemesis{Writing: func() int { return 0 }, Calm: 1})
		if _, found := errors.AsType[*nemesis.NotRecovered](err); !found {
			t.Error(err)
		}
	})
}
