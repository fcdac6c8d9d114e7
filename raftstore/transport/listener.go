package transport

import (
	"context"
	"net"
	"sync"
)

// subListener is the net.Listener of the connections of one protocol.
type subListener struct {
	addr  net.Addr
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func newSubListener(addr net.Addr) *subListener {
	return &subListener{addr: addr, conns: make(chan net.Conn), done: make(chan struct{})}
}

// offer waits until Accept returns the connection, the listener is closed or ctx ends.
func (l *subListener) offer(ctx context.Context, c net.Conn) error {
	select {
	case l.conns <- c:
		return nil
	case <-l.done:
		return net.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *subListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *subListener) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

func (l *subListener) Addr() net.Addr { return l.addr }

// peerAddr is a host:port that others dial; it may name a host that only they can resolve.
type peerAddr string

func (peerAddr) Network() string  { return "tcp" }
func (a peerAddr) String() string { return string(a) }
