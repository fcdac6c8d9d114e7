package budget

import (
	"context"
	"errors"
	"sync"
	"time"
)

// ErrBusy reports that a queue is full, or that an Acquire has waited for as long as it may.
var ErrBusy = errors.New("too many wait for the same")

// Waiting is the bound that a queue names when it refuses.
const Waiting Bound = "waiting"

// QueueConfig holds the bounds of a queue.
type QueueConfig struct {
	// Total bounds what is held together, PerUser what one user holds. Both make an exception for
	// an amount that alone is larger: it is held alone, or as the only one of its user.
	Total, PerUser int64
	// Waiters and WaitersPerUser bound how many wait at the same time, MaxWait how long.
	Waiters, WaitersPerUser int
	MaxWait                 time.Duration
	// Refused, if set, is called for each Acquire that returned ErrBusy.
	Refused func(Bound)
}

// Queue is an amount that users share, and for which they wait when it is used up. What is returned
// goes to the waiter whose user was served least recently. It is safe for concurrent use.
type Queue struct {
	cfg QueueConfig

	mu      sync.Mutex
	used    int64
	served  uint64 // how many waiters were served
	users   map[string]*member
	waiters []*waiter // oldest first
}

// member is a user that holds something or waits.
type member struct {
	used    int64
	waiting int
	served  uint64 // Queue.served when this user's latest waiter was served
}

type waiter struct {
	user   string
	member *member
	amount int64
	ready  chan struct{} // closed when the amount is held
}

// NewQueue returns a queue of which nothing is held.
func NewQueue(cfg QueueConfig) *Queue {
	if cfg.Refused == nil {
		cfg.Refused = func(Bound) {}
	}
	return &Queue{cfg: cfg, users: make(map[string]*member)}
}

// Used returns what is held together.
func (q *Queue) Used() int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.used
}

// Waiters returns how many wait.
func (q *Queue) Waiters() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiters)
}

// Acquire returns nil when the user holds n more units. It waits until they are free. It returns
// ErrBusy at once if Waiters or WaitersPerUser requests wait already, ErrBusy after MaxWait, and
// ctx's error if ctx ends first. A caller should hold nothing of the queue while it waits.
func (q *Queue) Acquire(ctx context.Context, user string, n int64) error {
	w, bound := q.enter(user, n)
	switch {
	case bound != "":
		q.cfg.Refused(bound)
		return ErrBusy
	case w == nil:
		return nil
	}
	limit := time.NewTimer(q.cfg.MaxWait)
	defer limit.Stop()
	var err error
	select {
	case <-w.ready:
		return nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-limit.C:
		err = ErrBusy
	}
	if q.leave(w) {
		return nil // served in the same moment
	}
	if errors.Is(err, ErrBusy) {
		q.cfg.Refused(Waiting)
	}
	return err
}

// TryAcquire is Acquire without waiting: it reports whether the user holds n more units. It goes
// before those that wait, since it is for users that hold something and return all of it sooner with
// more. It counts no refusal.
func (q *Queue) TryAcquire(user string, n int64) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	m := q.users[user]
	if m == nil {
		m = &member{}
	}
	if !q.fits(n) || !q.fitsUser(m, n) {
		return false
	}
	q.users[user] = m
	m.used += n
	q.used += n
	return true
}

// Release returns n units that the user has acquired.
func (q *Queue) Release(user string, n int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	m := q.users[user]
	if m == nil || n > m.used {
		panic("budget: release of more than was acquired")
	}
	m.used -= n
	q.used -= n
	q.forget(user, m)
	q.serve()
}

// enter takes n units for the user, or returns a waiter for them, or the bound that forbids to
// wait.
func (q *Queue) enter(user string, n int64) (*waiter, Bound) {
	q.mu.Lock()
	defer q.mu.Unlock()
	m := q.users[user]
	if m == nil {
		m = &member{}
		q.users[user] = m
	}
	if len(q.waiters) == 0 && q.fits(n) && q.fitsUser(m, n) {
		m.used += n
		q.used += n
		return nil, ""
	}
	switch {
	case m.waiting >= q.cfg.WaitersPerUser:
		return nil, User
	case len(q.waiters) >= q.cfg.Waiters:
		q.forget(user, m)
		return nil, Total
	}
	m.waiting++
	w := &waiter{user: user, member: m, amount: n, ready: make(chan struct{})}
	q.waiters = append(q.waiters, w)
	q.serve() // those that wait already may all wait for their own users
	return w, ""
}

// leave removes a waiter, unless it was served.
func (q *Queue) leave(w *waiter) (served bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	select {
	case <-w.ready:
		return true
	default:
	}
	for i := range q.waiters {
		if q.waiters[i] == w {
			q.remove(i)
			break
		}
	}
	q.forget(w.user, w.member)
	q.serve() // what it waited for may be enough for the others
	return false
}

func (q *Queue) remove(i int) {
	q.waiters[i].member.waiting--
	q.waiters = append(q.waiters[:i], q.waiters[i+1:]...)
}

// forget drops a user that neither holds anything nor waits.
func (q *Queue) forget(user string, m *member) {
	if m.used == 0 && m.waiting == 0 {
		delete(q.users, user)
	}
}

func (q *Queue) fits(n int64) bool {
	return q.used == 0 || q.used+n <= q.cfg.Total
}

func (q *Queue) fitsUser(m *member, n int64) bool {
	return m.used == 0 || m.used+n <= q.cfg.PerUser
}

// serve gives what is there to waiters. It stops at the first for which too little is left, so that
// small amounts do not overtake a large one for ever.
func (q *Queue) serve() {
	for {
		i := q.next()
		if i < 0 || !q.fits(q.waiters[i].amount) {
			return
		}
		w := q.waiters[i]
		q.remove(i)
		q.served++
		w.member.served = q.served
		w.member.used += w.amount
		q.used += w.amount
		close(w.ready)
	}
}

// next returns the place of the waiter to serve next: among those whose users may hold more, the
// oldest of the user that was served least recently; -1 for none.
func (q *Queue) next() int {
	best := -1
	for i, w := range q.waiters {
		if q.fitsUser(w.member, w.amount) && (best < 0 || w.member.served < q.waiters[best].member.served) {
			best = i
		}
	}
	return best
}
