package transport

import (
	"cmp"
	"context"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"quorate/raftstore/addresskey"
)

const (
	// maxHandshakes bounds the concurrent handshakes.
	maxHandshakes = 256
	// maxHandshakesPerAddress bounds the concurrent handshakes of one address or network (package
	// addresskey).
	maxHandshakesPerAddress = 128
	// answerPatience is how long a client whose ClientHello has arrived keeps its place against
	// others of its address. A peer responds within a round trip.
	answerPatience = 200 * time.Millisecond
	// evictionWait bounds how long the accept loop waits for an evicted handshake to return.
	// Without the wait, the loop could evict connections whose first bytes have arrived, before the
	// goroutines that would read those bytes have run.
	evictionWait = 10 * time.Millisecond
	// refusalPause is how long the accept loop pauses after it has refused a connection. Clients
	// that reconnect immediately then wait in the listener's queue like all others, and do not
	// displace peers that retry later.
	refusalPause = time.Millisecond
)

// admission decides which connections may perform a handshake. When a bound is reached, a new
// connection replaces another one, or is refused if no other yields to it. Until a client has sent
// its certificate, admission can't know whether the client is a peer. But a peer sends its
// ClientHello immediately and responds within a round trip, while a connection that only occupies a
// place does neither.
type admission struct {
	metrics *metrics
	members *memberAddresses

	mu       sync.Mutex
	underway []*handshake // guarded by mu; in the order of arrival
}

// handshake is a connection whose handshake is under way.
type handshake struct {
	socket
	share   netip.Prefix
	member  bool
	greeted atomic.Pointer[time.Time] // when the whole ClientHello had arrived
	evicted atomic.Bool               // another connection has its place
	ended   chan struct{}             // closed when the handshake has returned
}

// admit adds a connection, and evicts another one if a bound is reached. If it refuses the
// connection, it closes it and returns nil.
func (a *admission) admit(ctx context.Context, conn net.Conn) *handshake {
	addr := remoteAddr(conn)
	h := &handshake{socket: socket{Conn: conn}, share: addresskey.Network(addr), member: a.members.contains(addr), ended: make(chan struct{})}
	evicted, admitted := a.add(h)
	if evicted != nil {
		a.metrics.refused.Inc()
		_ = evicted.Close() // makes its handshake fail
		evicted.await(ctx)
	}
	if !admitted {
		a.metrics.refused.Inc()
		_ = conn.Close() // an error means that the client has closed it already
		wait(ctx, refusalPause)
		return nil
	}
	return h
}

// add adds a connection to those in the handshake. evicted is the one that it replaces, nil if
// none.
func (a *admission) add(h *handshake) (evicted *handshake, admitted bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	counts := make(map[netip.Prefix]int, len(a.underway))
	for _, other := range a.underway {
		counts[other.share]++
	}
	switch {
	case counts[h.share] >= maxHandshakesPerAddress:
		a.metrics.hit(limitAddressHandshakes)
		evicted = a.leastLikely(h, counts, func(other *handshake) bool { return other.share == h.share })
	case len(a.underway) >= maxHandshakes:
		a.metrics.hit(limitHandshakes)
		evicted = a.leastLikely(h, counts, func(other *handshake) bool { return h.member || !other.member })
	default:
		a.underway = append(a.underway, h)
		a.metrics.handshakes.Set(float64(len(a.underway)))
		return nil, true
	}
	if evicted == nil {
		return nil, false
	}
	evicted.evicted.Store(true)
	a.drop(evicted)
	a.underway = append(a.underway, h)
	return evicted, true
}

// leastLikely returns the connection that is least likely to be a peer's, among the candidates that
// may lose their place to a new one; nil if there is none.
func (a *admission) leastLikely(to *handshake, counts map[netip.Prefix]int, candidate func(*handshake) bool) *handshake {
	now := time.Now()
	var least *handshake
	for _, h := range a.underway {
		if candidate(h) && h.yields(to, counts, now) && (least == nil || h.lessLikely(least, counts)) {
			least = h
		}
	}
	return least
}

// yields reports whether h may lose its place to a new connection. A client that has sent its
// ClientHello less than answerPatience ago keeps its place, unless the new connection is from a
// member's address and h is not, or the network of h has more connections than that of the new one,
// the new one included.
func (h *handshake) yields(to *handshake, counts map[netip.Prefix]int, now time.Time) bool {
	greeted := h.greeted.Load()
	return greeted == nil || now.Sub(*greeted) >= answerPatience ||
		to.member && !h.member || counts[h.share] > counts[to.share]+1
}

// lessLikely reports whether h is less likely to be a peer's connection than another one. It
// compares, in this order, whether they come from a member's address, how many connections their
// networks have (fewer is more likely), and whether their ClientHello has arrived.
func (h *handshake) lessLikely(than *handshake, counts map[netip.Prefix]int) bool {
	return cmp.Or(
		compareBool(h.member, than.member),
		cmp.Compare(counts[than.share], counts[h.share]),
		compareBool(h.greeted.Load() != nil, than.greeted.Load() != nil),
	) < 0 // a.underway is in the order of arrival, so the first of equals is the oldest
}

// compareBool orders false before true.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	default:
		return 1
	}
}

// end removes a handshake that has returned, unless it was evicted.
func (a *admission) end(h *handshake) {
	a.mu.Lock()
	a.drop(h)
	a.metrics.handshakes.Set(float64(len(a.underway)))
	a.mu.Unlock()
	close(h.ended)
}

// drop removes h from the pending handshakes. mu is held.
func (a *admission) drop(h *handshake) {
	if i := slices.Index(a.underway, h); i >= 0 {
		a.underway = slices.Delete(a.underway, i, i+1)
	}
}

// await waits until the handshake has returned, but not longer than evictionWait.
func (h *handshake) await(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, evictionWait)
	defer cancel()
	select {
	case <-h.ended:
	case <-ctx.Done():
	}
}

// remoteAddr returns the IP address of a connection's peer, the zero Addr if it has none.
func remoteAddr(conn net.Conn) netip.Addr {
	tcp, ok := conn.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	return tcp.AddrPort().Addr().Unmap().WithZone("")
}
