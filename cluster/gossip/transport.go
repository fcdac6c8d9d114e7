package gossip

import (
	"context"
	"net"
	"time"

	"github.com/hashicorp/memberlist"
)

// transport is memberlist's own with bounds on the connections of others and on what is read of
// any. Dials and dialled connections end with ctx: a stop need not wait for an address that
// swallows packets.
type transport struct {
	*memberlist.NetTransport
	ctx     context.Context // of Run; memberlist's interface has no place for it
	streams *streams
}

// StreamCh implements memberlist.Transport.
func (t transport) StreamCh() <-chan net.Conn { return t.streams.admitted }

func (t transport) DialTimeout(addr string, timeout time.Duration) (net.Conn, error) {
	return t.DialAddressTimeout(memberlist.Address{Addr: addr}, timeout)
}

func (t transport) DialAddressTimeout(a memberlist.Address, timeout time.Duration) (net.Conn, error) {
	dialer := net.Dialer{Timeout: timeout}
	conn, err := dialer.DialContext(t.ctx, "tcp", a.Addr)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(t.ctx, func() { conn.Close() })
	return &boundedConn{Conn: conn, left: maxStreamBytes, metrics: t.streams.metrics, closed: func() { stop() }}, nil
}
