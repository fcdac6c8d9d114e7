package history

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"weak"

	"quorate/raftstore/state"
)

var pods = state.ResourcePrefix("pods")

// Evicted events are freed although cursors are positioned before them, because a slow watcher has
// no buffer (D38: a slow watcher never blocks others).
func TestHub_frees_what_it_evicts(t *testing.T) {
	hub, metric := newHub(t, Config{MaxBytes: 200_000})
	slow := hub.Watch(pods, 0)
	if _, err := hub.Watch(pods, 0).Next(canceled(t)); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	first := run(1, 1, 50_000)
	gone := weak.Make(first[0].Object)
	hub.Append(1, first)
	first = nil
	for i := uint64(2); i < 20; i++ {
		hub.Append(i, run(i, i, 50_000))
	}
	runtime.GC()
	if gone.Value() != nil {
		t.Error("an evicted event is still in memory")
	}
	if metric("bytes") > 200_000 || metric("events") != metric("bytes")/(50_000+float64(event(1, pod("a"), 0).Size())) ||
		metric("oldest_index") != 20-metric("events") || metric("evicted_events_total") != 19-metric("events") {
		t.Errorf("%v events of %v bytes from %v on", metric("events"), metric("bytes"), metric("oldest_index"))
	}
	var compacted *Compacted
	if _, err := slow.Next(t.Context()); !errors.As(err, &compacted) {
		t.Fatalf("got %v", err)
	}
}

func canceled(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// Over all topics, the hub evicts events in the order of the log: those of a topic without recent
// events before the newer ones of a busy topic.
func TestHub_evicts_in_the_order_of_the_log(t *testing.T) {
	hub, _ := newHub(t, Config{MaxBytes: 300_000})
	hub.Append(1, []*Event{event(1, state.NewKey("nodes", "", "x"), 80_000)})
	hub.Append(2, []*Event{event(2, state.NewKey("events", "a", "x"), 80_000)})
	hub.Append(3, run(3, 3, 80_000))
	// This event starts a new chunk, which evicts event 1.
	hub.Append(4, []*Event{event(4, state.NewKey("nodes", "", "x"), 80_000)})
	hub.Append(5, run(5, 5, 80_000)) // evicts event 2
	floors := map[string]uint64{"nodes": 1, "events": 2, "pods": 0}
	for resource, want := range floors {
		if v := hub.topic(resource).view.Load(); v.floor != want {
			t.Errorf("memory of %s begins after %d, want %d", resource, v.floor, want)
		}
	}
}

// The hub drops topics without events, which kinds that come and go leave behind, and keeps those
// with events.
func TestHub_drops_topics_without_events(t *testing.T) {
	hub, _ := newHub(t, Config{})
	var last *Cursor
	for i := range 3 * DefaultMaxTopics {
		last = hub.Watch(state.ResourcePrefix(fmt.Sprint("gone/", i)), 0)
		hub.Append(uint64(i+1), run(uint64(i+1), uint64(i+1), 1))
	}
	if n := len(hub.topics); n > DefaultMaxTopics+1 || hub.topics["pods"] == nil {
		t.Errorf("%d topics are kept", n)
	}
	end := uint64(3*DefaultMaxTopics + 1)
	hub.Append(end, []*Event{event(end, state.NewKey(last.prefix.Resource(), "a", "x"), 1)})
	if got, err := last.Next(t.Context()); err != nil || got[0].Index != end {
		t.Errorf("got %v, %v", indexes(got), err)
	}
}

func TestHub_panics_at_events_out_of_order(t *testing.T) {
	for name, batch := range map[string][]*Event{
		"again": run(5, 5, 1), "backwards": {event(7, pod("a"), 1), event(6, pod("a"), 1)}, "beyond": run(9, 9, 1),
	} {
		t.Run(name, func(t *testing.T) {
			hub, _ := newHub(t, Config{})
			hub.Append(5, run(5, 5, 1))
			defer func() {
				if recover() == nil {
					t.Fatal("taken")
				}
			}()
			hub.Append(8, batch)
		})
	}
}

func TestNew_refuses_bad_bounds(t *testing.T) {
	if _, err := New(Config{MaxBytes: -1}); err == nil {
		t.Error("took a negative bound")
	}
}

// The object that leaves a selector has the version of the change (D19).
func TestEvent_left(t *testing.T) {
	const head = `{"resourceVersion":"`
	e := event(12, pod("a"), 1)
	if e.Left() != nil {
		t.Error("left without a previous object")
	}
	size := e.Size()
	e.Previous = &state.Object{Key: pod("a"), Version: 9, VersionOffset: uint32(len(head)), Value: []byte(head + `9"}`)}
	left := e.Left()
	if string(left) != head+`12"}` {
		t.Errorf("left as %s", left)
	}
	if again := e.Left(); &again[0] != &left[0] {
		t.Error("made twice")
	}
	if grown := e.Size() - size; grown < 2*len(e.Previous.Value) {
		t.Errorf("counts %d bytes for previous and left", grown)
	}
	if n := testing.AllocsPerRun(100, func() { e.Left() }); n != 0 {
		t.Errorf("allocates %v times", n)
	}
}
