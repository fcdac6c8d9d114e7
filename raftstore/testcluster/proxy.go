package testcluster

import (
	"io"
	"maps"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Proxy forwards connections to an address that may change. While it is cut it accepts connections
// and forwards nothing.
type Proxy struct {
	listener net.Listener
	work     sync.WaitGroup
	passed   atomic.Int64

	mu     sync.Mutex
	target string
	cut    bool
	rate   int // bytes a second, 0 for no limit
	conns  map[net.Conn]struct{}
	closed chan struct{}
}

// NewProxy starts a proxy that ends when the test ends.
func NewProxy(t testing.TB) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{listener: l, conns: make(map[net.Conn]struct{}), closed: make(chan struct{})}
	p.work.Go(p.serve)
	t.Cleanup(p.Close)
	return p
}

// Addr returns the address to dial.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// To sets the address of later connections.
func (p *Proxy) To(target string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.target = target
}

// Cut drops all connections and leaves new ones hanging until Cut(false).
func (p *Proxy) Cut(cut bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = cut
	for c := range p.conns {
		c.Close()
	}
	clear(p.conns)
}

// Open returns both sides of the connections that the proxy forwards now, for comparison with a
// later call.
func (p *Proxy) Open() []net.Conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Collect(maps.Keys(p.conns))
}

// end closes a connection that is no longer used.
func (p *Proxy) end(c net.Conn) {
	c.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, c)
}

// Throttle limits each later connection to the target to the given rate.
func (p *Proxy) Throttle(bytesPerSecond int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rate = bytesPerSecond
}

// Passed returns how many bytes the proxy has passed on to its targets.
func (p *Proxy) Passed() int64 { return p.passed.Load() }

// Close drops all connections and refuses new ones, for good.
func (p *Proxy) Close() {
	p.mu.Lock()
	if !p.isClosed() {
		close(p.closed)
	}
	for c := range p.conns {
		c.Close()
	}
	p.mu.Unlock()
	p.listener.Close()
	p.work.Wait()
}

func (p *Proxy) serve() {
	for {
		c, err := p.listener.Accept()
		if err != nil {
			return
		}
		target, rate, cut, ok := p.admit(c)
		switch {
		case !ok:
			c.Close()
		case !cut:
			p.work.Go(func() { p.pass(c, target, rate) })
		}
	}
}

func (p *Proxy) isClosed() bool {
	select {
	case <-p.closed:
		return true
	default:
		return false
	}
}

func (p *Proxy) admit(c net.Conn) (target string, rate int, cut, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isClosed() {
		return "", 0, false, false
	}
	p.conns[c] = struct{}{}
	return p.target, p.rate, p.cut, true
}

func (p *Proxy) pass(from net.Conn, target string, rate int) {
	defer p.end(from)
	to, err := net.Dial("tcp", target)
	if err != nil {
		return
	}
	defer p.end(to)
	if _, _, _, ok := p.admit(to); !ok {
		return
	}
	var source io.Reader = from
	if rate > 0 {
		source = slow{from, rate, p.closed}
	}
	var both sync.WaitGroup
	both.Go(func() {
		io.Copy(counted{to, &p.passed}, source) //nolint:errcheck // either side may end it
		to.Close()
	})
	io.Copy(from, to) //nolint:errcheck // either side may end it
	from.Close()
	both.Wait()
}

// counted counts the bytes written.
type counted struct {
	to    io.Writer
	bytes *atomic.Int64
}

func (c counted) Write(b []byte) (int, error) {
	n, err := c.to.Write(b)
	c.bytes.Add(int64(n))
	return n, err
}

// slow reads at a bounded rate, in fifty pieces a second.
type slow struct {
	from   io.Reader
	rate   int
	closed <-chan struct{}
}

func (s slow) Read(p []byte) (int, error) {
	n, err := s.from.Read(p[:min(len(p), s.rate/50+1)])
	timer := time.NewTimer(time.Duration(n) * time.Second / time.Duration(s.rate))
	defer timer.Stop()
	select {
	case <-timer.C:
		return n, err
	case <-s.closed:
		return n, io.EOF
	}
}
