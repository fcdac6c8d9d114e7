package node

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/spf13/pflag"

	"quorate/cmd/quorate/datadir"
	"quorate/cmd/quorate/logsink"
	"quorate/cmd/quorate/settings"
)

// A failed start, for instance on a full disk, releases its addresses, so that the same process may
// try again.
func TestFailedStartReleasesAddresses(t *testing.T) {
	cfg := Config{Stdout: io.Discard, Stderr: io.Discard, Getenv: func(string) (string, bool) { return "", false }}
	flags := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	flags.String("config", "", "")
	cfg.Settings.Register(flags, "n1")
	cfg.Settings.DataDir = t.TempDir()
	cfg.Settings.Listen = settings.Listen{API: "127.0.0.1:0", Peer: "127.0.0.1:0", Gossip: "127.0.0.1:0"}
	n := &Node{cfg: cfg, registry: newRegistry(cfg)}
	n.logs = newLogs(cfg.Stderr, cfg.Settings.Log, logsink.NewMetrics(n.registry))
	n.logger = n.logs.logger
	defer func() {
		if err := n.logs.close(); err != nil {
			t.Error(err)
		}
	}()
	n.operations = newOperations(cfg, newMetrics(n.registry))
	// The last file, which is written when every address is open, can't be written.
	if err := os.MkdirAll(filepath.Join(cfg.Settings.DataDir, datadir.KubeconfigFile, "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := n.open(); err == nil {
		t.Fatal("New succeeded without a kubeconfig")
	}
	api, err := n.api.Listen()
	if err != nil {
		t.Fatal(err)
	}
	peer := n.peers.Addr()
	if err := n.abandon(); err != nil {
		t.Error(err)
	}
	for _, addr := range []net.Addr{api, peer} {
		if conn, err := net.Dial("tcp", addr.String()); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("%s still answers: %v", addr, err)
			if err == nil {
				conn.Close()
			}
		}
	}
}
