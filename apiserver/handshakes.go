package apiserver

import (
	"crypto/tls"
	"net"
	"runtime"

	"quorate/apiserver/access/budget"
)

// newHandshakes returns the queue that bounds the TLS handshakes computed at a time to one for each
// processor, and for one address to half as many, at least one. Without a bound, the handshakes of
// many new connections would compete with the requests of open connections. As many handshakes may
// wait as connections may be open, each for at most headerTimeout. A free unit goes to the waiting
// address that was served least recently.
func newHandshakes(l Limits, m *metrics) *budget.Queue {
	processors := runtime.GOMAXPROCS(0)
	return budget.NewQueue(budget.QueueConfig{
		Total: int64(processors), PerUser: int64(max(1, processors/2)),
		Waiters: l.Connections, WaitersPerUser: l.Connections, MaxWait: headerTimeout,
		Refused: m.queueRefusals("handshakes", "address"),
	})
}

// admitHandshake implements tls.Config.GetConfigForClient, which crypto/tls calls when the
// ClientHello has arrived. It waits until the server may compute the handshake, and returns a nil
// Config to keep the listener's. An error ends the handshake.
func (c *connections) admitHandshake(hello *tls.ClientHelloInfo) (*tls.Config, error) {
	conn := guardedOf(hello.Conn)
	if conn == nil { // not accepted here
		return nil, nil
	}
	conn.compute = func() error {
		if err := c.handshakes.Acquire(hello.Context(), conn.address, 1); err != nil {
			return err
		}
		conn.computing.Store(true)
		return nil
	}
	conn.handshakeDone = hello.Context().Done()
	return nil, conn.compute()
}

// readHandshake reads what the client sends after its ClientHello: a second one, if the server has
// requested that, the key exchange of TLS 1.2, and a certificate with its proof. The server has to
// compute something for each, so readHandshake acquires a unit of the queue when data arrive. It
// holds none while it waits. If the client has sent all at once, the server does not read in
// between, and keeps the unit that it has.
//
// The first read after the handshake releases the unit.
func (g *guarded) readHandshake(p []byte) (int, error) {
	g.endHandshake()
	select {
	case <-g.handshakeDone:
		g.handshakeDone = nil
		return g.Conn.Read(p)
	default:
	}
	n, err := g.Conn.Read(p)
	if n == 0 {
		return n, err
	}
	if refused := g.compute(); refused != nil {
		return 0, refused
	}
	return n, err
}

// endHandshake returns the unit that compute has acquired, if any.
func (g *guarded) endHandshake() {
	if g.computing.CompareAndSwap(true, false) {
		g.all.handshakes.Release(g.address, 1)
	}
}

// guardedOf returns the connection of this listener below a connection, or nil if there is none.
func guardedOf(conn net.Conn) *guarded {
	for {
		switch c := conn.(type) {
		case *guarded:
			return c
		case interface{ NetConn() net.Conn }:
			conn = c.NetConn()
		default:
			return nil
		}
	}
}
