package apiserver

import (
	"crypto/tls"
	"net"
	"runtime"

	"quorate/apiserver/access/budget"
)

// newHandshakes returns the queue of TLS handshakes. A handshake costs as much processor time as a
// dozen requests, and without a bound, those of many new connections would all compete with the
// requests of the open ones. At most one for each processor is computed at a time, and half as many
// of one address. The connections that wait are bounded as connections are, and the addresses take
// turns.
func newHandshakes(l Limits, m *metrics) *budget.Queue {
	processors := runtime.GOMAXPROCS(0)
	return budget.NewQueue(budget.QueueConfig{
		Total: int64(processors), PerUser: int64(max(1, processors/2)),
		Waiters: l.Connections, WaitersPerUser: l.Connections, MaxWait: headerTimeout,
		Refused: m.handshakeRefusals(),
	})
}

// admitHandshake waits until the server may compute the handshake of a connection, whose
// ClientHello has arrived. It is tls.Config.GetConfigForClient: nil means the configuration as it
// is.
func (c *connections) admitHandshake(hello *tls.ClientHelloInfo) (*tls.Config, error) {
	conn := guardedOf(hello.Conn)
	if conn == nil || conn.computing.Load() { // not accepted here, or a second ClientHello
		return nil, nil
	}
	if err := c.handshakes.Acquire(hello.Context(), conn.address, 1); err != nil {
		return nil, err
	}
	conn.computing.Store(true)
	return nil, nil
}

// endHandshake returns what admitHandshake has acquired. The first write does it: the server writes
// what it has computed at once, or an alert.
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
