package testcluster

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"google.golang.org/grpc"

	"quorate/raftstore"
	"quorate/raftstore/transport"
)

// multiplier scales Raft's timeouts so that an election takes some hundred milliseconds: longer
// than any fsync of the tests, and short enough for many tests.
const multiplier = 0.25

// Cluster is a cluster under test. Its nodes are named n0, n1, …
type Cluster struct {
	Nodes     []*Node
	t         testing.TB
	authority *Authority
	configure func(*raftstore.Config)
	proxies   map[[2]string]*Proxy // by names of sender and receiver; only the test's goroutine adds
	adding    sync.RWMutex         // held while it adds, because nodes look up addresses concurrently
	dir       string
}

// Node is one node. Store is nil while the node is stopped.
type Node struct {
	Name  string
	Store *raftstore.Store
	Dir   string

	live    atomic.Pointer[raftstore.Store]
	cluster *Cluster
	stop    context.CancelFunc
	done    chan error
	rpc     *grpc.Server
	mux     *transport.Mux
	muxEnd  context.CancelFunc
	muxDone chan error
}

// New starts and bootstraps a cluster that stops when the test ends. configure may change the
// nodes' configurations.
func New(t testing.TB, size int, configure func(*raftstore.Config)) *Cluster {
	t.Helper()
	c := &Cluster{
		t: t, authority: NewAuthority(t), configure: configure, proxies: make(map[[2]string]*Proxy), dir: t.TempDir(),
	}
	for i := range size {
		c.Add(nodeName(i))
	}
	servers := make([]raft.Server, size)
	for i, n := range c.Nodes {
		servers[i] = raft.Server{ID: raft.ServerID(n.Name), Address: raft.ServerAddress(n.mux.Addr().String())}
	}
	for _, n := range c.Nodes {
		if err := n.Store.Bootstrap(servers); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		for _, n := range c.Nodes {
			n.Stop()
		}
	})
	return c
}

func nodeName(i int) string { return "n" + string(rune('0'+i)) }

// Add starts one more node, which is not a member of the cluster yet.
func (c *Cluster) Add(name string) *Node {
	c.t.Helper()
	n := &Node{Name: name, Dir: filepath.Join(c.dir, name), cluster: c}
	c.link(n)
	c.Nodes = append(c.Nodes, n)
	n.Start()
	return n
}

// link creates the proxies between a new node and the others.
func (c *Cluster) link(n *Node) {
	c.t.Helper()
	c.adding.Lock()
	defer c.adding.Unlock()
	for _, other := range c.Nodes {
		c.proxies[[2]string{n.Name, other.Name}] = NewProxy(c.t)
		c.proxies[[2]string{n.Name, other.Name}].To(other.mux.Addr().String())
		c.proxies[[2]string{other.Name, n.Name}] = NewProxy(c.t)
	}
}

// Live returns the store of a running node, nil while it is stopped. Goroutines other than the one
// that starts and stops nodes use it.
func (n *Node) Live() *raftstore.Store { return n.live.Load() }

// Peers returns the node's connections to others.
func (n *Node) Peers() *transport.Mux { return n.mux }

// Addr returns the address on which the node listens for peers.
func (n *Node) Addr() string { return n.mux.Addr().String() }

// Start starts a stopped node.
func (n *Node) Start() {
	n.cluster.t.Helper()
	if err := n.TryStart(); err != nil {
		n.cluster.t.Fatal(err)
	}
}

// TryStart is Start for a node whose start may fail.
func (n *Node) TryStart() error {
	c := n.cluster
	logger := Logger(c.t)
	server := grpc.NewServer(transport.ServerOptions()...)
	cfg := raftstore.Config{
		Name: n.Name, DataDir: n.Dir, Registrar: server, RaftMultiplier: multiplier, Logger: logger,
		AddressOf: func(name string) (string, bool) {
			c.adding.RLock()
			defer c.adding.RUnlock()
			p, ok := c.proxies[[2]string{n.Name, name}]
			if !ok {
				return "", false
			}
			return p.Addr(), true
		},
	}
	if c.configure != nil {
		c.configure(&cfg)
	}
	mux, err := transport.Listen(transport.Config{
		Addr: "127.0.0.1:0", TLS: c.authority.Peer(c.t, n.Name), Logger: logger.With("node", n.Name), Registerer: cfg.Registerer,
	})
	if err != nil {
		return err
	}
	cfg.Peers = mux
	muxCtx, muxEnd := context.WithCancel(context.Background())
	muxDone := make(chan error, 1)
	go func() { muxDone <- mux.Run(muxCtx) }()
	store, err := raftstore.Open(cfg)
	if err != nil {
		muxEnd()
		return errors.Join(err, <-muxDone)
	}
	for pair, p := range c.proxies {
		if pair[1] == n.Name {
			p.To(mux.Addr().String())
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	n.mux, n.muxEnd, n.muxDone, n.rpc, n.Store, n.stop = mux, muxEnd, muxDone, server, store, stop
	n.live.Store(store)
	n.done = make(chan error, 2)
	go func() { n.done <- server.Serve(mux.GRPC()) }()
	go func() { n.done <- store.Run(ctx) }()
	return nil
}

// Stop stops the node gracefully.
func (n *Node) Stop() {
	n.cluster.t.Helper()
	if n.Store == nil {
		return
	}
	n.live.Store(nil)
	n.stop()
	n.end()
}

func (n *Node) end() {
	n.cluster.t.Helper()
	if err := n.Ended(); err != nil {
		n.cluster.t.Errorf("%s ended: %v", n.Name, err)
	}
}

// Ended waits until the node ends by itself, and returns its error.
func (n *Node) Ended() error {
	err := <-n.done // the store's error: the server still runs
	n.live.Store(nil)
	n.rpc.Stop()
	<-n.done
	n.muxEnd()
	<-n.muxDone
	n.stop()
	n.Store = nil
	return err
}

// Quit stops the node unless it has ended by itself, and returns its error.
func (n *Node) Quit() error {
	n.stop()
	return n.Ended()
}

// Kill ends the node without notice to the others.
func (n *Node) Kill() {
	n.cluster.t.Helper()
	n.cluster.Isolate(n, true)
	n.Stop()
	n.cluster.Isolate(n, false)
}

// Destroy ends the node for good, as the end of its process would: its connections break, and new
// ones are refused.
func (n *Node) Destroy() {
	n.cluster.t.Helper()
	for pair, p := range n.cluster.proxies {
		if pair[1] == n.Name {
			p.Close()
		}
	}
	n.cluster.Isolate(n, true)
	n.Stop()
}

// Isolate cuts all connections between a node and the others, or restores them.
func (c *Cluster) Isolate(n *Node, cut bool) {
	for pair, p := range c.proxies {
		if pair[0] == n.Name || pair[1] == n.Name {
			p.Cut(cut)
		}
	}
}

// Cut cuts one direction between two nodes, or restores it.
func (c *Cluster) Cut(from, to *Node, cut bool) { c.proxies[[2]string{from.Name, to.Name}].Cut(cut) }

// Open returns the connections between two nodes that pass the proxies of both directions.
func (c *Cluster) Open(a, b *Node) []net.Conn {
	return append(c.proxies[[2]string{a.Name, b.Name}].Open(), c.proxies[[2]string{b.Name, a.Name}].Open()...)
}

// Passed returns how many bytes have passed in one direction between two nodes.
func (c *Cluster) Passed(from, to *Node) int64 {
	return c.proxies[[2]string{from.Name, to.Name}].Passed()
}

// Throttle limits new connections in one direction between two nodes to the given rate.
func (c *Cluster) Throttle(from, to *Node, bytesPerSecond int) {
	c.proxies[[2]string{from.Name, to.Name}].Throttle(bytesPerSecond)
}

// Running returns the nodes that are not stopped.
func (c *Cluster) Running() []*Node {
	var running []*Node
	for _, n := range c.Nodes {
		if n.Store != nil {
			running = append(running, n)
		}
	}
	return running
}

// Leader waits for a leader that is ready and not one of except, and returns it.
func (c *Cluster) Leader(except ...*Node) *Node {
	c.t.Helper()
	var leader *Node
	Eventually(c.t, "a leader is ready", func() bool {
		for _, n := range c.Running() {
			if n.Store.IsLeader() && n.Store.Ready() == nil && !contains(except, n) {
				leader = n
				return true
			}
		}
		return false
	})
	return leader
}

// Follower returns a running node other than the leader.
func (c *Cluster) Follower(leader *Node) *Node {
	for _, n := range c.Running() {
		if n != leader {
			return n
		}
	}
	return nil
}

// Ready waits until all running nodes are ready.
func (c *Cluster) Ready() {
	c.t.Helper()
	for _, n := range c.Running() {
		Eventually(c.t, n.Name+" is ready", func() bool { return n.Store.Ready() == nil })
	}
}

func contains(nodes []*Node, n *Node) bool {
	for _, other := range nodes {
		if other == n {
			return true
		}
	}
	return false
}

// eventually is the time limit of Eventually.
const eventually = time.Minute

// Eventually waits until condition returns true, and fails the test after a minute.
func Eventually(t testing.TB, what string, condition func() bool) {
	t.Helper()
	deadline := time.Now().Add(eventually)
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for !condition() {
		if time.Now().After(deadline) {
			t.Fatalf("not within %s: %s", eventually, what)
		}
		<-ticker.C
	}
}

// Logger returns a logger that writes to the test's log, which is shown if the test fails.
func Logger(t testing.TB) *slog.Logger {
	if _, bench := t.(*testing.B); bench {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug}))
}
