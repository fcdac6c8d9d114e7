package nodes_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"quorate/chaos/client"
	"quorate/chaos/nodes"
)

// patience is the time limit of each test, for busy machines.
const patience = 5 * time.Minute

// scale shortens the timeouts of nodes, so that a single node starts in less than a second.
const scale = "0.3"

// build builds the server once for all tests, which must not modify it.
var build = sync.OnceValues(func() (string, error) { return nodes.Build(context.Background(), built) })

// built is the directory of the binary.
var built string

func TestMain(m *testing.M) {
	var err error
	if built, err = os.MkdirTemp("", "quorate-nodes-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		os.RemoveAll(built)
		os.Exit(code)
	}))
}

// fleet is the fleet of one test, with administrator clients.
type fleet struct {
	*nodes.Processes
	t           *testing.T
	ctx         context.Context
	dir         string
	credentials client.Credentials
}

// prepare returns a fleet without starting its nodes. The fleet is closed at the end of the test.
func prepare(t *testing.T, c nodes.ProcessesConfig) *fleet {
	t.Helper()
	if c.Binary == "" {
		binary, err := build()
		if err != nil {
			t.Fatal(err)
		}
		c.Binary = binary
	}
	c.Flags = append([]string{"--timeout-scale", scale}, c.Flags...)
	c.Dir, c.Log = t.TempDir(), slog.New(slog.NewTextHandler(t.Output(), nil))
	p, err := nodes.NewProcesses(c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	f := &fleet{Processes: p, t: t, ctx: ctx, dir: c.Dir}
	t.Cleanup(func() {
		defer cancel()
		if err := p.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			f.showLogs()
		}
	})
	return f
}

func (f *fleet) showLogs() {
	logs, err := filepath.Glob(filepath.Join(f.dir, "*.log"))
	if err != nil {
		f.t.Error(err)
	}
	for _, log := range logs {
		name := filepath.Base(log[:len(log)-len(".log")])
		tail, err := f.LogTail(name, 30)
		f.t.Logf("the end of %s's log: %v\n%s", name, err, tail)
	}
}

func (f *fleet) startAll() {
	f.t.Helper()
	var err error
	f.credentials, err = f.StartAll(f.ctx)
	f.must(err)
}

func (f *fleet) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

// await waits for a condition. what describes it in the failure message.
func (f *fleet) await(what string, condition func() bool) {
	f.t.Helper()
	if err := nodes.Await(f.ctx, condition); err != nil {
		f.t.Fatalf("waited until %s: %v", what, err)
	}
}

// client returns a client for a node. It is closed at the end of the test.
func (f *fleet) client(name string) *client.Client {
	f.t.Helper()
	for _, node := range f.Nodes() {
		if node.Name == name {
			one, err := client.New(node.API, f.credentials)
			f.must(err)
			f.t.Cleanup(one.Close)
			return one
		}
	}
	f.t.Fatalf("there is no node %s", name)
	return nil
}

func (f *fleet) awaitReady(names ...string) {
	f.t.Helper()
	for _, name := range names {
		one := f.client(name)
		f.await(name+" is ready", func() bool { return one.Ready(f.ctx) })
	}
}

// member waits until a node lists another one that meets a condition, and returns the other's name.
func (f *fleet) member(asked, what string, wanted func(client.Member) bool) (name string) {
	f.t.Helper()
	one := f.client(asked)
	f.await(asked+" knows "+what, func() bool {
		members, err := one.Members(f.ctx)
		for _, m := range members {
			if err == nil && wanted(m) {
				name = m.Name
				return true
			}
		}
		return false
	})
	return name
}

func leads(m client.Member) bool { return m.Role == "leader" && m.IsAlive() }

// others returns the names of all nodes but one.
func (f *fleet) others(name string) (names []string) {
	for _, node := range f.Nodes() {
		if node.Name != name {
			names = append(names, node.Name)
		}
	}
	return names
}
