package transport

import (
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// The bytes of a peer are counted from the end of the handshake on, and the number of names is
// bounded.
func TestBytesSentAreCountedByPeer(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	m := newMetrics(registry)
	sent := func() map[string]float64 {
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		bytes := make(map[string]float64)
		for _, f := range families {
			if f.GetName() == "quorate_raftstore_peer_sent_bytes_total" {
				for _, metric := range f.GetMetric() {
					bytes[metric.GetLabel()[0].GetValue()] = metric.GetCounter().GetValue()
				}
			}
		}
		return bytes
	}
	ours, theirs := net.Pipe()
	defer theirs.Close()
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(io.Discard, theirs)
	}()
	s := &socket{Conn: ours}
	write := func(text string) {
		if _, err := io.WriteString(s, text); err != nil {
			t.Fatal(err)
		}
	}
	write("handshake")
	s.sent.Store(m.sentTo("n1"))
	write("12345")
	write("678")
	ours.Close()
	<-read
	if n := sent()["n1"]; n != 8 {
		t.Errorf("%v bytes to n1, want 8", n)
	}
	for i := range 2 * maxCountedPeers {
		(*m.sentTo(fmt.Sprintf("replaced-%d", i))).Inc()
	}
	if n := len(sent()); n != maxCountedPeers+1 {
		t.Errorf("%d names, want %d and one for all others", n, maxCountedPeers)
	}
	if n := sent()[otherPeers]; n != maxCountedPeers+1 {
		t.Errorf("%v bytes to others, want %d", n, maxCountedPeers+1)
	}
}
