package apiserver

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"pgregory.net/rapid"

	"quorate/apiserver/access/auth"
	"quorate/apiserver/rest/route"
	"quorate/apiserver/wire/status"
	"quorate/raftstore/addresskey"
)

// from is a connection from an address.
type from struct {
	net.Conn
	address net.Addr
}

func (f from) RemoteAddr() net.Addr { return f.address }
func (f from) Close() error         { return nil }

// queue is a listener of connections that were made before.
type queue chan net.Conn

func (q queue) Accept() (net.Conn, error) {
	conn, ok := <-q
	if !ok {
		return nil, net.ErrClosed
	}
	return conn, nil
}
func (q queue) Close() error   { return nil }
func (q queue) Addr() net.Addr { return &net.TCPAddr{} }

func addressed(ip string) from {
	return from{address: &net.TCPAddr{IP: net.ParseIP(ip), Port: 1}}
}

// TestConnectionsFollowTheModel: connections are accepted as the bounds allow, those that were
// closed, once or twice, or refused do not count, and this machine has a reserve.
func TestConnectionsFollowTheModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const total, each, reserve = 6, 3, 1
		q := make(queue, 1)
		c := guard(q, Limits{Connections: total, Shares: Shares{ConnectionsPerAddress: each}}, newMetrics(prometheus.NewRegistry()))
		open := map[string][]*guarded{}
		reserved := 0
		count := func() (n int) {
			for _, of := range open {
				n += len(of)
			}
			return n - reserved
		}
		t.Repeat(map[string]func(*rapid.T){
			"connect": func(t *rapid.T) {
				ip := rapid.SampledFrom([]string{"127.0.0.1", "192.0.2.1", "192.0.2.2", "2001:db8::1", "2001:db8::2"}).Draw(t, "address")
				key := ip
				if len(ip) == len("2001:db8::1") && ip[4] == ':' {
					key = "2001:db8::/64"
				}
				ofAddress := len(open[key])
				if key == "127.0.0.1" {
					ofAddress -= reserved
				}
				fits := count() < total && ofAddress < each
				extra := !fits && key == "127.0.0.1" && reserved < reserve
				conn := &guarded{Conn: addressed(ip), all: c}
				conn.held = c.hold(conn.RemoteAddr(), addresskey.Of(conn.RemoteAddr().String()))
				_, ok := conn.held.Take(1)
				if ok != (fits || extra) {
					t.Fatalf("from %s: %v, but it fits %v, or the reserve %v", ip, ok, fits, extra)
				}
				if ok {
					c.add(conn)
					open[key] = append(open[key], conn)
				}
				if extra {
					reserved++
				}
			},
			"close": func(t *rapid.T) {
				key := rapid.SampledFrom([]string{"192.0.2.1", "192.0.2.2", "2001:db8::/64"}).Draw(t, "address")
				if len(open[key]) == 0 {
					t.Skip()
				}
				conn := open[key][0]
				open[key] = open[key][1:]
				var both sync.WaitGroup
				for range 2 { // two endings at once
					both.Go(func() { _ = conn.Close() })
				}
				both.Wait()
			},
			"": func(t *rapid.T) {
				if n := count() + reserved; c.count() != n || c.bound.Used() != int64(n) {
					t.Fatalf("%d connections and %d counted, want %d", c.count(), c.bound.Used(), n)
				}
			},
		})
	})
}

// TestAcceptRefusesBeyondTheShare: connections of one address beyond its share are closed, and
// another address is accepted.
func TestAcceptRefusesBeyondTheShare(t *testing.T) {
	t.Parallel()
	q := make(queue, 4)
	m := newMetrics(prometheus.NewRegistry())
	c := guard(q, Limits{Connections: 100, Shares: Shares{ConnectionsPerAddress: 1}}, m)
	for _, ip := range []string{"192.0.2.1", "192.0.2.1", "192.0.2.1", "192.0.2.2"} {
		q <- addressed(ip)
	}
	var got []string
	for range 2 {
		conn, err := c.Accept()
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, conn.RemoteAddr().String())
	}
	if fmt.Sprint(got) != "[192.0.2.1:1 192.0.2.2:1]" {
		t.Errorf("accepted %v", got)
	}
	if n := valueOf(t, m.limits.WithLabelValues("connections-per-address")); n != 2 {
		t.Errorf("%v refusals are counted, want 2", n)
	}
}

// TestRequestSharesFollowTheModel: a request counts from its admission to its end, and not if it
// was refused.
func TestRequestSharesFollowTheModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const each, reserve = 4, 1
		limits := Limits{Shares: Shares{RequestsPerUser: each}}.withDefaults()
		s := newShares(limits, newMetrics(prometheus.NewRegistry()))
		users := []*auth.User{
			{Name: "ann"}, {Name: "bob"}, {Name: "root", Groups: []string{auth.MastersGroup}}, {Name: "admin", Groups: []string{auth.MastersGroup}},
		}
		running := map[string][]*exchange{}
		extra := map[string]int{}
		t.Repeat(map[string]func(*rapid.T){
			"enter": func(t *rapid.T) {
				u := rapid.SampledFrom(users).Draw(t, "user")
				class := rapid.SampledFrom([]route.Class{route.ClassRead, route.ClassWrite, route.ClassStream}).Draw(t, "class")
				x := &exchange{call: route.Call{Sender: u, User: &auth.User{Name: "impersonated"}, Endpoint: &route.Endpoint{Class: class}}}
				err := s.enter(x)
				if class == route.ClassStream {
					if err != nil {
						t.Fatal(err)
					}
					return
				}
				fits := len(running[u.Name])-extra[u.Name] < each
				reserved := !fits && u.In(auth.MastersGroup) && extra["root"]+extra["admin"] < reserve
				if (err == nil) != (fits || reserved) {
					t.Fatalf("%s: %v, but it fits %v, or the reserve %v", u.Name, err, fits, reserved)
				}
				if err == nil {
					running[u.Name] = append(running[u.Name], x)
				} else {
					x.held.Release() // as handler.finish does for each request
				}
				if reserved {
					extra[u.Name]++
				}
			},
			"end all": func(t *rapid.T) {
				u := rapid.SampledFrom(users).Draw(t, "user")
				for _, x := range running[u.Name] {
					x.held.Release()
				}
				running[u.Name], extra[u.Name] = nil, 0
			},
			"": func(t *rapid.T) {
				n := 0
				for _, of := range running {
					n += len(of)
				}
				if s.requests.Used() != int64(n) {
					t.Fatalf("%d requests counted, want %d", s.requests.Used(), n)
				}
			},
		})
	})
}

// TestAuthDelays: refusals of an address beyond its rate take longer and longer, few of them at a
// time, and the others are refused at once. After a quiet time there is no delay.
func TestAuthDelays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newAuthFailures(10, newMetrics(prometheus.NewRegistry()))
		refuse := func(address string) (code int, took time.Duration) {
			began := time.Now()
			err := f.refuse(t.Context(), address, began)
			return err.(*status.Error).Status.Code, time.Since(began)
		}
		for i := range 100 {
			if code, took := refuse("192.0.2.1:4711"); code != 401 || took != 0 {
				t.Fatalf("refusal %d: %d after %s", i, code, took)
			}
		}
		var attack sync.WaitGroup
		var mu sync.Mutex
		codes, longest := map[int]int{}, time.Duration(0)
		for range 1000 {
			attack.Go(func() {
				code, took := refuse("192.0.2.1:4711")
				mu.Lock()
				defer mu.Unlock()
				codes[code]++
				longest = max(longest, took)
			})
		}
		synctest.Wait()
		mu.Lock()
		if codes[http.StatusTooManyRequests] != 1000-maxAuthDelayedPerAddress {
			t.Errorf("refused at once, by code: %v; want all but %d", codes, maxAuthDelayedPerAddress)
		}
		mu.Unlock()
		if code, took := refuse("192.0.2.9:1"); code != 401 || took != 0 {
			t.Errorf("a refusal of another address: %d after %s", code, took)
		}
		attack.Wait()
		if codes[http.StatusUnauthorized] != maxAuthDelayedPerAddress || codes[http.StatusTooManyRequests] != 1000-maxAuthDelayedPerAddress {
			t.Errorf("refusals by code: %v", codes)
		}
		if longest != maxAuthDelay {
			t.Errorf("the longest delay is %s, want %s", longest, maxAuthDelay)
		}
		if f.delayed.Used() != 0 {
			t.Errorf("%d delays are counted when all have ended", f.delayed.Used())
		}
		time.Sleep(10 * time.Second)
		if code, took := refuse("192.0.2.1:4711"); code != 401 || took != 0 {
			t.Errorf("a refusal after a quiet time: %d after %s", code, took)
		}
	})
}

// TestDelayedRefusalEndsWithItsClient: a client that disconnects holds no delay.
func TestDelayedRefusalEndsWithItsClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newAuthFailures(1, newMetrics(prometheus.NewRegistry()))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		began := time.Now()
		for range 40 {
			if err := f.refuse(ctx, "192.0.2.1:1", began); err == nil {
				t.Fatal("no error")
			}
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("the refusals took %s", took)
		}
	})
}

// TestSelectorBytesFollowTheWatches: whoever may have more watches may have a short selector for
// each.
func TestSelectorBytesFollowTheWatches(t *testing.T) {
	for _, tc := range []struct{ watches, perUser, want, wantPerUser int64 }{
		{40_000, 20_000, maxSelectorBytes, maxSelectorBytesPerUser},
		{100_000, 100_000, maxSelectorBytes, 100_000 * shortSelectorBytes},
		{200_000, 100_000, 200_000 * shortSelectorBytes, 100_000 * shortSelectorBytes},
	} {
		l := Limits{Watches: int(tc.watches), Shares: Shares{WatchesPerUser: int(tc.perUser)}}
		pool := newSelectorBytes(l, newMetrics(prometheus.NewRegistry()))
		take := func(user string, bytes int64, want bool) {
			t.Helper()
			holding := pool.Hold(user, "")
			if _, got := holding.Take(bytes); got != want {
				t.Errorf("%d watches, %d for a user: %s may have %d bytes: %v", tc.watches, tc.perUser, user, bytes, got)
			}
		}
		take("eve", tc.wantPerUser+1, false)
		take("eve", tc.wantPerUser, true)
		left := tc.want - tc.wantPerUser
		take("adam", left+1, false)
		take("adam", left, true)
		take("zoe", 1, false)
	}
}
