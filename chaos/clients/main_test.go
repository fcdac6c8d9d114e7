package clients_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"quorate/chaos/nodes"
)

// binaries are built once for all tests.
var binaries struct{ kubectl, quorate string }

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "quorate-clients-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binaries.kubectl, binaries.quorate = filepath.Join(dir, "kubectl"), filepath.Join(dir, "quorate")
	for _, build := range [][]string{
		{"build", "-o", binaries.kubectl, "./kubectl"},
		{"build", "-C", "../..", "-o", binaries.quorate, "./cmd/quorate"},
	} {
		cmd := exec.Command("go", build...)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "go %s: %v\n%s", strings.Join(build, " "), err, out)
			return 1
		}
	}
	return m.Run()
}

// commandTimeout bounds one kubectl command, and the start of a cluster.
const commandTimeout = time.Minute

// cluster is a running cluster and a kubeconfig for it.
type cluster struct {
	*nodes.Processes
	kubeconfig string
	home       string // of kubectl, so that discovery caches are its own
}

// startCluster starts count nodes of the binary and waits until they are ready.
func startCluster(t *testing.T, binary string, count int) *cluster {
	t.Helper()
	dir := t.TempDir()
	fleet, err := nodes.NewProcesses(binary, dir, count)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := fleet.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), commandTimeout)
	defer cancel()
	if _, err := fleet.StartAll(ctx); err != nil {
		t.Fatal(err)
	}
	return &cluster{Processes: fleet, kubeconfig: filepath.Join(dir, "n1", "admin.kubeconfig"), home: t.TempDir()}
}

// command prepares kubectl against one node (counted from 0).
func (c *cluster) command(ctx context.Context, node int, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, binaries.kubectl, append([]string{"--server", c.Nodes()[node].API}, args...)...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+c.kubeconfig, "HOME="+c.home)
	return cmd
}

// kubectl runs a command with input and returns what it printed; it must succeed.
func (c *cluster) kubectl(t *testing.T, node int, input string, args ...string) string {
	t.Helper()
	out, err := c.try(t, node, input, args...)
	if err != nil {
		t.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// try is kubectl for commands that may fail.
func (c *cluster) try(t *testing.T, node int, input string, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), commandTimeout)
	defer cancel()
	cmd := c.command(ctx, node, args...)
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func wantContains(t *testing.T, out string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
}
