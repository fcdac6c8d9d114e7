package watch

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"quorate/apiserver/objects/schema"
	"quorate/raftstore/history"
	"quorate/raftstore/state"
)

// client is the response writer and the client of one stream. It records the bytes sent and how
// they were sent, and implements enqueuer.
type client struct {
	resumable
	header     http.Header
	connection any
	onEnqueue  func() // if set, called before each TryEnqueue

	mu      sync.Mutex
	refuses bool // TryEnqueue fails, as if earlier bytes were pending
	pending bool // the client never reads what was enqueued
	batches int  // enqueued
	writes  int
	got     strings.Builder
	late    chan struct{} // closed by a write deadline in the past
	once    sync.Once
}

func newClient(connection any) *client {
	return &client{header: http.Header{}, connection: connection, late: make(chan struct{})}
}

func (p *client) Header() http.Header { return p.header }
func (p *client) WriteHeader(int)     {}
func (p *client) FlushError() error   { return nil }
func (p *client) Connection() any     { return p.connection }

func (p *client) SetWriteDeadline(t time.Time) error {
	p.once.Do(func() { close(p.late) })
	return nil
}

func (p *client) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pending {
		return 0, errStuck
	}
	p.writes++
	return p.got.Write(b)
}

func (p *client) TryEnqueue(b []byte) bool {
	if p.onEnqueue != nil {
		p.onEnqueue()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.refuses {
		return false
	}
	p.batches++
	p.got.Write(b)
	return true
}

func (p *client) Pending() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pending
}

func (p *client) refuse(yes bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refuses = yes
}

func (p *client) counts() (batches, writes int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.batches, p.writes
}

// names returns the names of the objects in the events received, in order, and "@" and the version
// for a bookmark.
func (p *client) names() []string {
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

// harness is the streams and the history of one test.
type harness struct {
	t       *testing.T
	streams *Streams
	hub     *history.Hub
	index   uint64
	served  sync.WaitGroup
}

func newHarness(t *testing.T) *harness {
	t.Helper()
	hub, err := history.New(history.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return &harness{t: t, streams: New(atMost(5000), prometheus.NewRegistry()), hub: hub}
}

// open begins a stream at the end of history and returns a function that disconnects its client.
func (b *harness) open(w http.ResponseWriter, prefix state.Prefix, opts Options) (leave context.CancelFunc) {
	if opts.Kind == nil {
		opts.Kind = &schema.Kind{Identity: schema.Identity{Kind: "Pod", APIVersion: "v1"}}
	}
	if opts.Timeout == 0 {
		opts.Timeout = time.Hour
	}
	opts.Header = func() error { return nil }
	opts.Faults = faults(func(err error) { b.t.Errorf("internal error: %v", err) })
	after := b.index
	opts.Start = func(context.Context) (Start, error) {
		return Start{After: after, Changes: b.hub.Watch(prefix, after)}, nil
	}
	ctx, cancel := context.WithCancel(b.t.Context())
	b.served.Go(func() {
		if err := b.streams.serve(ctx, w, opts); err != nil {
			b.t.Errorf("serve: %v", err)
		}
	})
	return cancel
}

// pod appends the creation of a pod to history.
func (b *harness) pod(namespace, name string) { b.object(namespace, name, "") }

// object is pod with further JSON fields, each after a comma.
func (b *harness) object(namespace, name, more string) {
	b.index++
	b.hub.Append(b.index, []*history.Event{{Index: b.index, Type: history.Added, Object: &state.Object{
		Key: state.NewKey("pods", namespace, name), Value: []byte(`{"n":"` + name + `"` + more + `}`),
	}}})
}

// end closes history, waits for the streams, and checks that no fan-out is left.
func (b *harness) end() {
	b.hub.Close()
	b.served.Wait()
	b.streams.fanouts.mu.Lock()
	defer b.streams.fanouts.mu.Unlock()
	if n := len(b.streams.fanouts.open); n > 0 {
		b.t.Errorf("%d fan-outs left", n)
	}
}

// idle returns the number of idle streams.
func (b *harness) idle() float64 { return count(b.t, b.streams.metrics.idle) }

func all() state.Prefix { return state.ResourcePrefix("pods") }

func wantNames(t *testing.T, who string, p *client, want ...string) {
	t.Helper()
	if got := p.names(); !slices.Equal(got, want) {
		t.Errorf("%s got %q, want %q", who, got, want)
	}
}
