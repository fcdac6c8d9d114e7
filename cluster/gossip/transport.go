package gossip

import (
	"context"
	"net"
	"time"

	"github.com/hashicorp/memberlist"
)

// transport is memberlist's own, whose dials and dialled connections end with ctx: a stop need not wait for an address that
// swallows packets.
type transport struct {
	*memberlist.NetTransport
	ctx context.Context // of Run; memberlist's interface has no place for it
}

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
	return &dialled{Conn: conn, stop: stop}, nil
}

type dialled struct {
	net.Conn
	stop func() bool
}

func (d *dialled) Close() error {
	d.stop()
	return d.Conn.Close()
}
