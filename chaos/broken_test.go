package chaos_test

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"time"

	"quorate/chaos"
	"quorate/chaos/check"
	"quorate/chaos/failpoint"
	"quorate/chaos/nemesis"
	"quorate/chaos/nodes"
)

// catchTimeout limits the search for a broken promise.
const catchTimeout = 3 * time.Minute

// brokenPatience limits the wait for a server that breaks its promises, because some results may
// never come.
const brokenPatience = 10 * time.Second

// TestBrokenRulesAreCaught checks that the checkers can fail: runs that find nothing wrong with
// Quorate must find a server that breaks a single rule.
func TestBrokenRulesAreCaught(t *testing.T) {
	if testing.Short() {
		t.Skip("builds servers and runs clusters for minutes")
	}
	surroundings(t)
	binary := buildTestServer(t)
	for _, tc := range []struct {
		rule, point, terms string
		nodes              int // number of nodes that break the rule
		faults             []string
		caught             []check.Promise // at least one of these must be found broken
	}{
		{
			"a write is acknowledged when it is on the disk", "breakSkipSync", failpoint.Break, 3,
			[]string{"lose-unsynced-all"}, []check.Promise{check.NoLoss, check.Linearizable},
		},
		{
			"a quorum read asks who leads", "breakReadIndex", failpoint.Break, 3,
			[]string{"isolate-follower"}, []check.Promise{check.Linearizable},
		},
		{
			"watchers get every event", "breakDropEvent", "1.0%" + failpoint.Break, 1,
			[]string{"kill-follower"}, []check.Promise{check.WatchAll},
		},
		{
			"no two writes have one version", "breakReuseVersion", "10.0%" + failpoint.Break, 3,
			[]string{"kill-follower"}, []check.Promise{check.Versions, check.Effects, check.WatchOrder},
		},
		{
			"a write of unknown outcome is not sent again", "breakApplyTwice", failpoint.Break, 3,
			[]string{"pause-leader", "isolate-leader"}, []check.Promise{check.Effects, check.Linearizable, check.Answers},
		},
	} {
		t.Run(tc.point, func(t *testing.T) {
			t.Parallel() // these tests mostly wait
			b := startBroken(t, binary)
			for _, node := range b.Nodes()[:tc.nodes] {
				if err := b.Arm(t.Context(), node.Name, tc.point, tc.terms); err != nil {
					t.Fatal(err)
				}
			}
			began := time.Now()
			found := b.runUntilCaught(t, tc.faults)
			i := slices.IndexFunc(found, func(f check.Finding) bool { return slices.Contains(tc.caught, f.Promise) })
			if i < 0 {
				t.Fatalf("%s: caught by %v, want one of %v", tc.rule, found, tc.caught)
			}
			t.Logf("%s: broken, and caught after %s, %d times: %s: %s",
				tc.rule, time.Since(began).Round(time.Second), found[i].Count, found[i].Promise, found[i].Samples[0])
		})
	}
}

// broken is a cluster of a build whose rules can be broken.
type broken struct {
	*nodes.Processes
	chaos.Config
}

func startBroken(t *testing.T, binary string) *broken {
	t.Helper()
	fleet := newFleet(t, nodes.ProcessesConfig{Binary: binary, Count: 3, Network: true, Disks: true, TestBuild: true, Seed: seed})
	starting, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	credentials, err := fleet.StartAll(starting)
	if err != nil {
		t.Fatal(err)
	}
	return &broken{fleet, chaos.Config{
		Fleet: fleet, Credentials: credentials, Load: load, Calm: calm, Patience: brokenPatience,
		Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	}}
}

// runUntilCaught executes runs with the faults until a promise is found broken, and returns the
// findings.
func (b *broken) runUntilCaught(t *testing.T, names []string) (found []check.Finding) {
	t.Helper()
	faults, err := nemesis.Named(names...)
	if err != nil {
		t.Fatal(err)
	}
	for deadline, round := time.Now().Add(catchTimeout), uint64(seed); time.Now().Before(deadline); round++ {
		c := b.Config
		c.Phases = chaos.Alone(faults, 1, round)
		report, err := chaos.Run(t.Context(), c)
		for _, p := range report.Phases {
			found = slices.AppendSeq(found, p.Broken())
		}
		if len(found) > 0 {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Fatalf("no promise was broken within %s", catchTimeout)
	return nil
}
