package check_test

import (
	"testing"
	"time"

	"quorate/chaos/check"
	"quorate/chaos/history"
)

// TestExpiryNeedsACause checks that a refused position or list state is a finding unless an earlier
// fault of that node, or of all nodes, explains it.
func TestExpiryNeedsACause(t *testing.T) {
	told := history.Expiry{Node: "n2", At: 5 * time.Second, Text: "410"}
	for name, c := range map[string]struct {
		excuses []check.Excuse
		found   int
	}{
		"no fault":                    {nil, 1},
		"a fault of that node":        {[]check.Excuse{{Node: "n2", From: 4 * time.Second}}, 0},
		"a later fault of that node":  {[]check.Excuse{{Node: "n2", From: 6 * time.Second}}, 1},
		"a fault of another node":     {[]check.Excuse{{Node: "n1", From: 4 * time.Second}}, 1},
		"it concerns all nodes":       {[]check.Excuse{{From: 5 * time.Second}}, 0},
		"another node, then this one": {[]check.Excuse{{Node: "n1"}, {Node: "n2"}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			lists := history.Record{Expired: []history.Expiry{told}}
			if n := count(check.All(t.Context(), &lists, check.Options{ExpiredLists: c.excuses}), check.WatchResume); n != c.found {
				t.Errorf("a list: %d findings, want %d", n, c.found)
			}
			watches := history.Record{Watches: []history.Watch{{Client: 1, Expired: &told}, {Client: 1}}}
			if n := count(check.All(t.Context(), &watches, check.Options{ExpiredPositions: c.excuses}), check.WatchResume); n != c.found {
				t.Errorf("a watch: %d findings, want %d", n, c.found)
			}
			if n := count(check.All(t.Context(), &watches, check.Options{ExpiredLists: c.excuses}), check.WatchResume); n != 1 {
				t.Errorf("a watch with the excuse of a list: %d findings", n)
			}
		})
	}
}
