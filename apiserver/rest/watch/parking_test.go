package watch

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"quorate/apiserver/wire/cancel"
)

// TestParkedStreamsGoOn checks that a parked stream sends its bookmarks and ends when it has to,
// while its dispatcher has nothing to do.
func TestParkedStreamsGoOn(t *testing.T) {
	for name, tc := range map[string]struct {
		timeout time.Duration
		happens func(b *harness, leave func())
		open    int
		want    []string
	}{
		"a bookmark is due":   {happens: func(*harness, func()) { time.Sleep(bookmarkEvery) }, open: 2, want: []string{"@0", "@0"}},
		"the client leaves":   {happens: func(_ *harness, leave func()) { leave() }, open: 1, want: []string{"@0"}},
		"the timeout is over": {timeout: time.Second, happens: func(*harness, func()) { time.Sleep(time.Second) }, open: 1, want: []string{"@0", "@0"}},
		"the client is stuck": {happens: func(b *harness, _ func()) {
			b.streams.mu.Lock()
			defer b.streams.mu.Unlock()
			for _, st := range b.streams.open {
				if st.opts.bookmarks {
					st.ctx.Cancel(errStuck)
				}
			}
		}, open: 1, want: []string{"@0", "@0"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newHarness(t)
				defer b.end()
				b.open(newClient(1), all(), Options{})
				synctest.Wait()
				p := newClient(1)
				leave := b.open(p, all(), Options{Bookmarks: true, Timeout: tc.timeout})
				synctest.Wait()
				tc.happens(b, leave)
				synctest.Wait()
				wantNames(t, "the stream", p, tc.want...)
				if n := b.streams.Open(); n != tc.open || b.idle() != float64(n) {
					t.Errorf("%d streams are open, %v idle", n, b.idle())
				}
			})
		})
	}
}

// TestUnsentChangesPrecedeTheLastBookmark checks that a parked stream whose changes could not be
// enqueued sends them before its last bookmark, if it has to end in the same moment: its client
// resumes after the bookmark (D25).
func TestUnsentChangesPrecedeTheLastBookmark(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newHarness(t)
		defer b.end()
		b.open(newClient(1), all(), Options{}) // the dispatcher
		synctest.Wait()
		p := newClient(1)
		b.open(p, all(), Options{Bookmarks: true})
		synctest.Wait()
		p.refuse(true)
		p.onEnqueue = func() { // by the dispatcher, before the stream is resumed
			b.streams.mu.Lock()
			defer b.streams.mu.Unlock()
			for _, st := range b.streams.open {
				if st.opts.bookmarks {
					st.ctx.Cancel(errDrained)
				}
			}
		}
		b.pod("x", "a")
		synctest.Wait()
		wantNames(t, "the stream", p, "@0", "a", "@1")
	})
}

// TestDispatcherPanics checks that the other streams of a connection go on when their dispatcher
// panics.
func TestDispatcherPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newHarness(t)
		defer b.end()
		first, others := newClient(1), []*client{newClient(1), newClient(1)}
		first.onEnqueue = func() { panic(errPlanned) }
		b.open(first, all(), Options{})
		synctest.Wait()
		for _, p := range others {
			b.open(p, all(), Options{})
			synctest.Wait()
		}
		b.pod("x", "a")
		synctest.Wait()
		b.pod("x", "b")
		synctest.Wait()
		for _, p := range others {
			wantNames(t, "another", p, "a", "b")
		}
		if n := b.streams.Open(); n != 2 || b.idle() != 2 {
			t.Errorf("%d streams are open, %v idle", n, b.idle())
		}
	})
}

// TestSnapshotWithoutChanges: when a snapshot of another node has no change that the idle streams of
// a connection have not had, they go on, and get what follows.
func TestSnapshotWithoutChanges(t *testing.T) {
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
		b.hub.Reset(50, b.index)
		synctest.Wait()
		b.index = 50
		b.pod("x", "b")
		synctest.Wait()
		for _, p := range clients {
			wantNames(t, "the stream", p, "a", "b")
		}
		if n := b.streams.Open(); n != len(clients) {
			t.Errorf("%d streams are open", n)
		}
	})
}

// TestParkingMeetsTheEnd checks that a stream that has ended since it last looked is not parked:
// the end has been announced already.
func TestParkingMeetsTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newHarness(t)
		defer b.end()
		p := newClient(1)
		b.open(p, all(), Options{}) // the dispatcher
		synctest.Wait()
		// Either the context of the stream has ended, and that of its next bookmark shows it, or not
		// yet, because it ends on another goroutine; or that of the bookmark alone has ended.
		ended, bookmark := cancel.Context{}, context.Background()
		ended.Init(t.Context())
		ended.Cancel(nil)
		shown, stop := context.WithCancel(t.Context())
		stop()
		for _, tt := range []struct{ exists, ctx context.Context }{{&ended, shown}, {&ended, bookmark}, {t.Context(), shown}} {
			st := &Stream{streams: b.streams, enqueuer: p}
			st.following.exists = tt.exists
			s := &st.following.subscriber
			st.following.changes = *b.hub.Watch(all(), 0)
			b.streams.fanouts.join(s, st)
			s.interrupt()
			if _, err := s.park(tt.ctx); !errors.Is(err, context.Canceled) || s.index >= 0 {
				t.Errorf("%v, at %d", err, s.index)
			}
			b.streams.fanouts.leave(s)
		}
	})
}
