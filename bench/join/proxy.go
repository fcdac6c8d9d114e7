package main

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
)

// proxy passes connections on to an address, and counts the bytes that it passes there.
type proxy struct {
	listener net.Listener
	target   string
	passed   atomic.Int64
	breakAt  atomic.Int64 // number of passed bytes at which all connections break; 0 for never
	broken   atomic.Bool
	work     sync.WaitGroup

	mu     sync.Mutex
	conns  map[net.Conn]struct{}
	closed bool
}

// newProxy returns a proxy at a port of host, to the same port of targetHost.
func newProxy(host, targetHost string) (*proxy, error) {
	listener, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return nil, err
	}
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		return nil, err
	}
	p := &proxy{listener: listener, target: net.JoinHostPort(targetHost, port), conns: make(map[net.Conn]struct{})}
	p.work.Go(p.serve)
	return p, nil
}

func (p *proxy) serve() {
	for {
		conn, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.work.Go(func() { p.pass(conn) })
	}
}

// pass passes one connection on, in both directions.
func (p *proxy) pass(from net.Conn) {
	defer p.forget(from)
	if !p.keep(from) {
		return
	}
	to, err := net.Dial("tcp", p.target)
	if err != nil {
		return // the caller dials again
	}
	defer p.forget(to)
	if !p.keep(to) {
		return
	}
	var both sync.WaitGroup
	both.Go(func() {
		_, _ = io.Copy(counting{to, p}, from) // either side may end it
		to.Close()
	})
	_, _ = io.Copy(from, to)
	from.Close()
	both.Wait()
}

func (p *proxy) keep(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conns[c] = struct{}{}
	return !p.closed
}

func (p *proxy) forget(c net.Conn) {
	c.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, c)
}

// breakAll breaks the connections that there are now.
func (p *proxy) breakAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		c.Close()
	}
}

// close ends the proxy.
func (p *proxy) close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.listener.Close()
	p.breakAll()
	p.work.Wait()
}

// counting counts the bytes written, and breaks the connections when it is time.
type counting struct {
	to    io.Writer
	proxy *proxy
}

func (c counting) Write(b []byte) (int, error) {
	n, err := c.to.Write(b)
	passed, at := c.proxy.passed.Add(int64(n)), c.proxy.breakAt.Load()
	if at > 0 && passed >= at && c.proxy.broken.CompareAndSwap(false, true) {
		c.proxy.breakAll()
	}
	return n, err
}
