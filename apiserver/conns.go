package apiserver

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"quorate/apiserver/access/budget"
	"quorate/apiserver/wire/h2"
	"quorate/raftstore/addresskey"
)

const (
	// stuckTick is the interval between checks of the connections.
	stuckTick = 5 * time.Second
	// stuckAfter is the number of ticks that one write may wait for the client to read.
	stuckAfter = 6
)

// connections is a listener that bounds the number of open connections and the TLS handshakes
// computed at a time. Its method run closes connections whose client has stopped reading.
//
// To detect such clients, each write stores the tick at which it began, and run compares it with
// the current tick. Write deadlines would need two timer operations per write, which cost 5 % of a
// GET.
type connections struct {
	net.Listener
	bound     *bound
	stuck     prometheus.Counter
	ticks     atomic.Int64
	coalescer h2.Coalescer

	handshakes *budget.Queue
	mu         sync.Mutex
	open       map[*guarded]struct{}
}

func guard(l net.Listener, limits Limits, m *metrics) *connections {
	c := &connections{Listener: l, stuck: m.stuck, open: make(map[*guarded]struct{})}
	c.bound = newBound(budget.Config{
		Total: int64(limits.Connections), PerAddress: int64(limits.Shares.ConnectionsPerAddress),
		Reserve: int64(limits.Connections/reservePart + 1),
	}, "open connections", "max-connections", m)
	c.handshakes = newHandshakes(limits, m)
	c.ticks.Store(1) // 0 means that a connection is not writing
	return c
}

// Accept implements net.Listener. Connections over a bound are closed at once. Those of this
// machine may use the reserve, so that an administrator can connect while others have everything.
func (c *connections) Accept() (net.Conn, error) {
	for {
		raw, err := c.Listener.Accept()
		if err != nil {
			return nil, err
		}
		conn := &guarded{Conn: raw, all: c, address: addresskey.Of(raw.RemoteAddr().String())}
		conn.held = c.hold(raw.RemoteAddr(), conn.address)
		if _, ok := conn.held.Take(1); ok {
			c.add(conn)
			return c.coalescer.Wrap(conn), nil
		}
		_ = raw.Close() // nothing has been sent or received on it
	}
}

func (c *connections) hold(remote net.Addr, address string) budget.Holding {
	if tcp, ok := remote.(*net.TCPAddr); ok && tcp.IP.IsLoopback() {
		return c.bound.HoldPrivileged("", address)
	}
	return c.bound.Hold("", address)
}

func (c *connections) add(conn *guarded) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open[conn] = struct{}{}
}

// count returns the number of open connections.
func (c *connections) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.open)
}

// run closes stuck connections until ctx ends.
func (c *connections) run(ctx context.Context) error {
	t := time.NewTicker(stuckTick)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
			c.closeStuck(c.ticks.Add(1))
		}
	}
}

func (c *connections) closeStuck(now int64) {
	for _, conn := range c.stuckAt(now) {
		c.stuck.Inc()
		_ = conn.Close() // makes the blocked write fail
	}
}

func (c *connections) stuckAt(now int64) []*guarded {
	c.mu.Lock()
	defer c.mu.Unlock()
	var stuck []*guarded
	for conn := range c.open {
		if since := conn.writing.Load(); since != 0 && now-since >= stuckAfter {
			stuck = append(stuck, conn)
		}
	}
	return stuck
}

// guarded is a connection that records when its current write began.
type guarded struct {
	net.Conn
	all       *connections
	address   string
	compute   func() error // acquires a place to compute the handshake; set by its ClientHello
	computing atomic.Bool  // the server computes the handshake, and holds such a place
	writing   atomic.Int64 // the tick at which the write under way began; 0 between writes
	once      sync.Once
	held      budget.Holding
	// handshakeDone is closed when the handshake has ended. The ClientHello sets it, and the first
	// read after the handshake sets it to nil. crypto/tls serializes all these.
	handshakeDone <-chan struct{}
}

// Read implements net.Conn.
func (g *guarded) Read(p []byte) (int, error) {
	if g.handshakeDone != nil {
		return g.readHandshake(p)
	}
	return g.Conn.Read(p)
}

// Write implements net.Conn.
func (g *guarded) Write(p []byte) (int, error) {
	g.writing.Store(g.all.ticks.Load())
	n, err := g.Conn.Write(p)
	g.writing.Store(0)
	return n, err
}

// Close implements net.Conn.
func (g *guarded) Close() error {
	g.once.Do(func() {
		g.all.mu.Lock()
		defer g.all.mu.Unlock()
		delete(g.all.open, g)
		g.held.Release()
	})
	g.endHandshake()
	return g.Conn.Close()
}
