package chaos_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"quorate/chaos"
	"quorate/chaos/capability"
	"quorate/chaos/disk"
	"quorate/chaos/nemesis"
	"quorate/chaos/network"
	"quorate/chaos/nodes"
	"quorate/chaos/workload"
)

// seed makes the order of the faults repeatable; another is as good.
const seed = 1

// load is what clients do in tests: as much as leaves a small machine time for elections.
var load = workload.Config{Clients: 60, Listers: 2, Pagers: 2, CachedReaders: 4, Watchers: 6, Rate: 400}

// mixture is what runs beside the load where processes are killed.
var mixture = chaos.MixtureConfig{Watches: 120, Rate: 60}

// calm is how many writes are acknowledged before it's said that writes go on: more than there are
// clients.
const calm = 100

// startTimeout bounds how long three nodes may take to form a cluster on a busy machine.
const startTimeout = time.Minute

// TestProcesses kills real processes with SIGKILL under load: the promise of the README that
// nothing acknowledged is lost.
func TestProcesses(t *testing.T) {
	if testing.Short() {
		t.Skip("starts and kills three servers for half a minute")
	}
	fleet := newProcesses(t, buildServer(t))
	starting, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	credentials, err := fleet.StartAll(starting)
	if err != nil {
		t.Fatal(err)
	}
	faults, err := nemesis.Named("kill-leader", "kill-follower", "kill-all")
	if err != nil {
		t.Fatal(err)
	}
	mustHold(t, chaos.Config{Fleet: fleet, Credentials: credentials, Mixture: mixture, Phases: chaos.Alone(faults, 1, seed)})
}

// newProcesses returns three nodes that run as processes once they are started, and end with the
// test.
func newProcesses(t *testing.T, binary string, flags ...string) *nodes.Processes {
	t.Helper()
	return newFleet(t, nodes.ProcessesConfig{Binary: binary, Count: 3, Flags: flags})
}

// newFleet returns nodes below a folder of the test's, that end with it.
func newFleet(t *testing.T, c nodes.ProcessesConfig) *nodes.Processes {
	t.Helper()
	c.Dir = t.TempDir()
	fleet, err := nodes.NewProcesses(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := fleet.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			showLogs(t, fleet)
		}
	})
	return fleet
}

// mustHold fails the test unless the run was made and every promise held.
func mustHold(t *testing.T, c chaos.Config) {
	t.Helper()
	c.Seed, c.Load, c.Calm = seed, load, calm
	c.VisualizationDir, c.Log = t.ArtifactDir(), slog.New(slog.NewTextHandler(t.Output(), nil))
	report, err := chaos.Run(t.Context(), c)
	if written := report.Write(t.Output()); err != nil || written != nil {
		t.Fatal(errors.Join(err, written))
	}
	if !report.OK() {
		t.Error("a promise was broken")
	}
}

// surroundings are a network and disks that can be hurt. A machine without them can't run the test.
func surroundings(t *testing.T) {
	t.Helper()
	capability.Require(t, network.Available())
	capability.Require(t, disk.Available())
}

// mixTime is for how long the short run mixes faults; before each release a long one does for an
// hour.
const mixTime = time.Minute

// TestMixedFaults: every fault that can be had, overlapping, on nodes with disks, clocks and a
// network of their own.
func TestMixedFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a server and hurts a cluster for minutes")
	}
	surroundings(t)
	fleet := newFleet(t, nodes.ProcessesConfig{
		Binary: buildTestServer(t), Count: 3, Network: true, Disks: true, TestBuild: true, Seed: seed,
	})
	starting, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	credentials, err := fleet.StartAll(starting)
	if err != nil {
		t.Fatal(err)
	}
	faults, unavailable := nemesis.Possible(fleet)
	if len(unavailable) > 0 {
		t.Errorf("not to be had here: %v", unavailable)
	}
	mustHold(t, chaos.Config{Fleet: fleet, Credentials: credentials, Phases: chaos.Mixed(faults, mixTime, mixTime/2, seed)})
}

// logTail is how many of the last lines of a failed node's log are shown.
const logTail = 60

func showLogs(t *testing.T, fleet *nodes.Processes) {
	for _, node := range fleet.Nodes() {
		tail, err := fleet.LogTail(node.Name, logTail)
		if err != nil {
			t.Log(err)
		}
		t.Logf("the end of %s's log:\n%s", node.Name, tail)
	}
}
