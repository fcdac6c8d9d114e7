package gossip_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"runtime"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"quorate/cluster/gossip"
	"quorate/cluster/roster"
)

// attackHost is an address of loopback that no other test of this package uses.
func attackHost(n int) string {
	return fmt.Sprintf("127.%d.%d.%d", 170+os.Getpid()%40, 1+os.Getpid()/40%250, n)
}

// dialFrom opens a connection from an address of its own.
func dialFrom(t *testing.T, from, to string) net.Conn {
	t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	conn, err := d.DialContext(t.Context(), "tcp", to)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// TestStrangersStreams announces messages of 20 MiB on many connections and sends them as far as
// they are taken. Nobody without the key can make a node hold more than the bounds allow together.
func TestStrangersStreams(t *testing.T) {
	const (
		conns   = 48
		message = 20 << 20
		allowed = 100 << 20 // 32 connections of 1 MiB, twice over while a buffer grows
	)
	a, _ := run(t, attackHost(1), "a", 1)
	<-a.Ready()
	header := append([]byte{10}, binary.BigEndian.AppendUint32(nil, message)...) // an encrypted message
	chunk := make([]byte, 256<<10)
	runtime.GC()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	var peak uint64
	var mu sync.Mutex
	var senders sync.WaitGroup
	for i := range conns {
		conn := dialFrom(t, attackHost(100+i/6), attackHost(1)+":7947")
		senders.Go(func() {
			if _, err := conn.Write(header); err != nil {
				return // closed at once: over a bound
			}
			for range message / len(chunk) {
				if _, err := conn.Write(chunk); err != nil {
					return
				}
				var now runtime.MemStats
				runtime.ReadMemStats(&now)
				mu.Lock()
				peak = max(peak, now.HeapAlloc)
				mu.Unlock()
			}
		})
	}
	senders.Wait()
	if grown := int64(peak) - int64(before.HeapAlloc); grown > allowed {
		t.Errorf("the heap grew by %d MiB, want at most %d", grown>>20, allowed>>20)
	}
}

// TestSilentStreams keeps opening connections that say nothing; a node of another address joins
// meanwhile.
func TestSilentStreams(t *testing.T) {
	a, registry := runLogged(t, attackHost(2), io.Discard)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var attackers sync.WaitGroup
	defer attackers.Wait()
	defer cancel()
	for range 64 {
		attackers.Go(func() {
			d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(attackHost(99))}}
			for ctx.Err() == nil {
				conn, err := d.DialContext(ctx, "tcp", attackHost(2)+":7947")
				if err != nil {
					continue
				}
				stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
				_, _ = conn.Read(make([]byte, 1)) // until the node closes it
				stop()
				_ = conn.Close()
			}
		})
	}
	run(t, attackHost(3), "b", 1, attackHost(2)+":7947")
	await(t, a, true, 1)
	if hits := limitHits(t, registry); hits["streams_per_address"] == 0 || hits["streams"] != 0 {
		t.Errorf("bounds hit: %v, want that of the attacker's address alone", hits)
	}
}

// TestStreamsOfOneAddress opens one connection more than one address may have.
func TestStreamsOfOneAddress(t *testing.T) {
	_, registry := runLogged(t, attackHost(62), io.Discard)
	var last net.Conn
	for range 9 {
		last = dialFrom(t, attackHost(63), attackHost(62)+":7947")
	}
	_, _ = last.Read(make([]byte, 1)) // until the node closes it
	if hits := limitHits(t, registry); hits["streams_per_address"] != 1 || hits["streams"] != 0 {
		t.Errorf("bounds hit: %v, want that of one address once", hits)
	}
}

// TestSilentStreamEnds: a connection that says nothing is closed in a moment, and counted.
func TestSilentStreamEnds(t *testing.T) {
	_, registry := runLogged(t, attackHost(64), io.Discard)
	conn := dialFrom(t, attackHost(65), attackHost(64)+":7947")
	_, _ = conn.Read(make([]byte, 1)) // until the node closes it
	if hits := limitHits(t, registry); hits["stream_time"] != 1 {
		t.Errorf("bounds hit: %v, want the time of a stream once", hits)
	}
}

// TestEndedStreamsAreNotCounted opens more connections from one address than a node reads at a
// time, each after the end of the one before.
func TestEndedStreamsAreNotCounted(t *testing.T) {
	_, registry := runLogged(t, attackHost(60), io.Discard)
	for range 40 {
		conn := dialFrom(t, attackHost(61), attackHost(60)+":7947")
		if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		_, _ = conn.Read(make([]byte, 1)) // until the node closes it: with an end, or with a reset
	}
	if hits := limitHits(t, registry); hits["streams_per_address"] != 0 || hits["streams"] != 0 {
		t.Errorf("bounds hit: %v", hits)
	}
}

// TestJunkIsLoggedSparingly sends packets and streams that are no messages.
func TestJunkIsLoggedSparingly(t *testing.T) {
	const packets, allowed = 2000, 60
	var log lines
	g, _ := runLogged(t, attackHost(4), &log)
	udp, err := net.Dial("udp", attackHost(4)+":7947")
	if err != nil {
		t.Fatal(err)
	}
	defer udp.Close()
	for i := range packets {
		// Of each first byte, and of many lengths: too short, labelled, compressed, encrypted, of
		// no kind.
		if _, err := udp.Write(bytes.Repeat([]byte{byte(i)}, 1+i%60)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 200 {
		conn := dialFrom(t, attackHost(5+i%50), attackHost(4)+":7947")
		_, _ = conn.Write(bytes.Repeat([]byte{byte(i)}, 40)) // it may be closed already
		_ = conn.Close()
	}
	// A node with the key is served behind all that.
	run(t, attackHost(98), "b", 1, attackHost(4)+":7947")
	await(t, g, true, 1)
	if n := log.count(); n > allowed {
		t.Errorf("%d lines were logged for %d packets, want at most %d", n, packets, allowed)
	}
}

// runLogged is run with a log and the registry of metrics; it returns once the node is ready.
func runLogged(t *testing.T, host string, log io.Writer) (*gossip.Gossip, *prometheus.Registry) {
	t.Helper()
	names, err := roster.Open(t.TempDir(), "a", "id-a")
	if err != nil {
		t.Fatal(err)
	}
	registry := prometheus.NewRegistry()
	g, err := gossip.New(gossip.Config{
		Self: gossip.Meta{Name: "a", NodeID: "id-a", Start: 1, Nonce: "x", PeerAddr: host + ":1"},
		Addr: host + ":7947", Key: bytes.Repeat([]byte{7}, 32), Scale: 0.2, Roster: names,
		Logger: slog.New(slog.NewTextHandler(log, nil)), Registerer: registry,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- g.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	<-g.Ready()
	return g, registry
}

// limitHits returns how often each bound was hit.
func limitHits(t *testing.T, registry *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	hits := map[string]float64{}
	for _, f := range families {
		if f.GetName() == "quorate_cluster_gossip_limit_hits_total" {
			for _, m := range f.GetMetric() {
				hits[m.GetLabel()[0].GetValue()] = m.GetCounter().GetValue()
			}
		}
	}
	return hits
}

// lines counts what is written to it.
type lines struct {
	mu sync.Mutex
	n  int
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.n += bytes.Count(p, []byte("\n"))
	return len(p), nil
}

func (l *lines) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.n
}
