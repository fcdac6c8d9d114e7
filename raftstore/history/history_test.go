package history

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"quorate/raftstore/state"
)

// script drives a hub and its log at random. Its model is a list of all events.
type script struct {
	t       *rapid.T
	hub     *Hub
	log     *fakeLog
	applied uint64
	origin  uint64 // of the last Reset
	all     []*Event
	cursors []*watched
}

// watched is a cursor with its expected position.
type watched struct {
	*Cursor
	prefix state.Prefix
	seen   uint64
}

// Cursors return every event once and in order from memory, from the log, and across their
// boundary, for any eviction, beginning of the log and batches (D9, D22, D23, N8).
func TestCursor_sees_every_event_once_in_order(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		log := &fakeLog{stretch: uint64(rapid.IntRange(0, 5).Draw(rt, "stretch"))}
		hub, _ := newHub(t, Config{
			Log: log, MaxBytes: int64(rapid.SampledFrom([]int{1, 100_000, 300_000, 1 << 30}).Draw(rt, "max")),
			MaxTopics: rapid.IntRange(0, 2).Draw(rt, "topics"),
		})
		s := &script{t: rt, hub: hub, log: log}
		if rapid.Bool().Draw(rt, "begin") {
			s.applied = 50
			hub.Begin(s.applied, rapid.Uint64Range(0, s.applied).Draw(rt, "changed"))
		}
		rt.Repeat(map[string]func(*rapid.T){
			"append": func(t *rapid.T) { s.append(t) },
			"watch":  func(t *rapid.T) { s.watch(t) },
			"next":   func(t *rapid.T) { s.next(t) },
			"trim":   func(t *rapid.T) { s.trim(t) },
			"reset":  func(t *rapid.T) { s.reset(t) },
			"":       func(t *rapid.T) { s.check(t) },
		})
	})
}

func (s *script) append(t *rapid.T) {
	var batch []*Event
	for range rapid.IntRange(0, 40).Draw(t, "batch") {
		s.applied += uint64(rapid.IntRange(1, 2).Draw(t, "gap"))
		k := state.NewKey(
			rapid.SampledFrom([]string{"pods", "pods", "nodes", "podtemplates"}).Draw(t, "resource"),
			rapid.SampledFrom([]string{"a", "b", "ab"}).Draw(t, "namespace"), "x",
		)
		e := event(s.applied, k, 0)
		e.Object.Value = shared[:rapid.SampledFrom([]int{1, 100, 10_000, 70_000}).Draw(t, "size")]
		batch = append(batch, e)
	}
	s.applied += uint64(rapid.IntRange(0, 2).Draw(t, "tail"))
	s.all = append(s.all, batch...)
	s.log.append(batch...)
	s.hub.Append(s.applied, batch)
}

var shared = make([]byte, 70_000)

func (s *script) watch(t *rapid.T) {
	p := rapid.SampledFrom([]state.Prefix{
		state.ResourcePrefix("pods"), state.NamespacePrefix("pods", "a"), state.NamespacePrefix("nodes", "ab"),
		state.ResourcePrefix("none"),
	}).Draw(t, "prefix")
	after := rapid.Uint64Range(0, s.applied+5).Draw(t, "after")
	s.cursors = append(s.cursors, &watched{Cursor: s.hub.Watch(p, after), prefix: p, seen: after})
}

func (s *script) next(t *rapid.T) {
	if len(s.cursors) == 0 {
		return
	}
	w := rapid.SampledFrom(s.cursors).Draw(t, "cursor")
	pending := s.pending(w)
	if pos := w.Position(); pos < w.seen || len(pending) > 0 && pos >= pending[0].Index {
		t.Fatalf("%q: position %d, seen %d, next event %v", w.prefix, pos, w.seen, indexes(pending))
	}
	memory := w.topic.view.Load().floor
	gone := w.Position() < memory && w.Position() < max(s.origin, s.log.oldest)
	if len(pending) == 0 && !gone {
		if pos := w.Position(); pos != max(w.seen, s.applied) && pos >= memory {
			t.Fatalf("%q: position %d with nothing left up to %d", w.prefix, pos, s.applied)
		}
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	got, err := w.Next(ctx)
	var compacted *Compacted
	if gone {
		oldest := min(memory, max(s.origin, s.log.oldest))
		if !errors.As(err, &compacted) || compacted.Oldest != oldest || compacted.Want != w.Position() {
			t.Fatalf("%q after %d: got %v, %v, want it compacted up to %d", w.prefix, w.seen, indexes(got), err, oldest)
		}
		s.cursors = slices.DeleteFunc(s.cursors, func(other *watched) bool { return other == w })
		return
	}
	if err != nil || len(got) == 0 || len(got) > len(pending) {
		t.Fatalf("%q after %d: got %v, %v, want of %v", w.prefix, w.seen, indexes(got), err, indexes(pending))
	}
	for i, e := range got {
		if e.Index != pending[i].Index || e.Object != pending[i].Object {
			t.Fatalf("%q after %d: got %v, want %v", w.prefix, w.seen, indexes(got), indexes(pending[:len(got)]))
		}
	}
	w.seen = got[len(got)-1].Index
}

func (s *script) pending(w *watched) []*Event {
	var pending []*Event
	for _, e := range s.all {
		if e.Index > w.seen && w.prefix.Covers(e.Object.Key) {
			pending = append(pending, e)
		}
	}
	return pending
}

func (s *script) trim(t *rapid.T) {
	if rapid.IntRange(0, 3).Draw(t, "trim") == 0 {
		s.log.trim(rapid.Uint64Range(0, s.applied).Draw(t, "oldest"))
	}
}

// reset installs a snapshot from another node. This node has no events of the entries that it
// skips, of which the last ones may have none, or all.
func (s *script) reset(t *rapid.T) {
	if rapid.IntRange(0, 5).Draw(t, "reset") != 0 {
		return
	}
	s.applied += uint64(rapid.IntRange(1, 20).Draw(t, "ahead"))
	least := s.origin
	if len(s.all) > 0 {
		least = max(least, s.all[len(s.all)-1].Index)
	}
	s.origin = rapid.Uint64Range(least, s.applied).Draw(t, "changed")
	s.hub.Reset(s.applied, s.origin)
	if rapid.Bool().Draw(t, "log trimmed") {
		s.log.trim(s.applied)
	}
}

// check compares the hub's counts with the content of its topics.
func (s *script) check(t *rapid.T) {
	var bytes, events int64
	for _, topic := range s.hub.topics {
		v := topic.view.Load()
		last := v.floor
		for _, c := range v.chunks {
			held, ok := c.events()
			if !ok || len(held) == 0 {
				t.Fatal("an evicted or empty chunk is still listed")
			}
			for _, e := range held {
				if e.Index <= last {
					t.Fatalf("event %d after %d", e.Index, last)
				}
				last = e.Index
				bytes += int64(e.Size())
				events++
			}
		}
	}
	if bytes != s.hub.bytes || events != s.hub.events || bytes > s.hub.maxBytes {
		t.Fatalf("holds %d bytes in %d events, accounts for %d in %d, of %d", bytes, events, s.hub.bytes, s.hub.events, s.hub.maxBytes)
	}
}

// Many cursors read while one writer continuously evicts events and sometimes installs a snapshot.
// The test is meant for the race detector.
func TestCursor_keeps_up_with_a_writer(t *testing.T) {
	const cursors, events, turns = 12, 4000, 2
	log := &fakeLog{stretch: 200}
	hub, _ := newHub(t, Config{Log: log, MaxBytes: 40_000, MaxLogReads: turns})
	log.hook = func(context.Context) error {
		if active := hub.turns.running(); active > turns {
			return fmt.Errorf("%d reads at a time", active)
		}
		return nil
	}
	// After every snapshotEvery events, the writer skips three indexes, as if another node had
	// applied them. The log keeps earlier entries.
	const snapshotEvery, jump = 1000, 3
	index := func(n uint64) uint64 { return n + n/snapshotEvery*jump }
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var group sync.WaitGroup
	for i := range cursors {
		group.Go(func() {
			p := state.NamespacePrefix("pods", string(rune('a'+i%3)))
			if err := follow(ctx, hub, p, uint64(i%3), events, index); err != nil {
				t.Errorf("%q: %v", p, err)
			}
		})
	}
	for n := uint64(0); n < events; {
		if n > 0 && n%snapshotEvery == 0 {
			hub.Reset(index(n)-1, index(n)-1)
		}
		var batch []*Event
		for range n%7 + 1 {
			batch = append(batch, event(index(n)+1, pod(string(rune('a'+n%3))), 500))
			if n++; n%snapshotEvery == 0 {
				break
			}
		}
		last := batch[len(batch)-1].Index
		log.append(batch...)
		hub.Append(last, batch)
	}
	group.Wait()
}

// TestCursor_loses_no_wake_up appends each event while cursors prepare to wait for it, and the next
// event only after all cursors have returned it. A later event would wake a cursor that missed its
// wake-up, so a wake-up that is lost between a cursor's check and its wait fails the test.
func TestCursor_loses_no_wake_up(t *testing.T) {
	t.Run("in_memory", func(t *testing.T) {
		hub, _ := newHub(t, Config{})
		loseNoWakeUp(t, hub, 20_000, func(*Event) {})
	})
	t.Run("on_topics_that_are_forgotten", func(t *testing.T) {
		log := &fakeLog{}
		hub, metric := newHub(t, Config{Log: log, MaxBytes: 1, MaxTopics: 1})
		loseNoWakeUp(t, hub, 2000, func(e *Event) {
			log.append(e)
			hub.Watch(state.ResourcePrefix("nodes"), 0) // exceeds MaxTopics
			hub.Append(e.Index-1, nil)                  // drops the topics on which the cursors are going to wait
		})
		if metric("forgotten_resources_total") < 2000 {
			t.Errorf("%v topics were forgotten", metric("forgotten_resources_total"))
		}
	})
}

func loseNoWakeUp(t *testing.T, hub *Hub, events uint64, before func(*Event)) {
	t.Helper()
	const cursors = 4
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var group sync.WaitGroup
	got := make(chan struct{}, cursors) // buffered, so that a cursor with the event continues to wait
	for range cursors {
		c := hub.Watch(pods, 0)
		group.Go(func() {
			for want := uint64(1); want <= events; want++ {
				if batch, err := c.Next(ctx); err != nil || batch[0].Index != want || len(batch) != 1 {
					t.Errorf("got %v, %v, want event %d", indexes(batch), err, want)
					cancel()
					return
				}
				got <- struct{}{}
			}
		})
	}
	for index := uint64(1); index <= events; index++ {
		batch := run(index, index, 1)
		before(batch[0])
		hub.Append(index, batch)
		for range cursors {
			select {
			case <-got:
			case <-ctx.Done():
				group.Wait()
				t.Fatalf("event %d did not reach all: %v", index, ctx.Err())
			}
		}
	}
	group.Wait()
}

// Position never passes an event that Next has not returned, even if a read falls into the middle
// of a batch (D25: a bookmark has a version up to which the client has seen everything).
func TestCursor_position_stays_before_later_events(t *testing.T) {
	const batches, size = 3000, 50
	hub, _ := newHub(t, Config{})
	var group sync.WaitGroup
	for range 2 {
		c := hub.Watch(pods, 0)
		group.Go(func() {
			for want := uint64(size); want <= batches*size; {
				applied := hub.applied.Load()
				if position := c.Position(); position >= want {
					t.Errorf("position %d, with event %d to come", position, want)
					return
				}
				if applied >= want {
					got, err := c.Next(t.Context())
					if err != nil || got[0].Index != want {
						t.Errorf("got %v, %v, want event %d", indexes(got), err, want)
						return
					}
					want += uint64(len(got)) * size
				}
			}
		})
	}
	for index := uint64(1); index <= batches*size; {
		var batch []*Event
		for ; index%size != 0; index++ {
			batch = append(batch, event(index, "nodes\x00\x00x", 1))
		}
		hub.Append(index, append(batch, event(index, pod("a"), 1)))
		index++
	}
	group.Wait()
}

// follow reads every third event, from the given one to the last, and starts again if its position
// was compacted.
func follow(ctx context.Context, hub *Hub, p state.Prefix, n, events uint64, index func(uint64) uint64) error {
	c := hub.Watch(p, 0)
	for n < events {
		got, err := c.Next(ctx)
		var compacted *Compacted
		if errors.As(err, &compacted) && compacted.Oldest > compacted.Want {
			for c = hub.Watch(p, compacted.Oldest); n < events && index(n)+1 <= compacted.Oldest; n += 3 {
			}
			continue
		}
		if err != nil {
			return fmt.Errorf("before event %d: %w", index(n)+1, err)
		}
		for _, e := range got {
			if e.Index != index(n)+1 || !p.Covers(e.Object.Key) {
				return fmt.Errorf("got event %d, want %d", e.Index, index(n)+1)
			}
			n += 3
		}
	}
	return nil
}
