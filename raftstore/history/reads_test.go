package history

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"quorate/raftstore/state"
)

// logOnly returns a hub without events in memory, over a log that has events of two resources in
// several namespaces, and these events. Each takes a tenth of a read.
func logOnly(t *testing.T, count uint64, c Config) (*Hub, *fakeLog, []*Event, func(string) float64) {
	t.Helper()
	log := &fakeLog{}
	var all []*Event
	for i := uint64(1); i <= count; i++ {
		resource := []string{"pods", "nodes", "pods"}[i%3]
		e := event(i, state.NewKey(resource, "ns"+strconv.Itoa(int(i%7)), "x"), logReadBytes/10)
		log.append(e)
		all = append(all, e)
	}
	c.Log = log
	h, metric := newHub(t, c)
	h.Begin(count, count)
	return h, log, all, metric
}

// TestReadsAreSharedByTheRightCursors lets many cursors of different collections read from
// different positions at the same time. Each gets what a filter over all events says, in order,
// whosever reads of the log it used.
func TestReadsAreSharedByTheRightCursors(t *testing.T) {
	t.Parallel()
	const last, cursors = 400, 400
	h, log, all, metric := logOnly(t, last, Config{MaxLogReads: 2})
	prefixes := []state.Prefix{state.ResourcePrefix("pods"), state.ResourcePrefix("nodes")}
	for n := range 7 {
		prefixes = append(prefixes, state.NamespacePrefix("pods", "ns"+strconv.Itoa(n)), state.NamespacePrefix("nodes", "ns"+strconv.Itoa(n)))
	}
	var group sync.WaitGroup
	var needed atomic.Int64 // events
	for i := range cursors {
		prefix, position := prefixes[rand.N(len(prefixes))], uint64(rand.N(4)*last/4) // where many come back together
		if i%40 == 0 {
			position = uint64(rand.N(last))
		}
		group.Go(func() {
			var want []uint64
			for _, e := range all[position:] {
				if prefix.Covers(e.Object.Key) {
					want = append(want, e.Index)
				}
			}
			needed.Add(int64(len(want)))
			c := h.Watch(prefix, position)
			var got []uint64
			for c.Position() < last {
				events, err := c.Ready(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				got = append(got, indexes(events)...)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s after %d: got %v, want %v", prefix, position, got, want)
			}
		})
	}
	group.Wait()
	if shared := metric("log_reads_shared_total"); shared == 0 {
		t.Error("no read was shared")
	}
	if read := metric("log_events_total"); read > float64(needed.Load())/4 {
		t.Errorf("%v events were decoded in %d reads, for cursors that got %d", read, log.reads, needed.Load())
	}
}

// TestCursorsReadTheLogOnce: cursors at one position share each read, and one that comes later,
// within the latest reads, makes none.
func TestCursorsReadTheLogOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, log, _, metric := logOnly(t, 30, Config{MaxLogReads: 1})
		release := make(chan struct{})
		log.hook = func(context.Context) error { <-release; return nil }
		var group sync.WaitGroup
		for n := range 50 {
			c := h.Watch(state.NamespacePrefix("pods", "ns"+strconv.Itoa(n%7)), 0)
			group.Go(func() {
				for c.Position() < 30 {
					if _, err := c.Ready(t.Context()); err != nil {
						t.Error(err)
					}
				}
			})
		}
		synctest.Wait()
		if n := metric("log_reads_active"); n != 1 {
			t.Errorf("%v reads at a time", n)
		}
		close(release)
		group.Wait()
		reads := log.reads // of 20 pods, at ten to a read
		if reads > 3 {
			t.Errorf("%d reads of the log for 50 cursors, want at most 3", reads)
		}
		late := h.Watch(state.ResourcePrefix("pods"), 2)
		if events, err := late.Ready(t.Context()); err != nil || len(events) == 0 || events[0].Index != 3 {
			t.Errorf("a later cursor got %v, %v", indexes(events), err)
		}
		if log.reads != reads {
			t.Error("a later cursor has read the log again")
		}
	})
}

// TestFailedReadIsNotShared: an error, such as the end of one watch, is no other's.
func TestFailedReadIsNotShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, log, _, _ := logOnly(t, 9, Config{})
		first, leave := context.WithCancel(t.Context())
		log.hook = func(ctx context.Context) error {
			if ctx == first { //nolint:errorlint // the context itself
				<-ctx.Done()
			}
			return ctx.Err()
		}
		one := next(first, h.Watch(state.ResourcePrefix("pods"), 0))
		other := next(t.Context(), h.Watch(state.ResourcePrefix("pods"), 0))
		leave()
		if o := <-one; !errors.Is(o.err, context.Canceled) {
			t.Errorf("the first got %v", o.err)
		}
		if o := <-other; o.err != nil || !slices.Equal(indexes(o.events), []uint64{2, 3, 5, 6, 8, 9}) {
			t.Errorf("the second got %v, %v", indexes(o.events), o.err)
		}
	})
}

// TestPanicEndsARead: a cursor whose read of the log panics, which ends its watch, leaves no other
// waiting for it.
func TestPanicEndsARead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, log, _, _ := logOnly(t, 9, Config{MaxLogReads: 1})
		first, fail := context.WithCancel(t.Context())
		log.hook = func(ctx context.Context) error {
			if ctx == first { //nolint:errorlint // the context itself
				<-ctx.Done()
				panic("unreadable")
			}
			return nil
		}
		panicked := make(chan any, 1)
		go func() {
			defer func() { panicked <- recover() }()
			_, _ = h.Watch(state.ResourcePrefix("pods"), 0).Ready(first)
		}()
		synctest.Wait()
		var got []uint64
		var err error
		go func() {
			var events []*Event
			events, err = h.Watch(state.ResourcePrefix("pods"), 0).Ready(t.Context())
			got = indexes(events)
		}()
		synctest.Wait()
		fail()
		if <-panicked == nil {
			t.Error("the read did not panic")
		}
		synctest.Wait()
		if err != nil || !slices.Equal(got, []uint64{2, 3, 5, 6, 8, 9}) {
			t.Errorf("the other got %v, %v", got, err)
		}
	})
}

// TestWaitForAReadEnds: a cursor that waits for another's read does not wait longer than its own
// context, or than the hub is open.
func TestWaitForAReadEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, log, _, _ := logOnly(t, 9, Config{})
		release := make(chan struct{})
		log.hook = func(context.Context) error { <-release; return nil }
		var group sync.WaitGroup
		group.Go(func() { _, _ = h.Watch(state.ResourcePrefix("pods"), 0).Ready(t.Context()) })
		synctest.Wait()
		ctx, leave := context.WithCancel(t.Context())
		errs := make(chan error, 2)
		for _, c := range []context.Context{ctx, t.Context()} {
			group.Go(func() { _, err := h.Watch(state.ResourcePrefix("pods"), 0).Ready(c); errs <- err })
		}
		synctest.Wait()
		leave()
		if err := <-errs; !errors.Is(err, context.Canceled) {
			t.Errorf("after its context has ended: %v", err)
		}
		h.Close()
		if err := <-errs; !errors.Is(err, ErrClosed) {
			t.Errorf("after the hub was closed: %v", err)
		}
		close(release)
		group.Wait()
	})
}

// TestKeptReadsAreBounded reads far more than is kept, by number and by bytes.
func TestKeptReadsAreBounded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name         string
		maxBytes     int64
		reads, bytes int
	}{
		{"by number", 1 << 30, keptReads, keptReads * logReadBytes * 3 / 2},
		{"by bytes", keptPart * 20 * logReadBytes, 20, 20 * logReadBytes},
		{"one at least", 1, 1, 2 * logReadBytes},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			const last = 2 * 10 * keptReads // of which two thirds are pods, ten of them to a read
			h, _, _, metric := logOnly(t, last, Config{MaxBytes: c.maxBytes})
			cursor := h.Watch(state.ResourcePrefix("pods"), 0)
			for cursor.Position() < last {
				if _, err := cursor.Ready(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			n := len(h.reads.latest)
			if n > c.reads || n < c.reads*2/3 {
				t.Errorf("%d reads are kept, want about %d", n, c.reads)
			}
			var bytes int64
			for _, r := range h.reads.latest {
				for _, e := range r.events {
					bytes += int64(e.Size())
				}
			}
			if kept := metric("log_reads_kept_bytes"); bytes > int64(c.bytes) || kept != float64(bytes) {
				t.Errorf("%d bytes are kept, the metric says %v, want at most %d", bytes, kept, c.bytes)
			}
			h.Begin(last, last)
			if n := len(h.reads.latest); n != 0 || metric("log_reads_kept_bytes") != 0 {
				t.Errorf("%d reads are kept after history has begun anew", n)
			}
		})
	}
}

// TestReadFromBeforeAResetIsNotKept: a read that runs while history begins anew serves only the
// cursors that wait for it.
func TestReadFromBeforeAResetIsNotKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, log, _, metric := logOnly(t, 30, Config{})
		proceed := make(chan struct{})
		log.hook = func(context.Context) error { <-proceed; return nil }
		read := func() <-chan outcome { return next(t.Context(), h.Watch(state.ResourcePrefix("pods"), 0)) }
		before := read()
		h.Reset(30, 30)
		close(proceed)
		if o := <-before; o.err != nil || len(o.events) == 0 {
			t.Errorf("the cursor of the read got %v, %v", indexes(o.events), o.err)
		}
		if metric("log_reads_kept_bytes") != 0 || len(h.reads.latest) != 0 {
			t.Error("a read from before the reset is kept")
		}
		var compacted *Compacted
		if o := <-read(); !errors.As(o.err, &compacted) {
			t.Errorf("a cursor at its position got %v, %v", indexes(o.events), o.err)
		}
	})
}

// TestKeptReadsEnd: reads that nobody uses any more are dropped.
func TestKeptReadsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, log, _, metric := logOnly(t, 30, Config{})
		read := func() {
			t.Helper()
			if events, err := h.Watch(state.ResourcePrefix("pods"), 0).Ready(t.Context()); err != nil || len(events) == 0 {
				t.Fatalf("got %v, %v", indexes(events), err)
			}
		}
		read()
		for range 3 { // each use keeps them
			time.Sleep(keptTime - time.Second)
			read()
		}
		if log.reads != 1 || metric("log_reads_kept_bytes") == 0 {
			t.Errorf("%d reads for cursors that came in time, want 1", log.reads)
		}
		time.Sleep(keptTime + time.Second)
		if n := metric("log_reads_kept_bytes"); n != 0 || h.reads.latest != nil {
			t.Errorf("%v bytes are kept of reads that nobody uses", n)
		}
		read()
		if log.reads != 2 {
			t.Errorf("%d reads, want another after the first was dropped", log.reads)
		}
		h.Close()
		if h.reads.latest != nil {
			t.Error("reads are kept after the hub was closed")
		}
	})
}

// TestDoneReadIsUsedByAnEndingWatch: a read that is done needs no wait, so a context that ends as
// soon as it is waited for does not end the cursor's next call. The simulation relies on that.
func TestDoneReadIsUsedByAnEndingWatch(t *testing.T) {
	t.Parallel()
	h, _, _, _ := logOnly(t, 9, Config{})
	for i := range 50 {
		ctx, end := context.WithCancel(context.Background())
		if events, err := h.Watch(state.ResourcePrefix("pods"), 0).Ready(&endsInWait{ctx, end}); err != nil || len(events) == 0 {
			t.Fatalf("call %d got %v, %v", i, indexes(events), err)
		}
		end()
	}
}

// endsInWait is a context that ends as soon as its Done is called.
type endsInWait struct {
	context.Context
	end context.CancelFunc
}

func (c *endsInWait) Done() <-chan struct{} {
	c.end()
	return c.Context.Done()
}
