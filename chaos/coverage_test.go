package chaos_test

import (
	"strings"
	"testing"

	"quorate/chaos"
	"quorate/chaos/check"
	"quorate/chaos/nemesis"
)

// TestReportListsMissedFaults checks that the report lists faults that were never injected and
// those that are unavailable, and counts idle phases.
func TestReportListsMissedFaults(t *testing.T) {
	right := &check.Verdict{Linearizable: check.Yes, Findings: []check.Finding{{Promise: check.NoLoss}}}
	wrong := &check.Verdict{Linearizable: check.Yes, Findings: []check.Finding{{Promise: check.IdleReads, Count: 2, Samples: []string{"get on n1: 503"}}}}
	idle := func(v *check.Verdict) *chaos.PhaseReport {
		return &chaos.PhaseReport{
			Phase: "idle-operator", Planned: []string{"members", "backup"}, Injections: []nemesis.Record{{Fault: "members"}}, Verdict: v,
			Idle: &chaos.IdleReport{IdleCounts: check.IdleCounts{Reads: 100, Excused: 3}, Acts: 1, Entries: 4},
		}
	}
	working := &chaos.PhaseReport{
		Phase: "mixed 1", Planned: []string{"kill-all", "bridge", "split"}, Injections: []nemesis.Record{{Fault: "kill-all"}}, Verdict: right,
	}
	for name, c := range map[string]struct {
		report chaos.Report
		want   chaos.Outcome
		says   []string
	}{
		"some never injected": {
			chaos.Report{Phases: []*chaos.PhaseReport{working}}, chaos.Held,
			[]string{"faults: 1 injected, 2 never injected, 0 not possible here", "never injected, because there was no target or no time: bridge, split\n", "idle phases 0"},
		},
		"some not possible": {
			chaos.Report{Phases: []*chaos.PhaseReport{working}, Unavailable: []nemesis.Unavailable{{Name: "disk-full", Why: "needs disks that go wrong"}}},
			chaos.Held, []string{"1 not possible here", "skipped: disk-full: needs disks that go wrong\n"},
		},
		"an idle phase": {
			chaos.Report{Phases: []*chaos.PhaseReport{working, idle(right)}}, chaos.Held,
			[]string{"idle phases 1: 1 acts, 100 reads, 3 failed reads explained by acts, 0 findings", "reads alone: 1 acts, 4 entries in between", "linearizable in 1 of 1 phases"},
		},
		"reads of an idle cluster failed": {
			chaos.Report{Phases: []*chaos.PhaseReport{idle(wrong)}}, chaos.Broken, []string{"2 findings", "BROKEN, 2 times", "get on n1: 503"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var text strings.Builder
			if err := c.report.Write(&text); err != nil {
				t.Fatal(err)
			}
			if got := c.report.Outcome(); got != c.want {
				t.Errorf("outcome %s, want %s", got, c.want)
			}
			for _, want := range c.says {
				if !strings.Contains(text.String(), want) {
					t.Errorf("it does not say %q:\n%s", want, text.String())
				}
			}
		})
	}
}

// TestReportShowsBounds checks that the report shows the longest outage with its bound, for the
// node that came nearest to its bound.
func TestReportShowsBounds(t *testing.T) {
	const second = 1_000_000_000
	report := chaos.Report{Phases: []*chaos.PhaseReport{{Phase: "kill-leader", Injections: []nemesis.Record{{Fault: "kill-leader"}}, Verdict: &check.Verdict{
		Linearizable: check.Yes, Refusals: []check.Refusal{
			{Service: check.Writes, Longest: 3.1 * second, Allowed: 12 * second},
			{Service: check.QuorumReads, Node: "n1", Longest: 9 * second, Allowed: 26 * second},
			{Service: check.QuorumReads, Node: "n2", Longest: 8 * second, Allowed: 12 * second},
		},
	}}}}
	var text strings.Builder
	if err := report.Write(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"3.1s of 12s", "8s of 12s (n2)", "longest without a write 3.1s of 12s"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, text.String())
		}
	}
}
