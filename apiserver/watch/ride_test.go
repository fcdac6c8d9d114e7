package watch

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"quorate/apiserver/schema"
	"quorate/apiserver/selector"
	"quorate/raftstore/history"
	"quorate/raftstore/state"
)

// passenger is the client of a stream that lends: what it was sent, and how.
type passenger struct {
	header     http.Header
	connection any

	mu      sync.Mutex
	refuses bool // it has not taken what was lent before
	pending bool // it never takes what is lent
	lent    int
	wrote   int
	got     strings.Builder
	late    chan struct{} // closed by a write deadline in the past
	once    sync.Once
}

func newPassenger(connection any) *passenger {
	return &passenger{header: http.Header{}, connection: connection, late: make(chan struct{})}
}

func (p *passenger) Header() http.Header { return p.header }
func (p *passenger) WriteHeader(int)     {}
func (p *passenger) FlushError() error   { return nil }
func (p *passenger) Connection() any     { return p.connection }

func (p *passenger) SetWriteDeadline(t time.Time) error {
	p.once.Do(func() { close(p.late) })
	return nil
}

func (p *passenger) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pending {
		return 0, errStuck
	}
	p.wrote++
	return p.got.Write(b)
}

func (p *passenger) Lend(b []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.refuses {
		return false
	}
	p.lent++
	p.got.Write(b)
	return true
}

func (p *passenger) Lent() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pending
}

func (p *passenger) refuse(yes bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refuses = yes
}

func (p *passenger) counts() (lent, wrote int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lent, p.wrote
}

// names are the objects of the events that came, in their order; a bookmark is its version.
func (p *passenger) names() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var names []string
	for line := range strings.Lines(p.got.String()) {
		word, rest, _ := strings.Cut(strings.TrimPrefix(line, `{"type":"`), `"`)
		_, name, _ := strings.Cut(rest, `"n":"`)
		if word == "BOOKMARK" {
			_, name, _ = strings.Cut(rest, `"resourceVersion":"`)
			name = "@" + name
		}
		name, _, _ = strings.Cut(name, `"`)
		names = append(names, name)
	}
	return names
}

// bus are the streams of a test.
type bus struct {
	t       *testing.T
	streams *Streams
	hub     *history.Hub
	index   uint64
	served  sync.WaitGroup
}

func newBus(t *testing.T) *bus {
	t.Helper()
	hub, err := history.New(history.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return &bus{t: t, streams: New(5000, prometheus.NewRegistry()), hub: hub}
}

// board begins a stream from where history stands; the function it returns has its client go.
func (b *bus) board(w http.ResponseWriter, prefix state.Prefix, opts Options) (leave context.CancelFunc) {
	opts.Kind = &schema.Kind{Identity: schema.Identity{Kind: "Pod", APIVersion: "v1"}}
	if opts.Timeout == 0 {
		opts.Timeout = time.Hour
	}
	opts.Header = func() error { return nil }
	opts.Unforeseen = func(err error) { b.t.Errorf("unforeseen: %v", err) }
	after := b.index
	opts.Start = func(context.Context) (Start, error) {
		return Start{After: after, Changes: b.hub.Watch(prefix, after)}, nil
	}
	ctx, cancel := context.WithCancel(b.t.Context())
	b.served.Go(func() {
		if err := b.streams.Serve(ctx, w, opts); err != nil {
			b.t.Errorf("serve: %v", err)
		}
	})
	return cancel
}

// pod has a pod appear.
func (b *bus) pod(namespace, name string) { b.object(namespace, name, "") }

func (b *bus) object(namespace, name, more string) {
	b.index++
	b.hub.Append(b.index, []*history.Event{{Index: b.index, Type: history.Added, Object: &state.Object{
		Key: state.NewKey("pods", namespace, name), Value: []byte(`{"n":"` + name + `"` + more + `}`),
	}}})
}

func (b *bus) end() {
	b.hub.Close()
	b.served.Wait()
	b.streams.carriages.mu.Lock()
	defer b.streams.carriages.mu.Unlock()
	if n := len(b.streams.carriages.open); n > 0 {
		b.t.Errorf("%d carriages left", n)
	}
}

func (b *bus) resting() float64 { return count(b.t, b.streams.metrics.riding) }

func all() state.Prefix { return state.ResourcePrefix("pods") }

func wantNames(t *testing.T, who string, p *passenger, want ...string) {
	t.Helper()
	if got := p.names(); !slices.Equal(got, want) {
		t.Errorf("%s got %q, want %q", who, got, want)
	}
}

// TestStreamsOfAConnectionAreServedByOne: handlers of streams at rest sleep on while their events are sent, but for one of them (D38).
func TestStreamsOfAConnectionAreServedByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBus(t)
		defer b.end()
		var clients []*passenger
		for i := range 9 {
			p := newPassenger(i % 2)
			clients = append(clients, p)
			b.board(p, all(), Options{})
		}
		synctest.Wait()
		if n := b.resting(); n != 9 {
			t.Errorf("%v streams at rest", n)
		}
		for _, name := range []string{"a", "b", "c"} {
			b.pod("x", name)
			synctest.Wait()
		}
		for i, p := range clients {
			wantNames(t, fmt.Sprint("stream ", i), p, "a", "b", "c")
			if lent, wrote := p.counts(); lent != 3 || wrote != 0 {
				t.Errorf("stream %d: %d lent, %d written by its handler", i, lent, wrote)
			}
		}
	})
}

// TestRidersSeeWhatTheyAskedFor: streams with selectors and of namespaces ride with others (D19, D31).
func TestRidersSeeWhatTheyAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBus(t)
		defer b.end()
		every, named, spaced := newPassenger(1), newPassenger(1), newPassenger(1)
		sel, err := selector.Parse("", "metadata.name=b", &selector.Fields{Supported: map[string]bool{"metadata.name": true}})
		if err != nil {
			t.Fatal(err)
		}
		b.board(every, all(), Options{})
		b.board(named, all(), Options{Selector: sel})
		b.board(spaced, state.NamespacePrefix("pods", "y"), Options{})
		synctest.Wait()
		b.pod("x", "a")
		b.pod("y", "b")
		b.pod("y", "c")
		synctest.Wait()
		wantNames(t, "all", every, "a", "b", "c")
		wantNames(t, "by name", named, "b")
		wantNames(t, "by namespace", spaced, "b", "c")
	})
}

// TestRiderThatHasNotTakenWhatCameBefore: its handler sends, or waits, by itself; nobody else notices (D38).
func TestRiderThatHasNotTakenWhatCameBefore(t *testing.T) {
	for _, slow := range []int{0, 1, 2} { // one of them carries
		synctest.Test(t, func(t *testing.T) {
			b := newBus(t)
			defer b.end()
			clients := []*passenger{newPassenger(1), newPassenger(1), newPassenger(1)}
			for _, p := range clients {
				b.board(p, all(), Options{})
				synctest.Wait()
			}
			b.pod("x", "a")
			synctest.Wait()
			clients[slow].refuse(true)
			b.pod("x", "b")
			synctest.Wait()
			clients[slow].refuse(false)
			b.pod("x", "c")
			synctest.Wait()
			for i, p := range clients {
				wantNames(t, fmt.Sprint("stream ", i), p, "a", "b", "c")
				if lent, wrote := p.counts(); i == slow && (lent != 2 || wrote == 0) || i != slow && wrote > 0 {
					t.Errorf("stream %d: %d lent, %d written by its handler", i, lent, wrote)
				}
			}
			if n := count(t, b.streams.metrics.returned); n != 1 {
				t.Errorf("%v counted", n)
			}
		})
	}
}

// metered wraps an answer, as the server does, and counts what is written.
type metered struct {
	http.ResponseWriter
	bytes int64
}

func (m *metered) Unwrap() http.ResponseWriter { return m.ResponseWriter }
func (m *metered) Count(bytes int64)           { m.bytes += bytes }

func (m *metered) Write(p []byte) (int, error) {
	n, err := m.ResponseWriter.Write(p)
	m.bytes += int64(n)
	return n, err
}

// TestWhatIsLentIsCounted: with what the handler writes, it is all that was sent.
func TestWhatIsLentIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBus(t)
		p := newPassenger(1)
		m := &metered{ResponseWriter: p}
		b.board(m, all(), Options{Bookmarks: true})
		synctest.Wait()
		b.pod("x", "a")
		synctest.Wait()
		b.end()
		if lent, wrote := p.counts(); lent != 1 || wrote == 0 || m.bytes != int64(p.got.Len()) {
			t.Errorf("%d bytes counted of %d: %d lent, %d written", m.bytes, p.got.Len(), lent, wrote)
		}
	})
}

// TestWhatIsTooLargeIsNotLent: what streams lend is memory that their clients hold on to.
func TestWhatIsTooLargeIsNotLent(t *testing.T) {
	for _, tc := range []struct {
		name     string
		bytes    int
		selector *selector.Selector
		lent     int
	}{
		{"shared", maxParcelBytes - 100, nil, 1},
		{"shared, too large", maxParcelBytes, nil, 0},
		{"its own", maxOwnBytes - 100, &selector.Selector{}, 1},
		{"its own, too large", maxOwnBytes, &selector.Selector{}, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBus(t)
				defer b.end()
				p := newPassenger(1)
				b.board(p, all(), Options{Selector: tc.selector})
				synctest.Wait()
				b.object("x", "a", `,"more":"`+strings.Repeat("m", tc.bytes)+`"`)
				synctest.Wait()
				wantNames(t, "stream", p, "a")
				if lent, _ := p.counts(); lent != tc.lent {
					t.Errorf("%d lent", lent)
				}
			})
		})
	}
}

// TestCarrierThatGoes: when its client goes, or its time is up, another stream of the connection carries (D28, D46).
func TestCarrierThatGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBus(t)
		defer b.end()
		carrier, timed, last := newPassenger(1), newPassenger(1), newPassenger(1)
		leave := b.board(carrier, all(), Options{})
		synctest.Wait()
		b.board(last, all(), Options{})
		synctest.Wait()
		b.board(timed, all(), Options{Timeout: time.Minute})
		synctest.Wait()
		b.pod("x", "a")
		synctest.Wait()
		leave()
		synctest.Wait()
		b.pod("x", "b")
		synctest.Wait()
		time.Sleep(time.Minute)
		synctest.Wait()
		b.pod("x", "c")
		synctest.Wait()
		wantNames(t, "the first carrier", carrier, "a")
		wantNames(t, "the second", timed, "a", "b")
		wantNames(t, "the last", last, "a", "b", "c")
	})
}

// TestRidersGetTheirBookmarks: each minute, behind all that was lent (D25).
func TestRidersGetTheirBookmarks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBus(t)
		defer b.end()
		b.index = 7
		b.hub.Begin(7)
		clients := []*passenger{newPassenger(1), newPassenger(1)}
		for _, p := range clients {
			b.board(p, all(), Options{Bookmarks: true, Timeout: 90 * time.Second})
		}
		synctest.Wait()
		b.pod("x", "a")
		synctest.Wait()
		time.Sleep(time.Minute)
		synctest.Wait()
		b.pod("x", "b")
		synctest.Wait()
		time.Sleep(time.Minute)
		synctest.Wait()
		for i, p := range clients {
			wantNames(t, fmt.Sprint("stream ", i), p, "@7", "a", "@8", "b", "@9")
		}
	})
}

// TestStuckRiderIsCut: also one that never took what was lent, while nothing more happens (D38).
func TestStuckRiderIsCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBus(t)
		defer b.end()
		stuck, well := newPassenger(1), newPassenger(1)
		stuck.pending = true
		b.board(stuck, all(), Options{})
		b.board(well, all(), Options{})
		synctest.Wait()
		b.pod("x", "a")
		synctest.Wait()
		b.streams.cutStuck(stuckTicks) // one tick too early
		synctest.Wait()
		if n := b.streams.Open(); n != 2 {
			t.Fatalf("%d streams: cut too early", n)
		}
		b.streams.cutStuck(1 + stuckTicks)
		synctest.Wait()
		if n := b.streams.Open(); n != 1 || count(t, b.streams.metrics.cut) != 1 {
			t.Errorf("%d streams left", n)
		}
		select {
		case <-stuck.late:
		default:
			t.Error("its writes were not ended")
		}
		b.pod("x", "b")
		synctest.Wait()
		wantNames(t, "the other", well, "a", "b")
	})
}

// TestDrainOfACarriage: all of its streams end, whoever carries.
func TestDrainOfACarriage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBus(t)
		var clients []*passenger
		for range 50 {
			p := newPassenger(1)
			clients = append(clients, p)
			b.board(p, all(), Options{Bookmarks: true})
		}
		synctest.Wait()
		if err := b.streams.Drain(t.Context()); err != nil {
			t.Error(err)
		}
		b.end()
		for i, p := range clients {
			wantNames(t, fmt.Sprint("stream ", i), p, "@0", "@0")
		}
	})
}

// TestRidersSeeEveryChangeOnce: while streams come and go, refuse, and are resumed, each sees every change, once, in order.
func TestRidersSeeEveryChangeOnce(t *testing.T) {
	t.Parallel()
	hub, err := history.New(history.Config{})
	if err != nil {
		t.Fatal(err)
	}
	streams := New(1000, prometheus.NewRegistry())
	const changes, watchers = 3000, 40
	var served sync.WaitGroup
	for w := range watchers {
		served.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(w)))
			for after := uint64(0); after < changes; {
				p := &counter{t: t, after: after, until: min(changes, after+1+random.Uint64N(900)), random: random, connection: w % 3}
				ctx, cancel := context.WithCancel(t.Context())
				p.leave = cancel
				err := streams.Serve(ctx, p, Options{
					Kind: &schema.Kind{}, Timeout: time.Hour, Header: func() error { return nil },
					Start: func(context.Context) (Start, error) {
						return Start{After: after, Changes: hub.Watch(all(), after)}, nil
					},
					Unforeseen: func(err error) { t.Errorf("unforeseen: %v", err) },
				})
				cancel()
				if err != nil || p.after < p.until {
					t.Errorf("watcher %d ended at %d of %d: %v", w, p.after, p.until, err)
					return
				}
				after = p.after
			}
		})
	}
	random := rand.New(rand.NewPCG(2, 2))
	for index := uint64(1); index <= changes; {
		var batch []*history.Event
		for range 1 + random.IntN(4) {
			if index <= changes {
				batch = append(batch, &history.Event{Index: index, Type: history.Added, Object: &state.Object{
					Key: state.NewKey("pods", "x", "p"), Value: fmt.Appendf(nil, `{"i":%d}`, index),
				}})
				index++
			}
		}
		hub.Append(index-1, batch)
	}
	served.Wait()
	hub.Close()
}

// counter is a client that checks the order of what it gets, and goes when it has enough. It refuses what is lent now and then.
type counter struct {
	t            *testing.T
	after, until uint64
	connection   any
	leave        context.CancelFunc
	random       *rand.Rand

	mu  sync.Mutex
	got strings.Builder
}

func (c *counter) Header() http.Header { return http.Header{} }
func (c *counter) WriteHeader(int)     {}
func (c *counter) Connection() any     { return c.connection }
func (c *counter) Lent() bool          { return false }

func (c *counter) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.got.Write(b)
}

func (c *counter) FlushError() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.read()
}

func (c *counter) Lend(b []byte) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.random.IntN(10) == 0 {
		return false
	}
	c.got.Write(b)
	return c.read() == nil
}

// read takes what came. mu is held.
func (c *counter) read() error {
	for line := range strings.Lines(c.got.String()) {
		var index uint64
		if _, err := fmt.Sscanf(line, `{"type":"ADDED","object":{"i":%d}}`, &index); err != nil || index != c.after+1 {
			c.t.Errorf("%q after %d: %v", line, c.after, err)
			c.leave()
			return io.ErrUnexpectedEOF
		}
		c.after = index
	}
	c.got.Reset()
	if c.after >= c.until {
		c.leave()
	}
	return nil
}
