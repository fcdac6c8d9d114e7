package chaos_test

import (
	"encoding/json"
	"strings"
	"testing"

	"quorate/chaos"
	"quorate/chaos/check"
	"quorate/chaos/nemesis"
)

// TestReportOutcome checks that a report says Held only of a run that is complete, injected a fault
// and found no violation.
func TestReportOutcome(t *testing.T) {
	phase := func(change ...func(*chaos.PhaseReport)) *chaos.PhaseReport {
		p := &chaos.PhaseReport{
			Phase: "kill-all", Injections: []nemesis.Record{{Fault: "kill-all"}},
			Verdict: &check.Verdict{Linearizable: check.Yes, Findings: []check.Finding{{Promise: check.NoLoss}}},
		}
		for _, do := range change {
			do(p)
		}
		return p
	}
	broken := func(p *chaos.PhaseReport) {
		p.Verdict.Findings[0] = check.Finding{Promise: check.NoLoss, Count: 1, Samples: []string{"it is gone"}}
	}
	for name, c := range map[string]struct {
		report chaos.Report
		want   chaos.Outcome
		says   string // its last line
	}{
		"all held":          {chaos.Report{Phases: []*chaos.PhaseReport{phase(), phase()}}, chaos.Held, "every promise held"},
		"nothing was begun": {chaos.Report{}, chaos.NotInjected, "no fault was injected"},
		"no fault injected": {
			chaos.Report{Phases: []*chaos.PhaseReport{phase(func(p *chaos.PhaseReport) { p.Injections = nil })}}, chaos.NotInjected, "no fault was injected",
		},
		"one of two injected": {
			chaos.Report{Phases: []*chaos.PhaseReport{phase(func(p *chaos.PhaseReport) { p.Injections = nil }), phase()}}, chaos.Held, "every promise held",
		},
		"broken off": {
			chaos.Report{Incomplete: "interrupt", Phases: []*chaos.PhaseReport{phase()}}, chaos.Undecided, "none, since the run did not come to its end",
		},
		"broken off after a finding": {
			chaos.Report{Incomplete: "interrupt", Phases: []*chaos.PhaseReport{phase(broken), phase()}}, chaos.Broken, "BROKEN in 1 of 2",
		},
		"a promise was broken": {chaos.Report{Phases: []*chaos.PhaseReport{phase(), phase(broken)}}, chaos.Broken, "BROKEN in 1 of 2"},
		"not recovered": {
			chaos.Report{Phases: []*chaos.PhaseReport{phase(func(p *chaos.PhaseReport) { p.NotRecovered = "not ready" })}}, chaos.Broken, "BROKEN in 1 of 1",
		},
		"a node ended": {
			chaos.Report{Phases: []*chaos.PhaseReport{phase(func(p *chaos.PhaseReport) { p.Ended = []nemesis.Ended{{Node: "n1"}} })}},
			chaos.Broken, "BROKEN in 1 of 1",
		},
		"not all was judged": {
			chaos.Report{Phases: []*chaos.PhaseReport{phase(), phase(func(p *chaos.PhaseReport) { p.Verdict.Unjudged = 1 })}},
			chaos.Undecided, "undecided in 1 of 2",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.report.Outcome(); got != c.want || c.report.OK() != (got == chaos.Held) {
				t.Errorf("outcome %q, want %q", got, c.want)
			}
			var text strings.Builder
			if err := c.report.Write(&text); err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(strings.TrimSpace(text.String()), "\n")
			if last := lines[len(lines)-1]; !strings.Contains(last, c.says) {
				t.Errorf("it says %q, want %q in it", last, c.says)
			}
			encoded, err := json.Marshal(&c.report)
			if want := `{"outcome":"` + string(c.want) + `"`; err != nil || !strings.HasPrefix(string(encoded), want) {
				t.Errorf("%s, %v; want it to begin with %s", encoded, err, want)
			}
		})
	}
}
