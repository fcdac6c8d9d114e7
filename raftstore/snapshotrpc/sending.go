package snapshotrpc

import (
	"sync"
	"time"

	"quorate/raftstore/snapshot"
	"quorate/raftstore/transport"
)

// sending is the transfer of one snapshot to one follower, over all its attempts.
type sending struct {
	transport.Outgoing
	content snapshot.Content

	accepted int // attempts that the follower has accepted

	mu         sync.Mutex
	received   int64     // most bytes that the follower has reported
	progressed time.Time // when it first reported that many; zero before its first report
}

// report records that the follower has so many bytes.
func (t *sending) report(received int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if received > t.received || t.progressed.IsZero() {
		t.received, t.progressed = received, time.Now()
	}
}

// reached returns the most bytes that the follower has reported.
func (t *sending) reached() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.received
}

// lastProgress returns when the follower last reported more bytes than before.
func (t *sending) lastProgress() time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.progressed
}

// watchdog calls a function if the follower takes nothing for a time. It does not run while the
// follower has taken all that was sent: then the next bytes wait for the rate.
type watchdog struct {
	timeout time.Duration
	timer   *time.Timer

	mu          sync.Mutex
	sent, taken int64
}

// newWatchdog returns a running watchdog.
func newWatchdog(timeout time.Duration, expire func()) *watchdog {
	return &watchdog{timeout: timeout, timer: time.AfterFunc(timeout, expire)}
}

// sentUpTo records what is sent.
func (w *watchdog) sentUpTo(offset int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.taken == w.sent {
		w.timer.Reset(w.timeout)
	}
	w.sent = offset
}

// tookUpTo records what the follower has taken.
func (w *watchdog) tookUpTo(offset int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if offset <= w.taken {
		return
	}
	w.taken = offset
	if w.taken < w.sent {
		w.timer.Reset(w.timeout)
	} else {
		w.timer.Stop()
	}
}

// startAt records what the follower had before anything was sent.
func (w *watchdog) startAt(offset int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent, w.taken = offset, offset
	w.timer.Stop()
}

func (w *watchdog) stop() { w.timer.Stop() }
