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

// seed makes the order of the faults reproducible. Its value has no meaning.
const seed = 1

// load configures the clients in tests, so that a small machine has time left for elections.
var load = workload.Config{Clients: 60, Listers: 2, Pagers: 2, CachedReaders: 4, Watchers: 6, Rate: 400}

// mixture configures the mixture that runs beside the load where processes are killed.
var mixture = chaos.MixtureConfig{Watches: 120, Rate: 60}

// calm is the number of acknowledged writes that proves that writes continue. It exceeds the number
// of clients.
const calm = 100

// startTimeout limits the time in which three nodes form a cluster on a busy machine.
const startTimeout = time.Minute

// TestProcesses kills real processes with SIGKILL under load and checks that no acknowledged write
// is lost, as docs/guarantees.md promises.
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

// newProcesses returns three nodes that run as processes when started. They end with the test.
func newProcesses(t *testing.T, binary string, flags ...string) *nodes.Processes {
	t.Helper()
	return newFleet(t, nodes.ProcessesConfig{Binary: binary, Count: 3, Flags: flags})
}

// newFleet returns nodes in a temporary directory of the test. They end with the test.
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

// mustHold fails the test unless the run completes and all promises hold.
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

// surroundings requires a virtual network and disks with faults, and skips the test on machines
// without them.
func surroundings(t *testing.T) {
	t.Helper()
	capability.Require(t, network.Available())
	capability.Require(t, disk.Available())
}

// mixTime is the duration of the mix in this short run. Before each release a long run takes an
// hour.
const mixTime = time.Minute

// TestMixedFaults runs all available faults, overlapping, on nodes with their own disks, clocks and
// network.
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

// logTail is the number of log lines that are printed of a failed node.
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
