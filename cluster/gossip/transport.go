package gossip

import (
	"context"
	"errors"
	"io"
	"net"
	"time"

	"github.com/hashicorp/memberlist"
)

// transport wraps memberlist's own transport. It bounds the connections from other nodes and the
// bytes read from each connection, and checks the key of received messages. When ctx ends, running
// dials fail and dialled connections are closed, so that a stop need not wait for an address that
// drops packets.
type transport struct {
	*memberlist.NetTransport
	ctx     context.Context // of Run; memberlist's interface has no place for it
	g       *Gossip
	streams *streams
	packets chan *memberlist.Packet // those to pass to memberlist
}

func newTransport(ctx context.Context, g *Gossip, inner *memberlist.NetTransport) *transport {
	return &transport{
		NetTransport: inner, ctx: ctx, g: g, packets: make(chan *memberlist.Packet), streams: newStreams(g),
	}
}

// StreamCh implements memberlist.Transport.
func (t *transport) StreamCh() <-chan net.Conn { return t.streams.admitted }

// PacketCh implements memberlist.Transport.
func (t *transport) PacketCh() <-chan *memberlist.Packet { return t.packets }

// start runs t until the function that it returns is called.
func (t *transport) start() (stop func()) {
	return running(
		func(ctx context.Context) { t.streams.run(ctx, t.NetTransport.StreamCh()) },
		t.checkPackets,
	)
}

// checkPackets passes packets to memberlist until ctx ends, except for those that are encrypted
// with another key.
func (t *transport) checkPackets(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case packet := <-t.NetTransport.PacketCh():
			if t.g.key.check(packet.Buf, nil) == errOtherKey {
				t.g.reportOtherKey(packet.From)
				continue
			}
			select {
			case t.packets <- packet:
			case <-ctx.Done():
				return
			}
		}
	}
}

// DialTimeout implements memberlist.Transport.
func (t *transport) DialTimeout(addr string, timeout time.Duration) (net.Conn, error) {
	return t.DialAddressTimeout(memberlist.Address{Addr: addr}, timeout)
}

// DialAddressTimeout implements memberlist.NodeAwareTransport.
func (t *transport) DialAddressTimeout(a memberlist.Address, timeout time.Duration) (net.Conn, error) {
	dialer := net.Dialer{Timeout: timeout}
	dialled, err := dialer.DialContext(t.ctx, "tcp", a.Addr)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(t.ctx, func() { dialled.Close() })
	return &conn{
		Conn: dialled, key: t.g.key, metrics: t.g.metrics, left: maxStreamBytes,
		received: func(err error) error {
			t.g.attempt.received(a.Addr, err)
			return err
		},
		onClose: func() { stop() },
	}, nil
}

// accepted handles the result of the first message on a connection from another node, and returns
// the error for memberlist: io.EOF if the message is encrypted with another key, after which
// memberlist closes the connection, and nil if it is not encrypted, because memberlist refuses and
// logs that itself.
func (g *Gossip) accepted(from net.Addr, err error) error {
	switch {
	case errors.Is(err, errOtherKey):
		g.reportOtherKey(from)
		return io.EOF
	case errors.Is(err, errNotEncrypted):
		return nil // memberlist refuses and logs it
	}
	return err
}
