package cluster_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"

	"quorate/cluster"
	"quorate/cluster/keys"
	"quorate/cluster/roster"
	"quorate/raftstore"
	"quorate/raftstore/transport"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	// gossipScale makes failure detection quick; raftScale leaves room for the disk of a busy
	// machine.
	gossipScale = 0.2
	raftScale   = 0.4
	// patience bounds each wait; what is waited for takes a fraction of it.
	patience = 60 * time.Second
)

// hosts hands out loopback addresses, so that the gossip port can be a fixed one, known before the
// node that has it starts.
var hosts atomic.Uint32

func newHost() string {
	n := hosts.Add(1)
	pid := uint32(os.Getpid())
	return fmt.Sprintf("127.%d.%d.%d", 1+pid%200, 1+(pid/200+n/250)%250, 1+n%250)
}

const gossipPort = "7946"

// setup says how a node is started.
type setup struct {
	name            string
	key             *keys.Key
	host            string // loopback address
	dir             string
	join            []string // hosts
	expect          int
	replica         bool
	deadServerAfter time.Duration
	wrap            func(cluster.Store) cluster.Store
}

// node is a running node: real gossip, Raft, gRPC and files.
type node struct {
	*cluster.Cluster
	setup
	store    *raftstore.Store
	registry *prometheus.Registry
	logs     *logs
	stopRun  context.CancelFunc
	ended    chan error
	err      error
	once     sync.Once
}

// start runs a node until the test ends, or stop is called.
func start(t *testing.T, s setup) *node {
	t.Helper()
	if s.dir == "" {
		s.dir = t.TempDir()
	}
	if s.host == "" {
		s.host = newHost()
	}
	n := &node{setup: s, registry: prometheus.NewRegistry(), logs: &logs{}, ended: make(chan error, 1)}
	logger := slog.New(slog.NewTextHandler(n.logs, &slog.HandlerOptions{Level: slog.LevelDebug})).With("node", s.name)
	names, err := roster.Open(s.dir, s.name, nodeID(t, s.dir))
	must(t, err)
	authority, err := s.key.Authority()
	must(t, err)
	certificate, err := authority.PeerTLS(cluster.PeerTLS(names))
	must(t, err)
	mux, err := transport.Listen(transport.Config{
		Addr: s.host + ":0", TLS: certificate.Config(), Members: names.PeerAddrs, Logger: logger, Registerer: n.registry,
	})
	must(t, err)
	server := grpc.NewServer(transport.ServerOptions()...)
	n.store, err = raftstore.Open(raftstore.Config{
		Name: s.name, DataDir: s.dir, Peers: mux, Registrar: server, AddressOf: names.PeerAddr,
		RaftMultiplier: raftScale, Logger: logger, Registerer: n.registry,
	})
	must(t, err)
	var store cluster.Store = n.store
	if s.wrap != nil {
		store = s.wrap(store)
	}
	var join []string
	for _, host := range s.join {
		join = append(join, net.JoinHostPort(host, gossipPort))
	}
	n.Cluster, err = cluster.New(cluster.Config{
		DataDir: s.dir, Roster: names, Key: s.key, Store: store, Connect: mux.Connect,
		APIAddr: s.host + ":6443", PeerAddr: mux.Addr().String(), GossipAddr: net.JoinHostPort(s.host, gossipPort),
		Join: join, BootstrapExpect: s.expect, NonVoter: s.replica, TimeoutScale: gossipScale, DeadServerAfter: s.deadServerAfter,
		Build: "test", Logger: logger, Registerer: n.registry,
	})
	must(t, err)
	n.Register(server)
	n.run(t, mux, server)
	return n
}

// run ends the parts in the order in which they need each other, as a server does.
func (n *node) run(t *testing.T, mux *transport.Mux, server *grpc.Server) {
	ctx, stop := context.WithCancel(context.Background())
	n.stopRun = stop
	below, stopBelow := context.WithCancel(context.Background())
	go func() {
		var base errgroup.Group
		base.Go(func() error { return mux.Run(below) })
		base.Go(func() error { return server.Serve(mux.GRPC()) })
		upper, upperCtx := errgroup.WithContext(ctx)
		storeCtx, stopStore := context.WithCancel(context.Background())
		stored := make(chan error, 1)
		go func() { stored <- n.store.Run(storeCtx) }()
		upper.Go(func() error { return n.Cluster.Run(upperCtx) })
		err := upper.Wait()
		fmt.Fprintf(n.logs, "node %s ends: %v\n", n.name, err)
		if n.store.IsLeader() {
			if err := n.store.TransferLeadership(""); err != nil {
				fmt.Fprintf(n.logs, "node %s did not hand over: %v\n", n.name, err)
			}
		}
		n.store.EndStreams()
		server.GracefulStop() // so that nobody's request is lost on the way to a node that is not there
		stopStore()
		err = errors.Join(err, <-stored)
		stopBelow()
		base.Wait()
		n.ended <- err
	}()
	t.Cleanup(func() {
		n.stop()
		if t.Failed() {
			t.Logf("log of %s:\n%s", n.name, n.logs.tail())
		}
	})
}

// stop ends the node and returns what its cluster part ended with.
func (n *node) stop() error {
	n.once.Do(func() {
		n.stopRun()
		n.err = <-n.ended
	})
	return n.err
}

// exit waits until the node ends by itself.
func (n *node) exit(t *testing.T) error {
	t.Helper()
	select {
	case err := <-n.ended:
		n.once.Do(func() { n.stopRun(); n.err = err })
		return err
	case <-time.After(patience):
		t.Fatalf("node %s does not end", n.name)
		return nil
	}
}

// again starts the node anew on its data directory, with what change says changed.
func (n *node) again(t *testing.T, change func(*setup)) *node {
	t.Helper()
	must(t, n.stop())
	s := n.setup
	if change != nil {
		change(&s)
	}
	return start(t, s)
}

// members is "name:role" of all members that are alive, with † for those that are not; empty on
// error.
func (n *node) members(t *testing.T) string {
	all, err := n.Members(t.Context())
	if err != nil {
		return err.Error()
	}
	var words []string
	for _, m := range all {
		role := string(m.Role)
		if m.Role == cluster.Leader {
			role = string(cluster.Voter)
		}
		if !m.Alive {
			role += "†"
		}
		words = append(words, m.Name+":"+role)
	}
	return strings.Join(words, " ")
}

func nodeID(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "node-id")
	if text, err := os.ReadFile(path); err == nil {
		return strings.TrimSpace(string(text))
	}
	id := uuid.Must(uuid.NewV7()).String()
	must(t, os.WriteFile(path, []byte(id), 0o600))
	return id
}

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	deadline := time.After(patience)
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for !condition() {
		select {
		case <-ticker.C:
		case <-deadline:
			t.Fatalf("waited %s for: %s", patience, what)
		}
	}
}

// eventuallyMembers waits until a node sees these members.
func eventuallyMembers(t *testing.T, n *node, want string) {
	t.Helper()
	var got string
	deadline := time.Now().Add(patience)
	for ticker := time.NewTicker(20 * time.Millisecond); ; <-ticker.C {
		if got = n.members(t); got == want {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s sees members %q, want %q", n.name, got, want)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// logs keeps what a node logged.
type logs struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logs) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

// count is how many lines hold all of the words.
func (l *logs) count(words ...string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	found := 0
	for line := range strings.Lines(l.text.String()) {
		holds := true
		for _, word := range words {
			holds = holds && strings.Contains(line, word)
		}
		if holds {
			found++
		}
	}
	return found
}

func (l *logs) tail() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := strings.Split(l.text.String(), "\n")
	return strings.Join(lines[max(0, len(lines)-60):], "\n")
}
