package write

import (
	"container/list"
	"context"
	"errors"
	"sync"
	"time"

	"quorate/raftstore/failure"
	"quorate/raftstore/leadership"
	"quorate/raftstore/state"
)

const (
	// maxLatchWaiters bounds the writes that wait for others to the same keys, delayed conflicts
	// included.
	maxLatchWaiters = 16 << 10
	// retryTime is how long a key stays reserved for the client whose conflict was released, and so
	// how long others wait for it at most; then the next conflict is released.
	retryTime = 5 * time.Millisecond
	// maxConflictDelay bounds the delay of a conflict. The more are delayed, the faster they are
	// released.
	maxConflictDelay = 500 * time.Millisecond
)

// errLatchesFull reports that too many writes wait already.
var errLatchesFull = errors.New("too many writes wait for others to the same objects")

// latches serialise the leader's writes to one key, so that doomed entries rarely reach the log.
// They order nothing that must be ordered: preconditions are decided when an entry is applied.
//
// Waiters acquire a key in FIFO order until their precondition can no longer hold. Most lose it
// with each write to their object. If all of them learned that at once, they would all read the
// object and write from the same version, and all but one would conflict again: always those that
// are slow to return, because they are connected to a follower. So conflicts on one key are
// released one at a time, in FIFO order: the first when the key is free, the next after the next
// write, or after retryTime without one. A release reserves the key for the client that gets it.
// Others wait until it has retried, but not longer than retryTime. A key that nobody lost a
// conflict on is never reserved.
type latches struct {
	metrics *latchMetrics

	mu      sync.Mutex
	keys    map[state.Key]*latch // that are held, reserved, or have delayed conflicts
	waiting int
	delayed int
}

// latch is the latch of one key.
type latch struct {
	held      bool
	waiting   list.List // of *waiter: for the key, in the order of their arrival
	conflicts list.List // of *waiter: doomed, until they are released, in the order of their losses

	reservedFor   uint64    // client; 0 for none
	reservedUntil time.Time // set by the first release after the key became free
	last          time.Time // when the key became free, or a conflict was released
	timer         *time.Timer
}

// waiter is a write's place at the latch of its key.
type waiter struct {
	c        *command
	decided  chan struct{} // closed once it holds the key or is doomed; nil if it did not wait
	holds    bool          // the key; set before decided is closed
	released chan struct{} // closed once the conflict may be returned; nil unless it was delayed
	place    *list.Element // in waiting or conflicts; nil in neither
	since    time.Time     // when its conflict was delayed
}

func newLatches(m *latchMetrics) *latches {
	return &latches{metrics: m, keys: make(map[state.Key]*latch)}
}

// enter acquires the key if it is free, and queues the write otherwise; or, with a refusal by a
// recent state, delays its conflict. A create is not doomed while another write may make room for
// it.
func (l *latches) enter(c *command, refusal error) (*waiter, error) {
	w := &waiter{c: c}
	l.mu.Lock()
	defer l.mu.Unlock()
	k := l.keys[c.Key]
	if c.Creates && k != nil && k.held {
		refusal = nil
	}
	switch {
	case refusal != nil && (k == nil || l.full()): // no contention, or too much
		return w, nil
	case refusal != nil:
		l.doom(k, w, refusal)
	case k == nil:
		l.keys[c.Key] = &latch{held: true}
		w.holds = true
		return w, nil
	case k.admits(c):
		k.held, k.reservedFor, w.holds = true, 0, true
	case l.full():
		l.metrics.full.Inc()
		return nil, errLatchesFull
	default:
		w.decided, w.place = make(chan struct{}), k.waiting.PushBack(w)
		l.metrics.waits.Inc()
		l.count(&l.waiting, 1)
	}
	l.schedule(c.Key, k)
	return w, nil
}

// admits reports whether a write acquires the key at once.
func (k *latch) admits(c *command) bool {
	switch {
	case k.held:
		return false
	case k.reserved():
		return c.client == k.reservedFor
	default:
		return k.waiting.Len() == 0
	}
}

func (k *latch) reserved() bool { return k.reservedFor != 0 && time.Now().Before(k.reservedUntil) }

// wait returns once the write holds the key or is doomed, and with an error if ctx or the epoch
// ends before.
func (l *latches) wait(ctx context.Context, e *leadership.Epoch, w *waiter) error {
	if w.decided == nil {
		return nil
	}
	select {
	case <-w.decided:
		return nil
	case <-e.Done():
		return failure.ErrNotLeader
	case <-ctx.Done():
		return ctx.Err()
	}
}

// delayConflict returns when the conflict of a doomed write may be returned to its client: when it
// is released, or when ctx or the epoch ends.
func (l *latches) delayConflict(ctx context.Context, e *leadership.Epoch, w *waiter) {
	select {
	case <-w.released:
	case <-e.Done():
	case <-ctx.Done():
	}
	l.metrics.conflictDelay.Observe(time.Since(w.since).Seconds())
}

// leave gives up the write's place. A key that it held goes to the first waiter that the present
// state does not refuse.
func (l *latches) leave(w *waiter, root func() *state.Root) {
	l.mu.Lock()
	defer l.mu.Unlock()
	k := l.keys[w.c.Key]
	switch {
	case w.holds:
		l.pass(k, root())
	case w.place == nil:
		return
	case w.released != nil:
		k.conflicts.Remove(w.place)
		l.count(&l.delayed, -1)
	default:
		k.waiting.Remove(w.place)
		l.count(&l.waiting, -1)
	}
	l.schedule(w.c.Key, k)
}

// pass hands the key on. Each waiter is judged once here, by a state that has the version that it
// was derived from.
func (l *latches) pass(k *latch, root *state.Root) {
	k.held = false
	for k.waiting.Len() > 0 && !k.held {
		w := l.pop(k)
		if refusal := w.c.refusal(root); refusal != nil {
			l.doom(k, w, refusal)
		} else {
			k.held, w.holds = true, true
		}
		close(w.decided)
	}
	if !k.held {
		k.last = time.Now()
		if k.conflicts.Len() > 0 {
			l.release(k)
		}
	}
}

// pop takes the first waiter out of the queue.
func (l *latches) pop(k *latch) *waiter {
	w := k.waiting.Remove(k.waiting.Front()).(*waiter)
	w.place = nil
	l.count(&l.waiting, -1)
	return w
}

// doom delays the conflict of a write that will be retried from a newer version; no other refusal
// is delayed.
func (l *latches) doom(k *latch, w *waiter, refusal error) {
	if _, conflict := errors.AsType[*state.Conflict](refusal); conflict {
		w.released, w.since = make(chan struct{}), time.Now()
		w.place = k.conflicts.PushBack(w)
		l.count(&l.delayed, 1)
	}
}

// release releases the first conflict, and reserves a free key for its client. Releases that follow
// before the reservation ends do not prolong it: others wait for retryTime at most.
func (l *latches) release(k *latch) {
	w := k.conflicts.Remove(k.conflicts.Front()).(*waiter)
	w.place = nil
	l.count(&l.delayed, -1)
	now := time.Now()
	k.last = now
	if !k.held && w.c.client != 0 {
		if !k.reserved() {
			k.reservedUntil = now.Add(retryTime)
		}
		k.reservedFor = w.c.client
	}
	close(w.released)
}

// schedule sets the timer for what is due next, or forgets a latch that nothing is due for.
func (l *latches) schedule(key state.Key, k *latch) {
	due, any := k.due()
	switch {
	case any && k.timer == nil:
		k.timer = time.AfterFunc(due, func() { l.expire(key, k) })
	case any:
		k.timer.Reset(due)
	case k.timer != nil:
		k.timer.Stop()
	}
	if !any && !k.held {
		delete(l.keys, key)
	}
}

// due returns when the reservation ends, or the next conflict must be released, whichever is first.
// While a write is under way, a client that retried would most likely conflict again; so its
// conflict is delayed until that write ends, unless there are so many that the last one would have
// to wait for too long.
func (k *latch) due() (in time.Duration, any bool) {
	if first := k.conflicts.Front(); first != nil {
		in = (maxConflictDelay - time.Since(first.Value.(*waiter).since)) / time.Duration(k.conflicts.Len())
		if !k.held {
			in = min(in, retryTime)
		}
		in, any = in-time.Since(k.last), true
	}
	if ends := time.Until(k.reservedUntil); !k.held && k.reservedFor != 0 && (!any || ends < in) {
		in, any = ends, true
	}
	return in, any
}

// expire does what is due: a free key whose reservation has ended goes to the first waiter, or to
// the client of the next conflict.
func (l *latches) expire(key state.Key, k *latch) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.keys[key] != k {
		return // forgotten as the timer fired
	}
	if !k.held && k.reservedFor != 0 && !k.reserved() {
		l.metrics.reservationsExpired.Inc()
		k.reservedFor = 0
		if k.waiting.Len() > 0 {
			w := l.pop(k)
			k.held, w.holds = true, true
			close(w.decided)
		}
	}
	if in, any := k.due(); any && in <= 0 && k.conflicts.Len() > 0 {
		l.release(k)
	}
	l.schedule(key, k)
}

func (l *latches) full() bool { return l.waiting+l.delayed >= maxLatchWaiters }

func (l *latches) count(n *int, change int) {
	*n += change
	l.metrics.waiting.Set(float64(l.waiting))
	l.metrics.conflictsDelayed.Set(float64(l.delayed))
}
