package browser

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"quorate/chaos/client"
	"quorate/chaos/nodes"
)

// waitTimeout bounds each wait for a condition.
const waitTimeout = time.Minute

// binaries are the server under test, built once, and the browser, "" where there is none.
var binaries struct{ quorate, chromium string }

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			binaries.chromium = path
			break
		}
	}
	if binaries.chromium == "" {
		return m.Run() // every test is skipped
	}
	dir, err := os.MkdirTemp("", "quorate-console-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if binaries.quorate, err = nodes.Build(context.Background(), dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// startTimeout bounds the start of a cluster: three processes on a machine that may be busy.
const startTimeout = 3 * time.Minute

// cluster is three running nodes, with a client of each.
type cluster struct {
	*nodes.Processes
	credentials client.Credentials
	clients     map[string]*client.Client
}

// startCluster starts three nodes with flags and waits until they are ready.
func startCluster(t *testing.T, flags ...string) *cluster {
	t.Helper()
	if binaries.chromium == "" {
		t.Skip("no Chromium on this machine: apt-get install chromium")
	}
	fleet, err := nodes.NewProcesses(nodes.ProcessesConfig{Binary: binaries.quorate, Dir: t.TempDir(), Count: 3, Flags: flags})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := fleet.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	c := &cluster{Processes: fleet, clients: map[string]*client.Client{}}
	if c.credentials, err = fleet.StartAll(ctx); err != nil {
		for _, node := range fleet.Nodes() {
			tail, _ := fleet.LogTail(node.Name, 20)
			t.Logf("log of %s:\n%s", node.Name, tail)
		}
		t.Fatal(err)
	}
	for _, node := range fleet.Nodes() {
		one, err := client.New(node.API, c.credentials)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(one.Close)
		c.clients[node.Name] = one
	}
	return c
}

// leader returns the name of the leader and the URLs of the consoles of the others.
func (c *cluster) leader(t *testing.T) (leader string, others []string) {
	t.Helper()
	await(t, "a leader", func() bool {
		members, err := c.clients["n1"].Members(t.Context())
		if err != nil {
			return false
		}
		leader, others = "", nil
		for _, m := range members {
			if m.Role == "leader" {
				leader = m.Name
			}
		}
		return leader != ""
	})
	for _, node := range c.Nodes() {
		if node.Name != leader {
			others = append(others, node.API+"/console/")
		}
	}
	return leader, others
}

// clientOf returns the client of the node that serves a console.
func (c *cluster) clientOf(t *testing.T, console string) *client.Client {
	t.Helper()
	for _, node := range c.Nodes() {
		if node.API+"/console/" == console {
			return c.clients[node.Name]
		}
	}
	t.Fatalf("no node serves %s", console)
	return nil
}

// await waits for a condition.
func await(t *testing.T, what string, condition func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waitTimeout)
	defer cancel()
	if err := nodes.Await(ctx, condition); err != nil {
		t.Fatalf("wait for %s: %v", what, err)
	}
}
