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
	// maxLatchWaiters bounds the writes that wait for others to the same keys, including delayed
	// conflicts.
	maxLatchWaiters = 16 << 10
	// retryTime is the longest time for which a key stays reserved for the client whose conflict
	// was released, and so the longest time that other writes wait for that client. It is also the
	// longest time between two releases while no write holds the key.
	retryTime = 5 * time.Millisecond
	// maxConflictDelay bounds the delay of a conflict. The more conflicts are delayed, the faster
	// they are released.
	maxConflictDelay = 500 * time.Millisecond
)

// errLatchesFull reports that too many writes are waiting.
var errLatchesFull = errors.New("too many writes wait for others to the same objects")

// latches serialize the leader's writes to one key, so that doomed entries rarely reach the log.
// Correctness does not depend on them: preconditions are decided when an entry is applied.
//
// Waiters acquire a key in FIFO order until their precondition can no longer hold. Most writes to
// an object make the waiters behind them conflict. If all of these returned at once, their clients
// would all read the object and write from the same version, and all but one would conflict again:
// always the clients with a slower connection, for instance through a follower. So the conflicts on
// one key are released one at a time, in FIFO order: the first when the key becomes free, the next
// after the next write, or after retryTime without one. If conflicts accumulate while the key is
// held, they are released earlier, so that none waits for much longer than maxConflictDelay.
//
// A release reserves a free key for the client that receives the conflict, if the client is known.
// Other writes wait until that client has retried, but not longer than retryTime. A key without
// conflicts is never reserved.
type latches struct {
	metrics *latchMetrics

	mu      sync.Mutex
	keys    map[state.Key]*latch // keys that are held, reserved, or have delayed conflicts
	waiting int
	delayed int
}

// latch is the latch of one key.
type latch struct {
	held      bool
	waiting   list.List // of *waiter, in the order of their arrival
	conflicts list.List // of *waiter: doomed and not released, in the order in which they were doomed

	reservedFor   uint64    // client; 0 for none
	reservedUntil time.Time // set by the first release after the key became free
	last          time.Time // when the key became free, or a conflict was released
	timer         *time.Timer
}

// waiter is the place of a write at the latch of its key.
type waiter struct {
	c        *command
	decided  chan struct{} // closed once it holds the key or is doomed; nil if it did not wait
	holds    bool          // whether it holds the key; set before decided is closed
	released chan struct{} // closed once the conflict may be returned; nil unless it was delayed
	place    *list.Element // in waiting or conflicts; nil in neither
	since    time.Time     // when its conflict was delayed
}

func newLatches(m *latchMetrics) *latches {
	return &latches{metrics: m, keys: make(map[state.Key]*latch)}
}

// enter acquires the key if it is free, and queues the write otherwise. refusal is the result of a
// check against a recent state. If it is not nil, the write is doomed: enter queues it only as a
// delayed conflict, and only if it is a *state.Conflict, the key is contended, and not too many
// writes wait. A create is not doomed while another write holds the key, because that write may
// remove the object. enter returns errLatchesFull if too many writes wait.
func (l *latches) enter(c *command, refusal error) (*waiter, error) {
	w := &waiter{c: c}
	l.mu.Lock()
	defer l.mu.Unlock()
	k := l.keys[c.Key]
	if c.Creates && k != nil && k.held {
		refusal = nil
	}
	switch {
	case refusal != nil && (k == nil || l.full()): // without contention, or with too many waiters
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

// admits reports whether a write acquires the key immediately.
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

// wait returns nil once the write holds the key or is doomed. It returns an error if ctx or the
// epoch ends first.
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

// delayConflict returns when the conflict of a doomed write may be returned to its client, which is
// when it is released, or when ctx or the epoch ends.
func (l *latches) delayConflict(ctx context.Context, e *leadership.Epoch, w *waiter) {
	select {
	case <-w.released:
	case <-e.Done():
	case <-ctx.Done():
	}
	l.metrics.conflictDelay.Observe(time.Since(w.since).Seconds())
}

// leave gives up the write's place. If it held the key, the first waiter that the present state
// does not refuse acquires it.
func (l *latches) leave(w *waiter, root func() *state.Root) {
	l.mu.Lock()
	defer l.mu.Unlock()
	k := l.keys[w.c.Key]
	switch {
	case w.holds:
		l.grantNext(k, root())
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

// grantNext frees the key and gives it to the first waiter that root does not refuse. root has the
// version from which each waiter was derived, so a refusal is final.
func (l *latches) grantNext(k *latch, root *state.Root) {
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

// pop removes and returns the first waiter.
func (l *latches) pop(k *latch) *waiter {
	w := k.waiting.Remove(k.waiting.Front()).(*waiter)
	w.place = nil
	l.count(&l.waiting, -1)
	return w
}

// doom ends the wait of a refused write. It delays the conflict of a write that its client will
// retry from a newer version, and no other refusal.
func (l *latches) doom(k *latch, w *waiter, refusal error) {
	if _, conflict := errors.AsType[*state.Conflict](refusal); conflict {
		w.released, w.since = make(chan struct{}), time.Now()
		w.place = k.conflicts.PushBack(w)
		l.count(&l.delayed, 1)
	}
}

// release releases the first conflict, and reserves a free key for its client. Later releases do
// not prolong the reservation, so that others wait for at most retryTime.
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

// schedule sets the timer for the next event at the latch, and drops the latch if there is none.
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

// due returns the time until the reservation ends or the next conflict must be released, whichever
// is first, and false if there is neither. While a write holds the key, a client that retries would
// most likely conflict again, so conflicts are delayed until that write ends, unless so many are
// delayed that the last one would exceed maxConflictDelay.
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

// expire handles the event for which schedule set the timer: a free key whose reservation has ended
// goes to the first waiter, or to the client of the next conflict.
func (l *latches) expire(key state.Key, k *latch) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.keys[key] != k {
		return // the latch was dropped when the timer fired
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
