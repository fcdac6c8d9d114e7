package testcluster

import (
	"io"
	"net"
	"sync"
	"testing"
)

// Proxy passes connections on to an address that may change. While it is cut it takes connections and passes nothing on.
type Proxy struct {
	listener net.Listener
	work     sync.WaitGroup

	mu     sync.Mutex
	target string
	cut    bool
	conns  map[net.Conn]struct{}
	closed bool
}

// NewProxy starts a proxy that ends with the test.
func NewProxy(t testing.TB) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{listener: l, conns: make(map[net.Conn]struct{})}
	p.work.Go(p.serve)
	t.Cleanup(p.Close)
	return p
}

// Addr is what to dial.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// To sets where connections go from now on.
func (p *Proxy) To(target string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.target = target
}

// Cut drops all connections, and lets new ones hang, until it is healed with false.
func (p *Proxy) Cut(cut bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = cut
	for c := range p.conns {
		c.Close()
	}
	clear(p.conns)
}

// Close refuses connections from now on, for good, and drops those there are.
func (p *Proxy) Close() {
	p.mu.Lock()
	p.closed = true
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
		target, cut, ok := p.admit(c)
		switch {
		case !ok:
			c.Close()
		case !cut:
			p.work.Go(func() { p.pass(c, target) })
		}
	}
}

func (p *Proxy) admit(c net.Conn) (target string, cut, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return "", false, false
	}
	p.conns[c] = struct{}{}
	return p.target, p.cut, true
}

func (p *Proxy) pass(from net.Conn, target string) {
	defer from.Close()
	to, err := net.Dial("tcp", target)
	if err != nil {
		return
	}
	defer to.Close()
	if _, _, ok := p.admit(to); !ok {
		return
	}
	var both sync.WaitGroup
	both.Go(func() {
		io.Copy(to, from) //nolint:errcheck // either side may end it
		to.Close()
	})
	io.Copy(from, to) //nolint:errcheck // either side may end it
	from.Close()
	both.Wait()
}
