package transport_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"os"
	"testing"
	"time"

	"quorate/raftstore/testcluster"
	"quorate/raftstore/transport"
)

// attackHost returns an address of loopback that no other process uses.
func attackHost(n int) string {
	return fmt.Sprintf("127.%d.%d.%d", 100+os.Getpid()%40, 1+os.Getpid()/40%250, n)
}

// clientHello returns what a client of the cluster sends first. It needs no key.
func clientHello(t *testing.T) []byte {
	t.Helper()
	ours, theirs := net.Pipe()
	defer ours.Close()
	go func() {
		config := &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS13, NextProtos: []string{transport.ProtocolGRPC}}
		_ = tls.Client(theirs, config).Handshake() // it fails: nobody answers
		_ = theirs.Close()
	}()
	hello := make([]byte, 16<<10)
	n, err := ours.Read(hello)
	if err != nil {
		t.Fatal(err)
	}
	return hello[:n]
}

// TestIdleConnections: strangers hold as many connections as they are given, and peers, which try
// again when they are refused, get in one after the other.
func TestIdleConnections(t *testing.T) {
	const bound = 30 * time.Second // for all peers of a case
	authority := testcluster.NewAuthority(t)
	client, _ := listen(t, authority.Peer(t, "client"), 0)
	cases := map[string]struct {
		n     int
		from  string
		first []byte
		peers int
	}{
		"300_of_another_address":     {300, attackHost(2), nil, 10},
		"1000_of_another_address":    {1000, attackHost(2), nil, 10},
		"300_of_the_peers_address":   {300, "127.0.0.1", nil, 10},
		"1000_of_the_peers_address":  {1000, "127.0.0.1", nil, 10},
		"300_that_begin_a_handshake": {300, "127.0.0.1", clientHello(t), 4},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			server, _ := listen(t, authority.Peer(t, "server"), 0)
			stop := testcluster.Idlers(t, c.n, c.from, server.Addr().String(), c.first)
			defer stop()
			ctx, cancel := context.WithTimeout(t.Context(), bound)
			defer cancel()
			start, slowest := time.Now(), time.Duration(0)
			for i := range c.peers {
				begun := time.Now()
				if err := dialUntil(ctx, client, server.Addr().String()); err != nil {
					t.Fatalf("%d of %d peers were let in after %v: %v", i, c.peers, time.Since(start), err)
				}
				slowest = max(slowest, time.Since(begun))
			}
			t.Logf("%d peers were let in after %v, the slowest after %v", c.peers, time.Since(start), slowest)
		})
	}
}

// dialUntil dials until the server has let the peer in.
func dialUntil(ctx context.Context, m *transport.Mux, addr string) error {
	for {
		conn, err := m.Dial(ctx, "server", addr, transport.ProtocolGRPC)
		if err == nil {
			return conn.Close()
		}
		if ctx.Err() != nil {
			return err
		}
	}
}
