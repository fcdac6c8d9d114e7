package deploy_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"quorate/chaos/client"
	"quorate/chaos/nodes"
)

// build builds the server once for all tests, which must not modify it.
var build = sync.OnceValues(func() (string, error) { return nodes.Build(context.Background(), built) })

// built is the directory of the binary.
var built string

func TestMain(m *testing.M) {
	var err error
	if built, err = os.MkdirTemp("", "quorate-deploy-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	// Connections to Prometheus are kept by the client of net/http.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"), goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"),
		goleak.Cleanup(func(code int) {
			os.RemoveAll(built)
			os.Exit(code)
		}))
}

// fleet is a cluster of real nodes, with a client for each.
type fleet struct {
	*nodes.Processes
	t           *testing.T
	ctx         context.Context
	credentials client.Credentials
	clients     map[string]*client.Client
}

// startFleet starts nodes that end with the test, and waits until they are ready. patience is the
// time limit of the test.
func startFleet(t *testing.T, patience time.Duration, c nodes.ProcessesConfig) *fleet {
	t.Helper()
	f := prepareFleet(t, patience, c)
	var err error
	f.credentials, err = f.StartAll(f.ctx)
	f.must(err)
	for _, node := range f.Nodes() {
		one, err := client.New(node.API, f.credentials)
		f.must(err)
		t.Cleanup(one.Close)
		f.clients[node.Name] = one
	}
	return f
}

// prepareFleet returns nodes that are not started. They end with the test.
func prepareFleet(t *testing.T, patience time.Duration, c nodes.ProcessesConfig) *fleet {
	t.Helper()
	if c.Binary == "" {
		binary, err := build()
		if err != nil {
			t.Fatal(err)
		}
		c.Binary = binary
	}
	if c.Dir == "" {
		c.Dir = t.TempDir()
	}
	c.Log = slog.New(slog.NewTextHandler(t.Output(), nil))
	p, err := nodes.NewProcesses(c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(func() {
		cancel()
		if err := p.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return &fleet{Processes: p, t: t, ctx: ctx, clients: map[string]*client.Client{}}
}

func (f *fleet) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

// leader returns the name of the node that leads, and those of the others.
func (f *fleet) leader() (leader string, others []string) {
	f.t.Helper()
	one := f.clients["n1"]
	f.must(nodes.Await(f.ctx, func() bool {
		members, err := one.Members(f.ctx)
		for _, m := range members {
			if err == nil && m.Role == "leader" {
				leader = m.Name
			}
		}
		return leader != ""
	}))
	for _, node := range f.Nodes() {
		if node.Name != leader {
			others = append(others, node.Name)
		}
	}
	slices.Sort(others)
	return leader, others
}
