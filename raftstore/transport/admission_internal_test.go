package transport

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// value returns what a metric shows; it has one label value, or none.
func value(t *testing.T, c prometheus.Metric) float64 {
	t.Helper()
	var m dto.Metric
	if err := c.Write(&m); err != nil {
		t.Fatal(err)
	}
	return m.GetCounter().GetValue() + m.GetGauge().GetValue()
}

// from is a connection of an address.
type from struct {
	net.Conn
	addr  string
	ended bool
}

func (c *from) RemoteAddr() net.Addr { return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(c.addr)) }

func (c *from) Close() error {
	c.ended = true
	return nil
}

func newAdmission(t *testing.T, members ...string) *admission {
	t.Helper()
	m := newMetrics(nil)
	current := map[string]string{}
	for i, addr := range members {
		current[fmt.Sprint("n", i)] = addr
	}
	a := &admission{metrics: m, members: newMemberAddresses(func() map[string]string { return current }, m)}
	a.members.refresh(t.Context())
	return a
}

// arrive lets a connection of an address begin its handshake; it is nil if it is refused.
func (a *admission) arrive(addr string) *handshake {
	h := a.admit(context.Background(), &from{addr: addr})
	return h
}

func (h *handshake) greet() *handshake {
	now := time.Now()
	h.greeted.Store(&now)
	return h
}

func (a *admission) byShare() map[string]int {
	counts := map[string]int{}
	for _, h := range a.underway {
		counts[h.share.String()]++
	}
	return counts
}

func want(t *testing.T, a *admission, counts map[string]int) {
	t.Helper()
	if got := a.byShare(); !maps.Equal(got, counts) {
		t.Errorf("handshakes under way: %v, want %v", got, counts)
	}
}

func TestAdmission(t *testing.T) {
	t.Run("an address has a share, and the oldest that said nothing loses its place", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			a := newAdmission(t)
			recordHello := a.arrive("192.0.2.1:1").greet()
			oldest := a.arrive("192.0.2.1:1")
			for range maxHandshakesPerAddress - 2 {
				a.arrive("192.0.2.1:1")
			}
			time.Sleep(answerPatience)
			if a.arrive("192.0.2.1:1") == nil {
				t.Error("a new connection is refused")
			}
			if !oldest.evicted.Load() || !oldest.Conn.(*from).ended || recordHello.evicted.Load() {
				t.Errorf("the oldest is evicted: %t, one that has greeted: %t", oldest.evicted.Load(), recordHello.evicted.Load())
			}
			want(t, a, map[string]int{"192.0.2.1/32": maxHandshakesPerAddress})
			if n := value(t, a.metrics.limits.WithLabelValues(limitAddressHandshakes)); n != 1 {
				t.Errorf("counted %v times", n)
			}
		})
	})
	t.Run("one that is about to answer keeps its place for a while", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			a := newAdmission(t)
			for range maxHandshakesPerAddress {
				a.arrive("192.0.2.1:1").greet()
			}
			if a.arrive("192.0.2.1:1") != nil {
				t.Error("a new connection has taken its place")
			}
			time.Sleep(answerPatience)
			if a.arrive("192.0.2.1:1") == nil {
				t.Error("a new connection is refused")
			}
		})
	})
	t.Run("the address with the most gives a place to others", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			a := newAdmission(t)
			for range maxHandshakesPerAddress {
				a.arrive("192.0.2.1:1").greet()
			}
			for range maxHandshakes - maxHandshakesPerAddress {
				a.arrive(fmt.Sprintf("192.0.2.%d:1", 2+len(a.underway)%2)).greet()
			}
			for range 10 {
				if a.arrive("192.0.2.9:1") == nil {
					t.Error("an address with fewer connections is refused")
				}
			}
			want(t, a, map[string]int{
				"192.0.2.1/32": maxHandshakesPerAddress - 10, "192.0.2.9/32": 10,
				"192.0.2.2/32": maxHandshakes / 4, "192.0.2.3/32": maxHandshakes / 4,
			})
		})
	})
	t.Run("addresses of members lose nothing to others and take their places", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			a := newAdmission(t, "192.0.2.1:7443", "192.0.2.2:7443", "192.0.2.3:7443")
			for i := range maxHandshakes {
				a.arrive(fmt.Sprintf("192.0.2.%d:1", 100+i%3)).greet()
			}
			for i := range maxHandshakes {
				if a.arrive(fmt.Sprintf("192.0.2.%d:1", 1+i%3)) == nil {
					t.Fatal("a member is refused")
				}
			}
			if a.arrive("192.0.2.100:1") != nil {
				t.Error("a stranger has taken a place of a member")
			}
			for share := range a.byShare() {
				if share > "192.0.2.3/32" || len(share) > len("192.0.2.3/32") {
					t.Errorf("%s has a place", share)
				}
			}
		})
	})
	t.Run("a handshake that ended has no place", func(t *testing.T) {
		a := newAdmission(t)
		for range 2 * maxHandshakes {
			a.end(a.arrive("192.0.2.1:1"))
		}
		want(t, a, map[string]int{})
		if n := value(t, a.metrics.refused); n != 0 {
			t.Errorf("%v refused", n)
		}
	})
	t.Run("an IPv6 network counts as one address", func(t *testing.T) {
		a := newAdmission(t)
		a.arrive("[2001:db8::1]:1")
		a.arrive("[2001:db8::2]:1")
		a.arrive("[2001:db8:0:1::1]:1")
		a.arrive("[::ffff:192.0.2.1]:1")
		want(t, a, map[string]int{"2001:db8::/64": 2, "2001:db8:0:1::/64": 1, "192.0.2.1/32": 1})
	})
}

func TestMemberAddresses(t *testing.T) {
	m := newMetrics(nil)
	current := map[string]string{"n1": "192.0.2.1:7443", "n2": "localhost:7443", "n3": "[::ffff:192.0.2.3]:7443", "n4": "?"}
	a := newMemberAddresses(func() map[string]string { return current }, m)
	a.refresh(t.Context())
	a.saw("n1", netip.MustParseAddr("198.51.100.1"))
	a.saw("removed", netip.MustParseAddr("198.51.100.2"))
	check := func(want map[string]bool) {
		t.Helper()
		for addr, is := range want {
			if a.contains(netip.MustParseAddr(addr)) != is {
				t.Errorf("%s is a member's address: %t", addr, !is)
			}
		}
	}
	check(map[string]bool{
		"192.0.2.1": true, "127.0.0.1": true, "192.0.2.3": true, "198.51.100.1": true,
		"198.51.100.2": false, "192.0.2.9": false,
	})
	current = map[string]string{"n2": "does-not-resolve.invalid:7443"}
	a.refresh(t.Context())
	check(map[string]bool{"192.0.2.1": false, "198.51.100.1": false, "127.0.0.1": true})
	if n := value(t, m.memberAddresses); n < 1 || n > 2 { // 127.0.0.1, and perhaps ::1
		t.Errorf("%v addresses are counted", n)
	}
}

func TestHelloTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAdmission(t)
		m := &Mux{cfg: Config{HandshakeTimeout: defaultHandshakeTimeout}, metrics: a.metrics}
		ours, theirs := net.Pipe()
		defer theirs.Close()
		h := &handshake{socket: socket{Conn: ours}}
		start := time.Now()
		err := m.completeHandshake(t.Context(), &conn{Conn: tls.Server(h, &tls.Config{}), mux: m}, h)
		if !errors.Is(err, errNoHello) || time.Since(start) != helloTimeout {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
		if n := value(t, a.metrics.limits.WithLabelValues(limitHelloTime)); n != 1 {
			t.Errorf("counted %v times", n)
		}
	})
}

func TestRefusalsAreLoggedSparingly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const refused = 100
		a := newAdmission(t)
		var out bytes.Buffer
		r := newRefusals(slog.New(slog.NewTextHandler(&out, nil)), a.metrics)
		for range refused {
			r.log(&net.TCPAddr{}, errNoHello)
		}
		if n := strings.Count(out.String(), "\n"); n != maxRefusalBurst {
			t.Errorf("%d lines were logged, want %d", n, maxRefusalBurst)
		}
		if n := value(t, a.metrics.limits.WithLabelValues(limitLogLines)); n != refused-maxRefusalBurst {
			t.Errorf("%v lines are counted as left out", n)
		}
		time.Sleep(time.Second)
		r.log(&net.TCPAddr{}, errNoHello)
		if want := fmt.Sprintf("left_out=%d\n", refused-maxRefusalBurst); !strings.HasSuffix(out.String(), want) {
			t.Errorf("the next line ends without %q: %q", want, out.String())
		}
	})
}
