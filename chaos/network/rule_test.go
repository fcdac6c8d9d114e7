package network_test

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"slices"
	"testing"
	"time"

	"quorate/chaos/network"
)

// arrival bounds the wait for what must arrive, on a machine that is busy with other things.
const arrival = 30 * time.Second

// socket is a UDP socket on a host.
type socket struct {
	t testing.TB
	*net.UDPConn
}

func open(t testing.TB, h *network.Host) socket {
	t.Helper()
	s := socket{t: t}
	if err := h.Do(func() (err error) {
		s.UDPConn, err = net.ListenUDP("udp", &net.UDPAddr{IP: h.Address().AsSlice()})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// send sends a datagram with a number in it, and as many bytes as the size beyond.
func (s socket) send(to socket, number uint32, size int) {
	s.t.Helper()
	if _, err := s.WriteTo(append(binary.BigEndian.AppendUint32(nil, number), make([]byte, size)...), to.LocalAddr()); err != nil {
		s.t.Fatal(err)
	}
}

// receive returns the number of the next datagram, which must come.
func (s socket) receive() uint32 {
	s.t.Helper()
	if err := s.SetReadDeadline(time.Now().Add(arrival)); err != nil {
		s.t.Fatal(err)
	}
	buffer := make([]byte, 4)
	if _, err := io.ReadFull(s, buffer); err != nil {
		s.t.Fatal(err)
	}
	return binary.BigEndian.Uint32(buffer)
}

func shape(t testing.TB, n *network.Network, rules map[network.Link]network.Rule) {
	t.Helper()
	if err := n.Shape(rules); err != nil {
		t.Fatal(err)
	}
}

var ab = network.Link{From: "a", To: "b"}

func TestGoodLinksCarryBothWaysBetweenAllHosts(t *testing.T) {
	n, a, b := start(t)
	clients := network.Clients
	sockets := map[string]socket{"a": open(t, a), "b": open(t, b)}
	everywhere, err := net.ListenUDP("udp", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer everywhere.Close()
	for _, to := range []string{"a", "b"} {
		if _, err := everywhere.WriteTo([]byte{0, 0, 0, 7}, sockets[to].LocalAddr()); err != nil {
			t.Fatal(err)
		}
		if got := sockets[to].receive(); got != 7 {
			t.Errorf("%s got %d", to, got)
		}
	}
	sockets["a"].send(sockets["b"], 1, 0)
	sockets["b"].send(sockets["a"], 2, 0)
	if got := []uint32{sockets["b"].receive(), sockets["a"].receive()}; !slices.Equal(got, []uint32{1, 2}) {
		t.Errorf("b and a got %v", got)
	}
	// A datagram may be received before it is counted.
	for _, link := range []network.Link{ab, {From: "b", To: "a"}, {From: clients, To: "a"}, {From: clients, To: "b"}} {
		await(t, fmt.Sprintf("a datagram is counted on %s", link), func() bool { return n.Counters()[link].Delivered > 0 })
	}
}

func TestOneWayIsCutAndHeals(t *testing.T) {
	n, a, b := start(t)
	here, there := open(t, a), open(t, b)
	shape(t, n, map[network.Link]network.Rule{ab: {Drop: true}})
	here.send(there, 1, 0)
	there.send(here, 2, 0)
	if got := here.receive(); got != 2 {
		t.Errorf("a got %d over the link that is good", got)
	}
	// The datagram that is lost is no longer under way then.
	await(t, "it is dropped", func() bool { return n.Counters()[ab].Dropped > 0 })
	shape(t, n, nil)
	here.send(there, 3, 0)
	if got := there.receive(); got != 3 {
		t.Errorf("b got %d, and 3 is the first that was sent over a good link", got)
	}
}

func TestPacketsAreLateAndKeepTheirOrder(t *testing.T) {
	n, a, b := start(t)
	here, there := open(t, a), open(t, b)
	const delay, count = 60 * time.Millisecond, 50
	shape(t, n, map[network.Link]network.Rule{ab: {Delay: delay, Jitter: delay}})
	began := time.Now()
	for i := range uint32(count) {
		here.send(there, i, 0)
	}
	for i := range uint32(count) {
		if got := there.receive(); got != i {
			t.Fatalf("%d arrived in place of %d", got, i)
		}
		if took := time.Since(began); took < delay {
			t.Fatalf("arrived after %v", took)
		}
	}
}

func TestWhatIsUnderWayArrivesWhenTheLinkHealsAndNeverWhenItIsCut(t *testing.T) {
	n, a, b := start(t)
	here, there := open(t, a), open(t, b)
	slow := map[network.Link]network.Rule{ab: {Delay: time.Hour}}
	shape(t, n, slow)
	here.send(there, 1, 0)
	shape(t, n, nil)
	if got := there.receive(); got != 1 {
		t.Errorf("b got %d", got)
	}
	shape(t, n, slow)
	here.send(there, 2, 0)
	shape(t, n, map[network.Link]network.Rule{ab: {Drop: true}})
	await(t, "it is dropped", func() bool { return n.Counters()[ab].Dropped > 0 })
	shape(t, n, nil)
	here.send(there, 3, 0)
	if got := there.receive(); got != 3 {
		t.Errorf("b got %d", got)
	}
}

func TestSomePacketsOvertakeOthers(t *testing.T) {
	for name, rule := range map[string]network.Rule{
		"by the delay":           {Reorder: 0.3, Delay: 20 * time.Millisecond},
		"by a few milliseconds":  {Reorder: 0.3},
		"with jitter and a rate": {Reorder: 0.3, Jitter: time.Millisecond, Rate: 1 << 20},
	} {
		t.Run(name, func(t *testing.T) {
			n, a, b := start(t)
			here, there := open(t, a), open(t, b)
			shape(t, n, map[network.Link]network.Rule{ab: rule})
			var got []uint32
			for i := range uint32(100) {
				here.send(there, i, 0)
			}
			for range 100 {
				got = append(got, there.receive())
			}
			if slices.IsSorted(got) {
				t.Error("all arrived in the order in which they were sent")
			}
		})
	}
}

func TestSomePacketsArriveTwice(t *testing.T) {
	n, a, b := start(t)
	here, there := open(t, a), open(t, b)
	shape(t, n, map[network.Link]network.Rule{ab: {Duplicate: 1}})
	here.send(there, 1, 0)
	here.send(there, 2, 0)
	for _, want := range []uint32{1, 1, 2, 2} {
		if got := there.receive(); got != want {
			t.Errorf("got %d, want %d", got, want)
		}
	}
}

// transfer sends bytes over TCP from a to b, checks what arrives, and returns how long that took.
func transfer(t *testing.T, a, b *network.Host, size int) time.Duration {
	t.Helper()
	data := make([]byte, size)
	rand.Read(data)
	l := listen(t, b)
	began := time.Now()
	done := make(chan error, 1)
	go func() { // ends with the transfer, which is waited for
		done <- a.Do(func() error {
			conn, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				return err
			}
			defer conn.Close()
			_, err = conn.Write(data)
			return err
		})
	}()
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	got, err := io.ReadAll(conn)
	if err != nil || !bytes.Equal(got, data) {
		t.Errorf("%d of %d bytes arrived, or others: %v", len(got), len(data), err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	return time.Since(began)
}

func TestTCPGetsThroughWhereManyPacketsAreHit(t *testing.T) {
	n, a, b := start(t)
	bad := network.Rule{Loss: 0.1, Duplicate: 0.1, Reorder: 0.1}
	shape(t, n, map[network.Link]network.Rule{ab: bad, {From: "b", To: "a"}: bad})
	transfer(t, a, b, 1<<20)
	if n.Counters()[ab].Lost == 0 {
		t.Error("nothing was lost")
	}
}

func TestRateHoldsAndTooMuchIsDropped(t *testing.T) {
	n, a, b := start(t)
	shape(t, n, map[network.Link]network.Rule{ab: {Rate: 500_000}})
	if took := transfer(t, a, b, 500_000); took < 900*time.Millisecond {
		t.Errorf("half a megabyte took %v at as much a second", took)
	}
	here, there := open(t, a), open(t, b)
	for i := range uint32(100) {
		here.send(there, i, 15_000) // three seconds of it, and what waits for more than one is dropped
	}
	await(t, "some is dropped", func() bool { return n.Counters()[ab].Overflowed > 0 })
}

func TestRulesThatNoLinkFollowsAreRefused(t *testing.T) {
	for name, rule := range map[string]network.Rule{
		"loss above all":   {Loss: 1.5},
		"negative reorder": {Reorder: -0.1},
		"negative delay":   {Delay: -1},
		"negative rate":    {Rate: -1},
	} {
		if err := rule.Validate(); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
