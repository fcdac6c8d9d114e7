package history

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"quorate/raftstore/state"
)

// filled returns a hub with n events of 1 KiB pods, alternating between three namespaces.
func filled(t testing.TB, n int, c Config) *Hub {
	t.Helper()
	hub, _ := newHub(t, c)
	for i := range uint64(n) {
		hub.Append(i+1, []*Event{event(i+1, pod(string(rune('a'+i%3))), 1024)})
	}
	return hub
}

func TestCursor_reads_from_memory_allocate_nothing_but_a_filtered_slice(t *testing.T) {
	const n = 1000
	hub := filled(t, n, Config{})
	for _, c := range []struct {
		prefix state.Prefix
		most   float64
	}{{pods, 0}, {state.NamespacePrefix("pods", "b"), 1}} {
		cursor := hub.Watch(c.prefix, 0)
		ctx := t.Context()
		if got := testing.AllocsPerRun(10, func() {
			if _, err := cursor.Next(ctx); err != nil {
				t.Fatal(err)
			}
		}); got > c.most {
			t.Errorf("Next of %q allocates %v times", c.prefix, got)
		}
		if got := testing.AllocsPerRun(10, func() { cursor.Position() }); got != 0 {
			t.Errorf("Position of %q allocates %v times", c.prefix, got)
		}
	}
}

// BenchmarkBegin measures the beginning of a watch of one namespace at an old version, after which
// there were events in others only.
func BenchmarkBegin(b *testing.B) {
	hub := filled(b, 30_000, Config{MaxBytes: 1 << 30})
	for b.Loop() {
		if events, err := hub.Watch(state.NamespacePrefix("pods", "quiet"), 0).Ready(b.Context()); err != nil || len(events) > 0 {
			b.Fatal(events, err)
		}
	}
}

// BenchmarkFanOut measures one write and its delivery to all watchers.
func BenchmarkFanOut(b *testing.B) {
	for _, cursors := range []int{1, 1000, 5000} {
		b.Run(fmt.Sprint(cursors), func(b *testing.B) {
			hub, _ := newHub(b, Config{})
			ctx, cancel := context.WithCancel(b.Context())
			var group sync.WaitGroup
			var left atomic.Int64
			delivered := make(chan struct{}, 1)
			for range cursors {
				c := hub.Watch(pods, 0)
				group.Go(func() {
					for {
						if _, err := c.Next(ctx); err != nil {
							return
						}
						if left.Add(-1) == 0 {
							delivered <- struct{}{}
						}
					}
				})
			}
			index := uint64(0)
			b.ReportAllocs()
			for b.Loop() {
				index++
				left.Store(int64(cursors))
				hub.Append(index, []*Event{event(index, "pods\x00a\x00x", 64)})
				<-delivered
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(cursors), "ns/delivery")
			cancel()
			group.Wait()
		})
	}
}

// BenchmarkResume measures a watcher that is 10,000 events behind.
func BenchmarkResume(b *testing.B) {
	const n = 10_000
	hub := filled(b, n, Config{})
	for name, p := range map[string]state.Prefix{"all": pods, "third": state.NamespacePrefix("pods", "b")} {
		b.Run(name, func(b *testing.B) {
			ctx := b.Context()
			b.ReportAllocs()
			for b.Loop() {
				c := hub.Watch(p, 0)
				for c.Position() < n {
					if _, err := c.Next(ctx); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

// BenchmarkAppend measures the cost of one event for the goroutine that applies the log, without
// waiters and with full memory.
func BenchmarkAppend(b *testing.B) {
	hub, _ := newHub(b, Config{MaxBytes: 8 << 20})
	for i := range 100 { // topics that eviction must compare
		hub.Watch(state.ResourcePrefix(fmt.Sprint("kind-", i)), 0)
	}
	value := make([]byte, 1024)
	index := uint64(0)
	b.ReportAllocs()
	for b.Loop() {
		index++
		o := &state.Object{Key: "pods\x00a\x00x", Version: index, Value: value}
		hub.Append(index, []*Event{{Index: index, Type: Added, Object: o}})
	}
}

// BenchmarkConcerned measures the search for the watchers of an update whose object has many labels,
// beside watchers that require some label each.
func BenchmarkConcerned(b *testing.B) {
	for _, labels := range []int{5, 1000, 100_000} {
		pairs := make(map[string]string, labels)
		for i := range labels {
			pairs[fmt.Sprintf("%06x", i)] = "v"
		}
		o := &state.Object{Key: "pods\x00a\x00x", Labels: state.NewAttributes(pairs)}
		pairs["changed"] = "v"
		previous := &state.Object{Key: o.Key, Labels: state.NewAttributes(pairs)}
		events := []*Event{{Index: 1, Type: Modified, Object: o, Previous: previous}}
		for _, required := range []int{1, 20_000} {
			b.Run(fmt.Sprintf("%d labels, %d required", labels, required), func(b *testing.B) {
				var index Index[int]
				for i := range required { // the last label, and others before it
					index.Add(WithLabel(fmt.Sprintf("%06x", max(0, labels-1-5*i)), fmt.Sprint("other", i)), i)
				}
				b.ReportAllocs()
				for b.Loop() {
					index.Concerned(events, func(*Event, int) { b.Fatal("no watcher requires a label of the object") })
				}
			})
		}
	}
}
