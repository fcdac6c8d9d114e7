package appendrpc

import (
	"sync"
	"time"
)

const (
	// nearRequests is the number of requests that may always be on the way: one is being handled by
	// the follower, and one waits there. While a sender waits, entries gather for its next request,
	// which saves the follower most of its disk's syncs.
	nearRequests = 2
	// farRequests bounds the requests on the way to a distant follower, and farBytes their entries.
	farRequests = 64
	farBytes    = 8 << 20
	// spacing is the least time between the requests beyond nearRequests. There are none unless
	// base is at least farBase, since with two requests entries wait for half of base at most.
	spacing = 4 * time.Millisecond
	farBase = 4 * spacing
	// baseTime is how long the response time of a request that was alone on the way counts.
	baseTime = 10 * time.Second
)

// window decides how many requests may be on the way. With two, entries wait for half a round trip
// to a distant follower until they are sent. So there may be more, unless they would only wait at
// the follower, as they do if its disk takes most of the response time: then a request behind
// others takes longer than one that was alone on the way. As long as it does not, there may be one
// more after each response.
type window struct {
	mu       sync.Mutex
	requests int           // without a response
	bytes    int           // of their entries
	limit    int           // of requests
	base     time.Duration // the least response time of a request that was alone on the way
	baseAt   time.Time     // when base was measured; zero if it is not known

	answered chan struct{} // holds a value after a response
}

func newWindow() *window { return &window{limit: nearRequests, answered: make(chan struct{}, 1)} }

// begin adds a request that is about to be sent. If base is not known, or out of date, begin waits
// until the request is alone. It returns false if closed is closed first.
func (w *window) begin(f *future, closed <-chan struct{}) (ok bool) {
	for !w.add(f) {
		select {
		case <-w.answered:
		case <-closed:
			return false
		}
	}
	return true
}

func (w *window) add(f *future) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	f.start = time.Now()
	f.alone = w.requests == 0
	if !f.alone && w.stale(f.start) {
		return false
	}
	w.requests++
	w.bytes += f.bytes
	return true
}

// end removes a request that has its response.
func (w *window) end(f *future, now time.Time) {
	w.mu.Lock()
	w.requests--
	w.bytes -= f.bytes
	switch took := now.Sub(f.start); {
	case f.alone && (took <= w.base || w.stale(now)):
		w.base, w.baseAt = took, now
	case f.alone:
	case w.base < farBase:
		w.limit = nearRequests
	case took <= w.base+w.base/4: // more is a queue at the follower
		w.limit = min(w.limit+1, farRequests)
	default:
		w.limit = max(w.limit/2, nearRequests)
	}
	w.mu.Unlock()
	select {
	case w.answered <- struct{}{}:
	default:
	}
}

func (w *window) stale(now time.Time) bool { return w.baseAt.IsZero() || now.Sub(w.baseAt) >= baseTime }

// await waits after a request was sent until the next one may be. far reports whether there are
// more than nearRequests then. It returns false if closed is closed first.
func (w *window) await(sent time.Time, closed <-chan struct{}) (far, ok bool) {
	wait, far := w.wait(sent, time.Now())
	if wait <= 0 {
		return far, true
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for wait > 0 {
		select {
		case <-w.answered:
		case <-timer.C:
		case <-closed:
			return false, false
		}
		wait, far = w.wait(sent, time.Now())
		timer.Reset(wait)
	}
	return far, true
}

// wait returns how long the next request has to wait after one that was sent, unless a response
// arrives first. far reports whether there are more than nearRequests then.
func (w *window) wait(sent, now time.Time) (wait time.Duration, far bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.requests < nearRequests:
		return 0, false
	case w.requests >= w.limit, w.bytes >= farBytes, w.stale(now):
		return time.Hour, false // for a response
	}
	return spacing - now.Sub(sent), true
}
