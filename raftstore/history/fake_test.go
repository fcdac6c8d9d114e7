package history

import (
	"context"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"quorate/raftstore/state"
)

// fakeLog is a log on disk that has all events after a position.
type fakeLog struct {
	mu      sync.Mutex
	events  []*Event
	oldest  uint64
	stretch uint64 // the most entries that one read covers; 0 for no bound
	reads   int
	// hook, unless nil, runs at the beginning of each read.
	hook func(context.Context) error
}

func (l *fakeLog) append(events ...*Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, events...)
}

func (l *fakeLog) trim(oldest uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.oldest = max(l.oldest, oldest)
}

func (l *fakeLog) Oldest() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.oldest
}

func (l *fakeLog) Events(ctx context.Context, p state.Prefix, after, upTo uint64, maxBytes int) ([]*Event, uint64, error) {
	if l.hook != nil {
		if err := l.hook(ctx); err != nil {
			return nil, after, err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reads++
	if after < l.oldest {
		return nil, after, &Compacted{Want: after, Oldest: l.oldest}
	}
	if l.stretch > 0 {
		upTo = min(upTo, after+l.stretch)
	}
	var found []*Event
	size := 0
	for _, e := range l.events {
		if e.Index <= after || e.Index > upTo || !p.Covers(e.Object.Key) {
			continue
		}
		// A new event, like one decoded from disk.
		found = append(found, &Event{Index: e.Index, Type: e.Type, Object: e.Object, Previous: e.Previous})
		if size += e.Size(); size >= maxBytes {
			return found, e.Index, nil
		}
	}
	return found, upTo, nil
}

// newHub returns a hub, and a function that reads its metrics by the end of their names.
func newHub(t testing.TB, c Config) (*Hub, func(name string) float64) {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	c.Registerer = registry
	h, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	return h, func(name string) float64 {
		t.Helper()
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, family := range families {
			if family.GetName() == "quorate_raftstore_history_"+name {
				m := family.GetMetric()[0]
				return m.GetGauge().GetValue() + m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount())
			}
		}
		t.Fatalf("no metric %s", name)
		return 0
	}
}

// event returns the creation of an object with a value of the given size.
func event(index uint64, k state.Key, size int) *Event {
	return &Event{Index: index, Type: Added, Object: &state.Object{Key: k, Version: index, Value: make([]byte, size)}}
}

func pod(namespace string) state.Key { return state.NewKey("pods", namespace, "x") }

// run returns the events of pods in one namespace from first to last.
func run(first, last uint64, size int) []*Event {
	var events []*Event
	for i := first; i <= last; i++ {
		events = append(events, event(i, pod("a"), size))
	}
	return events
}

func indexes(events []*Event) []uint64 {
	var all []uint64
	for _, e := range events {
		all = append(all, e.Index)
	}
	return all
}
