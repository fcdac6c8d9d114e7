package history

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"quorate/raftstore/state"
)

// outcome is the result of a Next.
type outcome struct {
	events []*Event
	err    error
}

// next calls Next on another goroutine. The caller is in a synctest bubble.
func next(ctx context.Context, c *Cursor) <-chan outcome {
	done := make(chan outcome, 1)
	go func() {
		events, err := c.Next(ctx)
		done <- outcome{events, err}
	}()
	synctest.Wait()
	return done
}

func waiting(t *testing.T, done <-chan outcome) {
	t.Helper()
	select {
	case o := <-done:
		t.Fatalf("does not wait: %v, %v", indexes(o.events), o.err)
	default:
	}
}

func TestCursor_waits_for_an_event_of_its_collection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hub, metric := newHub(t, Config{})
		c := hub.Watch(state.NamespacePrefix("pods", "a"), 0)
		done := next(t.Context(), c)
		waiting(t, done)
		if n := metric("cursors_waiting"); n != 1 {
			t.Errorf("%v cursors wait", n)
		}
		hub.Append(1, []*Event{event(1, state.NewKey("nodes", "", "x"), 1)})
		hub.Append(2, []*Event{event(2, pod("b"), 1)})
		hub.Append(3, nil)
		synctest.Wait()
		waiting(t, done)
		hub.Append(5, []*Event{event(4, pod("a"), 1), event(5, pod("b"), 1)})
		if o := <-done; o.err != nil || !slices.Equal(indexes(o.events), []uint64{4}) {
			t.Fatalf("got %v, %v", indexes(o.events), o.err)
		}
		if n := metric("cursors_waiting"); n != 0 || metric("cursors_total") != 1 {
			t.Errorf("%v cursors wait", n)
		}
	})
}

// A watch from a version that this node has not reached gets the events after it (D14).
func TestCursor_waits_for_events_beyond_a_position_in_the_future(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hub, _ := newHub(t, Config{})
		c := hub.Watch(pods, 10)
		done := next(t.Context(), c)
		hub.Append(10, run(8, 10, 1))
		synctest.Wait()
		waiting(t, done)
		hub.Append(11, run(11, 11, 1))
		if o := <-done; o.err != nil || !slices.Equal(indexes(o.events), []uint64{11}) {
			t.Fatalf("got %v, %v", indexes(o.events), o.err)
		}
	})
}

func TestCursor_waits_until_its_context_ends_and_goes_on_after(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hub, _ := newHub(t, Config{})
		hub.Append(1, run(1, 1, 1))
		c := hub.Watch(pods, 1)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		done := next(ctx, c)
		hub.Append(7, nil)
		if o := <-done; !errors.Is(o.err, context.DeadlineExceeded) {
			t.Fatalf("got %v, %v", indexes(o.events), o.err)
		}
		if p := c.Position(); p != 7 { // the version of a bookmark (D25)
			t.Errorf("position is %d", p)
		}
		hub.Append(8, run(8, 8, 1))
		if p := c.Position(); p != 7 {
			t.Errorf("position is %d, with event 8 not delivered", p)
		}
		if events, err := c.Next(t.Context()); err != nil || !slices.Equal(indexes(events), []uint64{8}) {
			t.Fatalf("got %v, %v", indexes(events), err)
		}
	})
}

func TestCursor_waits_until_the_hub_is_closed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hub, _ := newHub(t, Config{})
		hub.Append(1, run(1, 1, 1))
		done := next(t.Context(), hub.Watch(pods, 1))
		hub.Close()
		if o := <-done; o.err != ErrClosed {
			t.Fatalf("got %v", o.err)
		}
		if _, err := hub.Watch(pods, 0).Next(t.Context()); err != ErrClosed {
			t.Fatalf("a cursor created later gets %v", err)
		}
		hub.Close()
	})
}

// The installation of a snapshot ends a cursor that waits before it (D40: a stream ends when its
// node no longer has the history).
func TestCursor_waits_until_history_begins_anew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &fakeLog{}
		hub, metric := newHub(t, Config{Log: log})
		log.append(run(1, 3, 1)...)
		hub.Append(3, run(1, 3, 1))
		behind, ahead := hub.Watch(pods, 3), hub.Watch(pods, 20)
		done, later := next(t.Context(), behind), next(t.Context(), ahead)
		hub.Reset(20, 20)
		synctest.Wait()
		var compacted *Compacted
		if o := <-done; !errors.As(o.err, &compacted) || compacted.Want != 3 || compacted.Oldest != 20 {
			t.Fatalf("got %v, %v", indexes(o.events), o.err)
		}
		// The log on disk still begins at 1, but it has a gap before 20.
		if _, err := hub.Watch(pods, 0).Next(t.Context()); !errors.As(err, &compacted) || log.reads != 0 {
			t.Fatalf("a position before the snapshot gives %v, after %d reads of the log", err, log.reads)
		}
		if n := metric("compacted_total"); n != 2 {
			t.Errorf("%v refusals counted", n)
		}
		waiting(t, later)
		hub.Append(21, run(21, 21, 1))
		if o := <-later; o.err != nil || !slices.Equal(indexes(o.events), []uint64{21}) {
			t.Fatalf("got %v, %v", indexes(o.events), o.err)
		}
	})
}

func TestBegin_leaves_earlier_events_to_the_log(t *testing.T) {
	log := &fakeLog{}
	hub, _ := newHub(t, Config{Log: log})
	hub.Begin(10, 10)
	log.append(run(1, 10, 1)...)
	hub.Append(12, run(11, 12, 1))
	c := hub.Watch(pods, 4)
	for _, want := range [][]uint64{{5, 6, 7, 8, 9, 10}, {11, 12}} {
		if events, err := c.Next(t.Context()); err != nil || !slices.Equal(indexes(events), want) {
			t.Fatalf("got %v, %v, want %v", indexes(events), err, want)
		}
	}
}

// A cursor in the part of a snapshot after its last change continues with the log, which begins with
// the snapshot, when memory has no longer the events after it.
func TestCursor_continues_from_the_last_change_of_a_snapshot(t *testing.T) {
	log := &fakeLog{}
	hub, metric := newHub(t, Config{Log: log, MaxBytes: 1, MaxTopics: 1})
	hub.Append(5, run(1, 5, 1))
	early := hub.Watch(pods, 12)
	hub.Reset(50, 10)
	log.append(run(51, 60, 1000)...)
	log.trim(50)
	for _, e := range run(51, 60, 1000) {
		hub.Append(e.Index, []*Event{e})
	}
	hub.Append(61, nil)
	if _, err := hub.Watch(pods, 9).Next(t.Context()); !isCompactedTo(err, 50) {
		t.Errorf("from before the last change: %v", err)
	}
	for name, c := range map[string]*Cursor{"10": hub.Watch(pods, 10), "49": hub.Watch(pods, 49), "12, older than the snapshot": early} {
		var all []uint64
		for len(all) < 10 {
			events, err := c.Next(t.Context())
			if err != nil {
				t.Fatalf("from %s: %v", name, err)
			}
			all = append(all, indexes(events)...)
		}
		if all[0] != 51 || len(all) != 10 {
			t.Errorf("from %s: got %v", name, all)
		}
	}
	if metric("log_reads_total") == 0 {
		t.Error("memory had all events, so the test proves nothing")
	}
}

func isCompactedTo(err error, oldest uint64) bool {
	compacted, ok := errors.AsType[*Compacted](err)
	return ok && compacted.Oldest == oldest
}

// Compacted has the oldest position from which a client can resume (D13).
func TestCursor_compacted(t *testing.T) {
	for name, c := range map[string]struct {
		log    Log
		oldest uint64
	}{
		"without a log":                {nil, 10},
		"before the log's beginning":   {&fakeLog{oldest: 7}, 7},
		"by a log shorter than memory": {&fakeLog{oldest: 11}, 10},
	} {
		t.Run(name, func(t *testing.T) {
			hub, _ := newHub(t, Config{Log: c.log})
			hub.Begin(10, 10)
			hub.Append(12, run(11, 12, 1))
			_, err := hub.Watch(pods, 6).Next(t.Context())
			var compacted *Compacted
			if !errors.As(err, &compacted) || *compacted != (Compacted{Want: 6, Oldest: c.oldest}) {
				t.Fatalf("got %v", err)
			}
			if events, err := hub.Watch(pods, 10).Next(t.Context()); err != nil || len(events) != 2 {
				t.Fatalf("at the floor of memory: %v, %v", indexes(events), err)
			}
		})
	}
}

// behind returns a hub whose first ten events are only in the log.
func behind(t *testing.T, log *fakeLog, turns int) (*Hub, func(string) float64) {
	t.Helper()
	hub, metric := newHub(t, Config{Log: log, MaxLogReads: turns})
	hub.Begin(10, 10)
	log.append(run(1, 10, 1)...)
	return hub, metric
}

func TestCursor_reads_of_the_log_are_bounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		proceed := make(chan struct{})
		var active, most atomic.Int64
		log := &fakeLog{hook: func(context.Context) error {
			most.Store(max(most.Load(), active.Add(1)))
			<-proceed
			active.Add(-1)
			return nil
		}}
		hub, metric := newHub(t, Config{Log: log, MaxLogReads: 2})
		hub.Begin(10, 10)
		log.append(run(1, 10, logReadBytes)...) // a read returns one
		var all []<-chan outcome
		for position := range uint64(5) { // those at one position would share a read
			all = append(all, next(t.Context(), hub.Watch(pods, position)))
		}
		if metric("log_reads_active") != 2 || metric("log_reads_queued") != 3 {
			t.Errorf("%v reads, %v queued", metric("log_reads_active"), metric("log_reads_queued"))
		}
		ctx, cancel := context.WithCancel(t.Context())
		tired := next(ctx, hub.Watch(pods, 5))
		cancel()
		if o := <-tired; !errors.Is(o.err, context.Canceled) {
			t.Errorf("a cancelled wait gives %v", o.err)
		}
		close(proceed)
		for position, done := range all {
			if o := <-done; o.err != nil || len(o.events) != 1 || o.events[0].Index != uint64(position)+1 {
				t.Errorf("got %v, %v", indexes(o.events), o.err)
			}
		}
		if most.Load() != 2 || metric("log_reads_total") != 5 || metric("log_read_wait_seconds") != 5 ||
			metric("log_events_total") != 5 || metric("log_reads_queued") != 0 || metric("log_reads_active") != 0 {
			t.Errorf("%d reads at a time", most.Load())
		}
	})
}

func TestCursor_reads_of_the_log_end_with_the_hub_while_queued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		proceed := make(chan struct{})
		log := &fakeLog{hook: func(context.Context) error { <-proceed; return nil }}
		hub, _ := behind(t, log, 1)
		reading := next(t.Context(), hub.Watch(pods, 0))
		queued := next(t.Context(), hub.Watch(pods, 0))
		hub.Close()
		if o := <-queued; o.err != ErrClosed {
			t.Errorf("got %v", o.err)
		}
		close(proceed)
		if o := <-reading; o.err != nil {
			t.Errorf("got %v", o.err)
		}
	})
}

func TestCursor_reads_of_the_log_report_errors_and_can_be_tried_again(t *testing.T) {
	broken := errors.New("disk on fire")
	log := &fakeLog{hook: func(context.Context) error { return broken }}
	hub, _ := behind(t, log, 1)
	c := hub.Watch(pods, 3)
	if _, err := c.Next(t.Context()); !errors.Is(err, broken) || !strings.Contains(err.Error(), "pods after 3") {
		t.Fatalf("got %v", err)
	}
	log.hook = nil
	if events, err := c.Next(t.Context()); err != nil || len(events) != 7 {
		t.Fatalf("got %v, %v", indexes(events), err)
	}
}

// The log is trimmed between Oldest and the read.
func TestCursor_reads_of_the_log_find_it_trimmed(t *testing.T) {
	log := &fakeLog{}
	log.hook = func(context.Context) error { log.trim(8); return nil }
	hub, metric := behind(t, log, 1)
	var compacted *Compacted
	if _, err := hub.Watch(pods, 3).Next(t.Context()); !errors.As(err, &compacted) || *compacted != (Compacted{Want: 3, Oldest: 8}) {
		t.Fatalf("got %v", err)
	}
	if n := metric("compacted_total"); n != 1 {
		t.Errorf("%v refusals counted", n)
	}
}

func TestCursor_reads_of_the_log_stop_at_a_log_that_does_not_move(t *testing.T) {
	hub, _ := newHub(t, Config{Log: stalledLog{}})
	hub.Begin(10, 10)
	if _, err := hub.Watch(pods, 3).Next(t.Context()); !errors.Is(err, errStalledLog) {
		t.Fatalf("got %v", err)
	}
}

type stalledLog struct{}

func (stalledLog) Oldest() uint64 { return 0 }
func (stalledLog) Events(_ context.Context, _ state.Prefix, after, _ uint64, _ int) ([]*Event, uint64, error) {
	return nil, after, nil
}
