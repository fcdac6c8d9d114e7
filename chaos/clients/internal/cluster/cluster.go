package cluster

import (
	"context"
	"crypto/rand"
	"log/slog"
	mathrand "math/rand/v2"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"quorate/chaos/client"
	"quorate/chaos/clients/internal/failover"
	"quorate/chaos/nemesis"
	"quorate/chaos/nodes"
	"quorate/chaos/workload"
)

// startTimeout bounds the time in which nodes form a cluster, or return, on a busy machine.
const startTimeout = 2 * time.Minute

// Cluster is a running cluster.
type Cluster struct {
	*nodes.Processes
	// Clients are the chaos runner's clients, by node name.
	Clients    map[string]*client.Client
	observer   *nemesis.Observer
	kubeconfig string
}

// Start builds the server, starts count nodes of it and waits until they are ready.
func Start(t *testing.T, count int) *Cluster {
	t.Helper()
	dir := t.TempDir()
	binary, err := nodes.Build(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	fleet, err := nodes.NewProcesses(nodes.ProcessesConfig{Binary: binary, Dir: dir, Count: count})
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
	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	credentials, err := fleet.StartAll(ctx)
	if err != nil {
		t.Fatal(err)
	}
	c := &Cluster{
		Processes: fleet, Clients: map[string]*client.Client{}, observer: nemesis.NewObserver(credentials),
		kubeconfig: filepath.Join(dir, fleet.Nodes()[0].Name, "admin.kubeconfig"),
	}
	t.Cleanup(c.observer.Close)
	for _, node := range fleet.Nodes() {
		one, err := client.New(node.API, credentials)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(one.Close)
		c.Clients[node.Name] = one
	}
	return c
}

// logTail is the number of the last lines of a node's log that are shown after a failure.
const logTail = 40

func showLogs(t *testing.T, fleet *nodes.Processes) {
	for _, node := range fleet.Nodes() {
		tail, err := fleet.LogTail(node.Name, logTail)
		if err != nil {
			t.Log(err)
		}
		t.Logf("the end of %s's log:\n%s", node.Name, tail)
	}
}

// Config returns an administrator's configuration for stock clients. They connect to the node with
// index first (modulo the number of nodes), and fail over to the nodes after it. The configuration
// has no rate limit; a test of a client's own limit must set one.
func (c *Cluster) Config(t *testing.T, first int) *rest.Config {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", c.kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	config.Dial = failover.Dial(c.addresses(t, first)...)
	return config
}

// addresses returns the addresses of all nodes, beginning with the given node.
func (c *Cluster) addresses(t *testing.T, first int) []string {
	t.Helper()
	var addresses []string
	for i := range c.Nodes() {
		api, err := url.Parse(c.Nodes()[(first+i)%len(c.Nodes())].API)
		if err != nil {
			t.Fatal(err)
		}
		addresses = append(addresses, api.Host)
	}
	return addresses
}

// Targets returns all nodes for the chaos runner's writers.
func (c *Cluster) Targets() []workload.Target {
	var targets []workload.Target
	for _, node := range c.Nodes() {
		targets = append(targets, workload.Target{Name: node.Name, Client: c.Clients[node.Name]})
	}
	return targets
}

// Nemesis returns a nemesis that kills nodes. Between two faults it waits until calm more units of
// work, as counted by done, are complete.
func (c *Cluster) Nemesis(t *testing.T, calm int, done func() int) *nemesis.Nemesis {
	return &nemesis.Nemesis{
		Fleet: c, Cluster: c.observer, Rand: mathrand.New(mathrand.NewPCG(1, 1)),
		Log: slog.New(slog.NewTextHandler(t.Output(), nil)), Writing: done, Calm: calm,
	}
}

// KillLeader kills the leader once, and returns when writes have continued and the killed node is
// ready again.
func (c *Cluster) KillLeader(ctx context.Context, t *testing.T) error {
	written := 0
	writing := func() int {
		for _, one := range c.Clients {
			if _, outcome, _ := one.Create(ctx, "default", "probe-"+strings.ToLower(rand.Text()), nil); outcome == client.OK {
				written++ // another outcome is that of a cluster without a leader
			}
		}
		return written
	}
	return c.Nemesis(t, 1, writing).InjectAndRecover(ctx, nemesis.KillLeader())
}

// RollingRestart restarts the nodes gracefully, one after the other. It waits until a node is ready
// before it restarts the next one.
func (c *Cluster) RollingRestart(ctx context.Context) error {
	for _, node := range c.Nodes() {
		if err := c.restart(ctx, node.Name); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) restart(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := c.Stop(ctx, name); err != nil {
		return err
	}
	if err := c.Start(ctx, name); err != nil {
		return err
	}
	return nodes.AwaitReady(ctx, c.Clients, name)
}
