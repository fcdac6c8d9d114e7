package chaos_test

import (
	"context"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"quorate/chaos"
	"quorate/chaos/client"
	"quorate/chaos/nemesis"
	"quorate/chaos/nodes"
)

// seed makes the order of the faults repeatable; another is as good.
const seed = 1

// startTimeout bounds how long three nodes may take to form a cluster on a busy machine.
const startTimeout = time.Minute

// TestProcesses kills real processes with SIGKILL under load: the promise of the README that nothing acknowledged is lost.
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
	hurt(t, fleet, credentials)
}

// newProcesses returns three nodes that run as processes once they are started, and end with the test.
func newProcesses(t *testing.T, binary string, flags ...string) *nodes.Processes {
	t.Helper()
	fleet, err := nodes.NewProcesses(binary, t.TempDir(), 3, flags...)
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

// hurt lets each fault strike the cluster once and fails the test unless the run was made and every promise held.
func hurt(t *testing.T, fleet nodes.Fleet, credentials client.Credentials) {
	t.Helper()
	report, err := chaos.Run(t.Context(), chaos.Config{
		Fleet: fleet, Credentials: credentials, Seed: seed, Rounds: 1, Faults: nemesis.Faults(), Calm: 200,
		Writers: 6, Readers: 2, Watchers: 6, Keys: 10, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := report.Write(t.Output()); err != nil {
		t.Fatal(err)
	}
	if !report.OK() {
		t.Error("a promise was broken")
	}
}

// buildServer builds the binary as it ships.
func buildServer(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "quorate")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "quorate/cmd/quorate")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the server: %v\n%s", err, out)
	}
	return binary
}

// logTail is how many of the last lines of a failed node's log are shown.
const logTail = 60

func showLogs(t *testing.T, fleet *nodes.Processes) {
	for _, node := range fleet.Nodes() {
		text, err := os.ReadFile(fleet.LogFile(node.Name))
		if err != nil {
			t.Log(err)
			continue
		}
		lines := strings.Split(string(text), "\n")
		t.Logf("the end of %s's log:\n%s", node.Name, strings.Join(lines[max(0, len(lines)-logTail):], "\n"))
	}
}
