package disk_test

import (
	"context"
	"log/slog"
	"os"
	"testing"
	"time"

	"quorate/chaos/capability"
	"quorate/chaos/client"
	"quorate/chaos/disk"
	"quorate/chaos/nodes"
)

const (
	node      = "n1"
	namespace = "power"
	patience  = 3 * time.Minute
	// scale shortens the timeouts of a node, which elects itself.
	scale = "0.3"
)

// server is one real node whose data directory is a disk.
type server struct {
	*nodes.Processes
	disk        *disk.Disk
	credentials client.Credentials
	client      *client.Client
}

func newServer(t *testing.T, binary string, options ...disk.Option) *server {
	t.Helper()
	fleet, err := nodes.NewProcesses(nodes.ProcessesConfig{Binary: binary, Dir: t.TempDir(), Count: 1, Flags: []string{"--timeout-scale", scale}})
	must(t, err)
	must(t, os.MkdirAll(fleet.DataDir(node), 0o700))
	d, err := disk.Mount(fleet.DataDir(node), t.TempDir(), slog.New(slog.DiscardHandler), options...)
	must(t, err)
	s := &server{Processes: fleet, disk: d}
	t.Cleanup(func() {
		if s.client != nil {
			s.client.Close()
		}
		must(t, fleet.Close(context.Background()))
		must(t, d.Close())
		if t.Failed() {
			tail, err := fleet.LogTail(node, 40)
			t.Logf("the end of the node's log (%v):\n%s", err, tail)
		}
	})
	return s
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// begin starts the node for the first time, or as if it were the first.
func (s *server) begin(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var err error
	s.credentials, err = s.StartAll(ctx)
	must(t, err)
	s.client, err = client.New(s.Nodes()[0].API, s.credentials)
	must(t, err)
	s.ensureNamespace(t)
}

func (s *server) ensureNamespace(t *testing.T) {
	t.Helper()
	if outcome, err := s.client.EnsureNamespace(t.Context(), namespace); outcome != client.OK {
		t.Fatalf("make a namespace: %v %v", outcome, err)
	}
}

func (s *server) restart(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	must(t, s.Start(ctx, node))
	must(t, nodes.AwaitReady(ctx, map[string]*client.Client{node: s.client}, node))
}

func (s *server) kill(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	must(t, s.Kill(ctx, node))
}

// TestServer is what the disk is for: the server as it ships, on disks that go wrong.
func TestServer(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and starts servers")
	}
	capability.Require(t, disk.Available())
	binary, err := nodes.Build(t.Context(), t.TempDir())
	must(t, err)
	t.Run("loses nothing that it acknowledged", func(t *testing.T) { losesNothing(t, binary) })
	t.Run("begins anew after a power cut in its first start", func(t *testing.T) { firstStart(t, binary) })
	t.Run("finds damage", func(t *testing.T) { findsDamage(t, binary) })
}
