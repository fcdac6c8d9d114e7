package raftstore

import (
	"container/list"
	"context"
	"errors"
	"sync"
	"time"

	"quorate/raftstore/state"
)

const (
	// maxLatchWaiters bounds the writes that wait for others to the same keys, those whose refusals are held back among them.
	maxLatchWaiters = 16 << 10
	// refusalTurn is how long a writer who was told of a conflict has to come back before the next one is told.
	refusalTurn = 5 * time.Millisecond
	// maxRefusalHeld bounds how long a refusal is held back. The more are held, the faster they are let go.
	maxRefusalHeld = 50 * time.Millisecond
)

// errLatchesFull reports that too many writes wait already.
var errLatchesFull = errors.New("too many writes wait for others to the same objects")

// latches serialise the leader's writes to one key, so that hopeless entries rarely reach the log. They order nothing that
// must be ordered: preconditions are decided when an entry is applied.
//
// Who waits for a key gets it in turn, while there is hope for it. Most waiters lose theirs with every write to their object,
// and told so at once they would all read the object, and all come back with the same version, for all but one of them to have
// worked in vain. So they are told one by one: one when the key is free again, the next after the next write, or after a turn
// in which nobody wrote, so that a client who doesn't come back holds up nobody. Refusals alone are paced like that. What may
// succeed never waits for a timer, and no timer makes a batch of proposals.
type latches struct {
	metrics *metrics

	mu      sync.Mutex
	keys    map[state.Key]*latch // of writes under way or held back
	waiting int
	held    int
}

// latch is one key's, for as long as anybody has it or is held back.
type latch struct {
	taken   bool
	waiting list.List   // of *turn: for the key, in the order they came; empty while it is free
	held    list.List   // of *turn: until they may be told that there is no hope for them, in the order that they lost it
	last    time.Time   // when the key became free or somebody was told
	timer   *time.Timer // for the first of held; nil before there was one
}

// turn is a write's place among those to its key.
type turn struct {
	c       *command
	decided chan struct{} // closed once a write that waits has the key or is hopeless; nil when it didn't wait
	has     bool          // the key; set before decided is closed
	told    chan struct{} // closed once a hopeless write may be answered; nil when it always might
	place   *list.Element // in waiting or held; nil in neither
	since   time.Time     // when it was held
}

func newLatches(m *metrics) *latches {
	return &latches{metrics: m, keys: make(map[state.Key]*latch)}
}

// enter finds a place for a write: with the key when that is free, else among those who wait for it; or, with a refusal by a
// state of now, among the hopeless. A create is none of them while a write is under way, which may make room for it.
func (l *latches) enter(c *command, refusal error) (*turn, error) {
	t := &turn{c: c}
	l.mu.Lock()
	defer l.mu.Unlock()
	k := l.keys[c.Key]
	if c.creates && k != nil && k.taken {
		refusal = nil
	}
	switch {
	case refusal != nil && (k == nil || l.full()): // none to be told before it, or too many
	case refusal != nil:
		l.lose(k, t, refusal)
		l.pace(c.Key, k)
	case k == nil:
		l.keys[c.Key] = &latch{taken: true, last: time.Now()}
		t.has = true
	case !k.taken:
		k.taken, t.has = true, true
	case l.full():
		l.metrics.latchesFull.Inc()
		return nil, errLatchesFull
	default:
		t.decided, t.place = make(chan struct{}), k.waiting.PushBack(t)
		l.metrics.latchWaits.Inc()
		l.count(&l.waiting, 1)
	}
	return t, nil
}

// wait returns once the write has the key or is hopeless, and with an error when its time or the leader's is over before.
func (l *latches) wait(ctx context.Context, e *epoch, t *turn) error {
	if t.decided == nil {
		return nil
	}
	select {
	case <-t.decided:
		return nil
	case <-e.ctx.Done():
		return ErrNotLeader
	case <-ctx.Done():
		return ctx.Err()
	}
}

// hold returns when the refusal of a write that is held back may be told: in its turn, or as soon as nobody waits for it any
// longer.
func (l *latches) hold(ctx context.Context, e *epoch, t *turn) {
	select {
	case <-t.told:
	case <-e.ctx.Done():
	case <-ctx.Done():
	}
	l.metrics.refusalHeld.Observe(time.Since(t.since).Seconds())
}

// leave gives up the write's place. The key goes to the first who waits for it and whom the present state doesn't refuse.
func (l *latches) leave(t *turn, root func() *state.Root) {
	l.mu.Lock()
	defer l.mu.Unlock()
	k := l.keys[t.c.Key]
	switch {
	case t.has:
		l.pass(k, root())
	case t.place == nil:
		return
	case t.told != nil:
		k.held.Remove(t.place)
		l.count(&l.held, -1)
	default:
		k.waiting.Remove(t.place)
		l.count(&l.waiting, -1)
	}
	l.pace(t.c.Key, k)
}

// pass hands the key on. Everybody is judged once here, by a state that has the version he wrote against: those who lose hope
// leave the queue.
func (l *latches) pass(k *latch, root *state.Root) {
	k.taken = false
	for at := k.waiting.Front(); at != nil && !k.taken; at = k.waiting.Front() {
		t := k.waiting.Remove(at).(*turn)
		t.place = nil
		l.count(&l.waiting, -1)
		if refusal := t.c.refusal(root); refusal != nil {
			l.lose(k, t, refusal)
		} else {
			k.taken, t.has = true, true
		}
		close(t.decided)
	}
	if k.taken {
		return
	}
	k.last = time.Now()
	if first := k.held.Front(); first != nil {
		l.tell(k, first.Value.(*turn))
	}
}

// lose holds back a write that has become hopeless, if it is one that will be tried again from a newer version.
func (l *latches) lose(k *latch, t *turn, refusal error) {
	if _, conflict := errors.AsType[*state.Conflict](refusal); conflict {
		t.told, t.since = make(chan struct{}), time.Now()
		t.place = k.held.PushBack(t)
		l.count(&l.held, 1)
	}
}

// tell lets go one who is held back.
func (l *latches) tell(k *latch, t *turn) {
	k.held.Remove(t.place)
	t.place = nil
	l.count(&l.held, -1)
	k.last = time.Now()
	close(t.told)
}

// pace sets the timer for the first of those who are held back, or forgets a key that nobody has or is held back for.
func (l *latches) pace(key state.Key, k *latch) {
	switch {
	case k.held.Len() > 0 && k.timer == nil:
		k.timer = time.AfterFunc(k.pause(), func() { l.turnOver(key, k) })
	case k.held.Len() > 0:
		k.timer.Reset(k.pause())
	case k.timer != nil:
		k.timer.Stop()
	}
	if !k.taken && k.held.Len() == 0 {
		delete(l.keys, key)
	}
}

// turnOver tells the first of those who are held back, unless it has turned out meanwhile that he must wait.
func (l *latches) turnOver(key state.Key, k *latch) {
	l.mu.Lock()
	defer l.mu.Unlock()
	first := k.held.Front()
	if first == nil {
		return // the last of them has left as the timer fired
	}
	if k.pause() <= 0 {
		l.tell(k, first.Value.(*turn))
	}
	l.pace(key, k)
}

// pause is how long the first of those who are held back must wait still. While a write is under way, what he would read is as
// good as outdated; then he waits for its end, unless they are so many that the last would have to wait too long.
func (k *latch) pause() time.Duration {
	left := maxRefusalHeld - time.Since(k.held.Front().Value.(*turn).since)
	share := left / time.Duration(k.held.Len())
	if !k.taken {
		share = min(share, refusalTurn)
	}
	return share - time.Since(k.last)
}

func (l *latches) full() bool { return l.waiting+l.held >= maxLatchWaiters }

func (l *latches) count(n *int, change int) {
	*n += change
	l.metrics.latchWaiting.Set(float64(l.waiting))
	l.metrics.refusalsHeld.Set(float64(l.held))
}
