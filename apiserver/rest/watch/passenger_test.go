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

// passenger is the client of a stream that lends: what it was sent, and how.
type passenger struct {
	header     http.Header
	connection any
	lending    func() // called before each piece that is lent, when set

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
	if p.lending != nil {
		p.lending()
	}
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
	if opts.Kind == nil {
		opts.Kind = &schema.Kind{Identity: schema.Identity{Kind: "Pod", APIVersion: "v1"}}
	}
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
