package gossip

import (
	"fmt"
	"net"
	"net/netip"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// addressed is a connection from an address.
type addressed struct {
	net.Conn
	from netip.AddrPort
}

func (c addressed) RemoteAddr() net.Addr { return net.TCPAddrFromAddrPort(c.from) }
func (addressed) Close() error           { return nil }

// TestStreamsOfOneNetwork checks that all addresses of an IPv6 network share one bound, because one
// host usually has all of them, and that each IPv4 address has a bound of its own.
func TestStreamsOfOneNetwork(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ one, other string }{
		{"[2001:db8:1:2::%x]:7946", "[2001:db8:1:3::1]:7946"},
		{"192.0.2.7:%d", "192.0.2.8:7946"},
	} {
		g := &Gossip{}
		g.metrics = newMetrics(prometheus.NewRegistry(), g)
		s := newStreams(g)
		open := func(from string) (net.Conn, string) {
			return s.admit(addressed{from: netip.MustParseAddrPort(from)})
		}
		var last net.Conn
		for i := range maxStreamsPerAddress {
			conn, limit := open(fmt.Sprintf(c.one, i+1))
			if limit != "" {
				t.Fatalf("connection %d is over the bound %s", i, limit)
			}
			last = conn
		}
		if _, limit := open(fmt.Sprintf(c.one, 99)); limit != limitAddressStreams {
			t.Errorf("a connection beyond the bound of %s: got limit %q", c.one, limit)
		}
		if _, limit := open(c.other); limit != "" {
			t.Errorf("%s is over the bound %s of another address", c.other, limit)
		}
		if err := last.Close(); err != nil {
			t.Fatal(err)
		}
		if _, limit := open(fmt.Sprintf(c.one, 98)); limit != "" {
			t.Errorf("a closed connection still counts: got limit %q", limit)
		}
	}
}
