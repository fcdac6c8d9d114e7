package watch

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"quorate/apiserver/objects/selector"
	"quorate/raftstore/history"
	"quorate/raftstore/state"
)

// TestOneHandlerServesAConnection: the handlers of idle streams do not write their events; one
// dispatcher of each connection enqueues them (D38).
func TestOneHandlerServesAConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newHarness(t)
		defer b.end()
		var clients []*client
		for i := range 9 {
			p := newClient(i % 2)
			clients = append(clients, p)
			b.open(p, all(), Options{})
		}
		synctest.Wait()
		if n := b.idle(); n != 9 {
			t.Errorf("%v idle streams", n)
		}
		for _, name := range []string{"a", "b", "c"} {
			b.pod("x", name)
			synctest.Wait()
		}
		for i, p := range clients {
			wantNames(t, fmt.Sprint("stream ", i), p, "a", "b", "c")
			if batches, writes := p.counts(); batches != 3 || writes != 0 {
				t.Errorf("stream %d: %d batches enqueued, %d writes by its handler", i, batches, writes)
			}
		}
	})
}

// TestSubscribersGetTheirProjections: streams of one fan-out may have selectors or follow a single
// namespace (D19, D31).
func TestSubscribersGetTheirProjections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newHarness(t)
		defer b.end()
		every, named, spaced := newClient(1), newClient(1), newClient(1)
		sel, err := selector.Parse("", "metadata.name=b", &selector.Fields{Supported: map[string]bool{"metadata.name": true}})
		if err != nil {
			t.Fatal(err)
		}
		b.open(every, all(), Options{})
		b.open(named, all(), Options{Projection: Projection{Selector: sel}})
		b.open(spaced, state.NamespacePrefix("pods", "y"), Options{})
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

// TestSlowSubscriberSendsForItself: the handler of a stream whose client has not read the last
// batch writes the next events; the other streams are not affected (D38).
func TestSlowSubscriberSendsForItself(t *testing.T) {
	for _, slow := range []int{0, 1, 2} { // one of them is the dispatcher
		synctest.Test(t, func(t *testing.T) {
			b := newHarness(t)
			defer b.end()
			clients := []*client{newClient(1), newClient(1), newClient(1)}
			for _, p := range clients {
				b.open(p, all(), Options{})
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
				if batches, writes := p.counts(); i == slow && (batches != 2 || writes == 0) || i != slow && writes > 0 {
					t.Errorf("stream %d: %d batches enqueued, %d writes by its handler", i, batches, writes)
				}
			}
			if n := count(t, b.streams.metrics.returned); n != 1 {
				t.Errorf("%v counted", n)
			}
		})
	}
}

// metered wraps a response, as the server does, and counts the bytes written.
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

// TestEnqueuedBytesAreCounted: the byteCounter counts the bytes enqueued and those written by the
// handler.
func TestEnqueuedBytesAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newHarness(t)
		p := newClient(1)
		m := &metered{ResponseWriter: p}
		b.open(m, all(), Options{Bookmarks: true})
		synctest.Wait()
		b.pod("x", "a")
		synctest.Wait()
		b.end()
		if batches, writes := p.counts(); batches != 1 || writes == 0 || m.bytes != int64(p.got.Len()) {
			t.Errorf("%d bytes counted of %d: %d batches enqueued, %d writes", m.bytes, p.got.Len(), batches, writes)
		}
	})
}

// TestLargeBatchesAreNotEnqueued: a batch stays in memory until its client reads it, so its size is
// bounded.
func TestLargeBatchesAreNotEnqueued(t *testing.T) {
	for _, tc := range []struct {
		name     string
		bytes    int
		selector *selector.Selector
		batches  int
	}{
		{"shared", maxBatchBytes - 100, nil, 1},
		{"shared, too large", maxBatchBytes, nil, 0},
		{"its own", maxOwnBatchBytes - 100, &selector.Selector{}, 1},
		{"its own, too large", maxOwnBatchBytes, &selector.Selector{}, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newHarness(t)
				defer b.end()
				p := newClient(1)
				b.open(p, all(), Options{Projection: Projection{Selector: tc.selector}})
				synctest.Wait()
				b.object("x", "a", `,"more":"`+strings.Repeat("m", tc.bytes)+`"`)
				synctest.Wait()
				wantNames(t, "stream", p, "a")
				if batches, _ := p.counts(); batches != tc.batches {
					t.Errorf("%d batches enqueued", batches)
				}
			})
		})
	}
}

// TestDispatcherLeaves: when the dispatcher's client disconnects or its timeout expires, another
// stream of the connection becomes the dispatcher (D28, D46).
func TestDispatcherLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newHarness(t)
		defer b.end()
		first, timed, last := newClient(1), newClient(1), newClient(1)
		leave := b.open(first, all(), Options{})
		synctest.Wait()
		b.open(last, all(), Options{})
		synctest.Wait()
		b.open(timed, all(), Options{Timeout: time.Minute})
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
		wantNames(t, "the first dispatcher", first, "a")
		wantNames(t, "the second", timed, "a", "b")
		wantNames(t, "the last", last, "a", "b", "c")
	})
}

// TestSubscribersGetBookmarks: a subscriber sends a bookmark each minute, after the batches
// enqueued before (D25).
func TestSubscribersGetBookmarks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newHarness(t)
		defer b.end()
		b.index = 7
		b.hub.Begin(7, 7)
		clients := []*client{newClient(1), newClient(1)}
		for _, p := range clients {
			b.open(p, all(), Options{Bookmarks: true, Timeout: 90 * time.Second})
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

// TestChangesOfOthersPassBy: streams that many changes do not concern stay idle while memory drops
// these changes. Their bookmarks name the last of them, and the next change that concerns the
// streams reaches them from memory, although their cursors have read none of the others (D25, D38).
func TestChangesOfOthersPassBy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newHarness(t)
		defer b.end()
		var err error
		if b.hub, err = history.New(history.Config{MaxBytes: 32 << 10}); err != nil {
			t.Fatal(err)
		}
		clients := []*client{newClient(1), newClient(1), newClient(1)}
		for _, p := range clients {
			b.open(p, state.NamespacePrefix("pods", "y"), Options{Bookmarks: true})
			synctest.Wait()
		}
		for round := range 3 {
			for i := range 1000 {
				b.pod("x", fmt.Sprint("other", i))
			}
			synctest.Wait()
			if round == 1 {
				time.Sleep(time.Minute)
				synctest.Wait()
			}
			b.pod("y", fmt.Sprint("own", round))
			synctest.Wait()
		}
		for i, p := range clients {
			wantNames(t, fmt.Sprint("stream ", i), p, "@0", "own0", "@2001", "own1", "own2")
			if batches, _ := p.counts(); batches != 3 {
				t.Errorf("stream %d: %d batches enqueued", i, batches)
			}
		}
	})
}

// TestHistoryBeginsAnew: when a snapshot of another node replaces the state, the idle streams of a
// connection end with an error, whatever they select: changes may be missing (D40).
func TestHistoryBeginsAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newHarness(t)
		defer b.end()
		clients := []*client{newClient(1), newClient(1), newClient(1)}
		for i, p := range clients {
			b.open(p, state.NamespacePrefix("pods", fmt.Sprint("n", i)), Options{})
			synctest.Wait()
		}
		b.pod("n2", "a")
		synctest.Wait()
		b.hub.Reset(50, 50)
		synctest.Wait()
		for i, p := range clients {
			if !strings.Contains(p.text(), `"type":"ERROR"`) || !strings.Contains(p.text(), `"code":410`) {
				t.Errorf("stream %d: %s", i, p.text())
			}
		}
		if n := b.streams.Open(); n != 0 {
			t.Errorf("%d streams go on", n)
		}
	})
}

// TestStuckSubscriberIsCut: a client that never reads an enqueued batch is cut off, even if no
// other event follows (D38).
func TestStuckSubscriberIsCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newHarness(t)
		defer b.end()
		stuck, well := newClient(1), newClient(1)
		stuck.pending = true
		b.open(stuck, all(), Options{})
		b.open(well, all(), Options{})
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

// TestDrainEndsFanOut: all streams of a fan-out end, the dispatcher and the subscribers.
func TestDrainEndsFanOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newHarness(t)
		var clients []*client
		for range 50 {
			p := newClient(1)
			clients = append(clients, p)
			b.open(p, all(), Options{Bookmarks: true})
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

// TestDispatcherAndSuccessorLeaveTogether checks that a stream that becomes the dispatcher while
// its client disconnects appoints the next dispatcher, so that the remaining stream still receives
// its events (D28, D38).
func TestDispatcherAndSuccessorLeaveTogether(t *testing.T) {
	for round := range 300 {
		synctest.Test(t, func(t *testing.T) {
			b := newHarness(t)
			defer b.end()
			first, third, appointed := newClient(1), newClient(1), newClient(1)
			var leave [2]func()
			leave[0] = b.open(first, all(), Options{})
			synctest.Wait()
			b.open(third, all(), Options{})
			synctest.Wait()
			leave[1] = b.open(appointed, all(), Options{}) // the last one is appointed first
			synctest.Wait()
			leave[round%2]()
			leave[1-round%2]()
			synctest.Wait()
			b.pod("x", "a")
			synctest.Wait()
			wantNames(t, "the third", third, "a")
		})
		if t.Failed() {
			return
		}
	}
}
