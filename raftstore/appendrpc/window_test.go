package appendrpc

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// link is a follower at a distance, which handles one request at a time. The fields may change
// between two runs.
type link struct {
	roundTrip, handling time.Duration
	bytes               int // of each request
	window              *window
}

// run sends as many requests as the window lets for a time, and waits for their responses. It
// returns how many there were, and how many were on the way at most.
func (l *link) run(t *testing.T, length time.Duration) (count, most int) {
	t.Helper()
	arrive := make(chan *future, 10*farRequests)
	var group sync.WaitGroup
	begun := time.Now()
	group.Go(func() {
		defer close(arrive)
		for time.Since(begun) < length {
			f := &future{bytes: l.bytes}
			if !l.window.begin(f, nil) {
				t.Error("the window is closed")
			}
			count++
			l.window.mu.Lock()
			most = max(most, l.window.requests)
			l.window.mu.Unlock()
			arrive <- f
			l.window.await(f.start, nil)
		}
	})
	group.Go(func() {
		for f := range arrive {
			time.Sleep(time.Until(f.start.Add(l.roundTrip / 2)))
			time.Sleep(l.handling)
			respond := time.Now().Add(l.roundTrip / 2)
			group.Go(func() {
				time.Sleep(time.Until(respond))
				l.window.end(f, time.Now())
			})
		}
	})
	group.Wait()
	return count, most
}

// TestWindow checks how many requests are on the way to followers at several distances, with
// several disks: as many as the round trip has room for, and no more than two at a follower that is
// slow itself.
func TestWindow(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	for _, c := range []struct {
		name                string
		roundTrip, handling time.Duration
		bytes               int
		counts, most        [2]int // least and greatest, in 5 s
	}{
		{"beside", 0, ms, 1, [2]int{4900, 5100}, [2]int{2, 2}},
		{"near", 5 * ms, ms, 1, [2]int{1600, 1700}, [2]int{2, 2}},
		{"near, with pauses", 12 * ms, 3 * ms, 1, [2]int{640, 680}, [2]int{2, 2}},
		{"in the region", 20 * ms, ms, 1, [2]int{1100, 1250}, [2]int{5, 7}},
		{"far", 80 * ms, ms, 1, [2]int{1000, 1250}, [2]int{19, 23}},
		{"far, large requests", 80 * ms, ms, farBytes / 8, [2]int{400, 520}, [2]int{8, 8}},
		{"very far", 400 * ms, ms, 1, [2]int{400, 800}, [2]int{farRequests, farRequests}},
		{"slow disk", 0, 50 * ms, 1, [2]int{95, 101}, [2]int{2, 2}},
		{"near, slow disk", 2 * ms, 50 * ms, 1, [2]int{95, 101}, [2]int{2, 2}},
		{"far, slow disk", 80 * ms, 50 * ms, 1, [2]int{70, 101}, [2]int{3, 5}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l := &link{roundTrip: c.roundTrip, handling: c.handling, bytes: c.bytes, window: newWindow()}
				count, most := l.run(t, 5*time.Second)
				if count < c.counts[0] || count > c.counts[1] || most < c.most[0] || most > c.most[1] {
					t.Errorf("%d requests, %d on the way at most; want %v, %v", count, most, c.counts, c.most)
				}
				if l.window.requests != 0 || l.window.bytes != 0 {
					t.Errorf("%d requests of %d bytes are left", l.window.requests, l.window.bytes)
				}
			})
		})
	}
}

// TestWindowFollowsTheLink changes the distance and the disk while requests are sent.
func TestWindowFollowsTheLink(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	synctest.Test(t, func(t *testing.T) {
		l := &link{handling: ms, window: newWindow()}
		for _, c := range []struct {
			name                string
			roundTrip, handling time.Duration
			counts              [2]int // in 30 s
		}{
			{"beside", 0, ms, [2]int{29_000, 30_100}},
			{"far", 80 * ms, ms, [2]int{4000, 7600}}, // once base has been measured again
			{"its disk is slow", 80 * ms, 50 * ms, [2]int{500, 600}},
			{"its disk is fast again", 80 * ms, ms, [2]int{4000, 7600}},
			{"beside again", 0, ms, [2]int{29_000, 30_100}},
		} {
			l.roundTrip, l.handling = c.roundTrip, c.handling
			if count, _ := l.run(t, 30*time.Second); count < c.counts[0] || count > c.counts[1] {
				t.Errorf("%s: %d requests, want %v", c.name, count, c.counts)
			}
		}
	})
}

// TestClosedWindow: neither who waits to send a request nor who waits for the next one outlives the
// pipeline.
func TestClosedWindow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, closed := newWindow(), make(chan struct{})
		first := &future{}
		if !w.begin(first, closed) {
			t.Fatal("the window is closed")
		}
		results := make(chan bool, 2)
		go func() { results <- w.begin(&future{}, closed) }() // waits until it is alone
		synctest.Wait()
		close(closed)
		if <-results {
			t.Error("a request was sent")
		}
		w.end(first, time.Now())
		w.begin(&future{}, nil)
		w.begin(&future{}, nil)
		if _, ok := w.await(time.Now(), closed); ok {
			t.Error("another request may be sent")
		}
	})
}

// TestRequestsAloneProveNoDistance: requests that are alone on the way take no longer than one that
// is alone, also at a follower with a slow disk.
func TestRequestsAloneProveNoDistance(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWindow()
		for i := range time.Duration(50) {
			f := &future{}
			if !w.begin(f, nil) {
				t.Fatal("the window is closed")
			}
			w.end(f, f.start.Add(50*time.Millisecond+i%3*time.Millisecond))
		}
		if w.limit != nearRequests {
			t.Errorf("%d requests may be on the way, want %d", w.limit, nearRequests)
		}
	})
}
