package fairness

import (
	"context"
	"math/bits"
	"runtime"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// level is a priority level with its queues.
type level struct {
	config   Level
	seats    int
	maxCost  int
	adjuster *Adjuster
	metrics  *metrics
	waited   prometheus.Observer
	full     prometheus.Counter // requests refused because of a full queue
	late     prometheus.Counter // and because of the time they waited
	gauges   []prometheus.Collector

	mu      sync.Mutex // guards the fields below, the queues and the seats of the level
	free    int
	waiting int
	busy    uint64 // a bit for each queue that is not empty
	closed  bool
	// virtual is the virtual start of the last grant. It begins anew with each period, which is a
	// time in which requests wait: what a flow used without harm to others does not count.
	virtual uint64
	period  uint64
	queues  [queueCount]queue
}

func newLevel(cfg Level, seats int, a *Adjuster, m *metrics) *level {
	l := &level{
		config: cfg, seats: seats, maxCost: maxCost(seats, runtime.GOMAXPROCS(0)), adjuster: a, metrics: m, free: seats,
	}
	l.waited = m.waited.WithLabelValues(cfg.Name)
	l.full, l.late = m.refused.WithLabelValues(cfg.Name, reasonFull), m.refused.WithLabelValues(cfg.Name, reasonTime)
	for i := range l.queues {
		l.queues[i].bit = 1 << i
	}
	return l
}

// load returns the seats in use and the number of requests that wait.
func (l *level) load() (inUse, waiting int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.seats - l.free, l.waiting
}

// idle reports whether no request has seats or waits.
func (l *level) idle() bool {
	inUse, waiting := l.load()
	return inUse == 0 && waiting == 0
}

// enter takes seats for a request of a flow. It waits at most for MaxWait.
func (l *level) enter(ctx context.Context, flow uint64, cost int, s *Seat) error {
	cost = min(max(cost, 1), l.maxCost)
	l.mu.Lock()
	q := l.choose(flow)
	s.level, s.queue, s.seats = l, q, cost
	switch {
	case l.waiting == 0 && cost <= l.free && l.mayTake(q, cost):
		l.take(s)
		s.entered = true
		l.mu.Unlock()
		return nil
	case l.closed:
		l.mu.Unlock()
		return ErrClosed
	case q.fresh.len >= l.config.QueueLength:
		l.mu.Unlock()
		l.full.Inc()
		return ErrBusy
	}
	w := l.await(&q.fresh, s, uint64(cost))
	s.entered = s.held
	l.mu.Unlock()
	if s.entered { // others wait for more seats, or for their share
		return nil
	}
	timer := time.NewTimer(l.config.MaxWait)
	defer timer.Stop()
	begun := time.Now()
	err := l.decide(ctx, w, timer.C)
	l.waited.Observe(time.Since(begun).Seconds())
	s.entered = err == nil
	return err
}

// choose returns the queue with the least load of those that a flow was dealt.
func (l *level) choose(flow uint64) *queue {
	var best *queue
	least := 0
	deal(flow, func(i int) bool {
		q := &l.queues[i]
		if load := q.load(); best == nil || load < least {
			best, least = q, load
		}
		return least > 0
	})
	return best
}

// mayTake reports whether a queue may take seats: if it has none, or if with these seats it has no
// more than are free and usable before it takes them. So a flow leaves seats to others.
func (l *level) mayTake(q *queue, seats int) bool {
	return q.inUse == 0 || q.inUse+seats <= l.free-(l.seats-l.adjuster.usable(l.seats))
}

// take takes the seats of s. There must be enough. mu is held.
func (l *level) take(s *Seat) {
	s.held = true
	s.queue.inUse += s.seats
	l.free -= s.seats
}

// release returns the seats of s and grants them to requests that wait. mu is held.
func (l *level) release(s *Seat) {
	s.held = false
	s.queue.inUse -= s.seats
	l.free += s.seats
	l.dispatch()
}

// await appends a request to a list of its queue and grants what can be granted. mu is held.
func (l *level) await(in *fifo, s *Seat, cost uint64) *waiter {
	if l.waiting == 0 {
		l.period++
		l.virtual = 0
	}
	q := s.queue
	if q.period != l.period {
		q.period, q.start = l.period, 0
	}
	if q.empty() {
		q.start = max(q.start, l.virtual)
		l.busy |= q.bit
	}
	w := &waiter{seat: s, cost: cost, decided: make(chan struct{})}
	in.push(w)
	l.waiting++
	l.dispatch()
	return w
}

// remove removes a waiter from its queue. mu is held.
func (l *level) remove(w *waiter) {
	q := w.seat.queue
	w.in.remove(w)
	l.waiting--
	if q.empty() {
		l.busy &^= q.bit
	}
}

// dispatch grants seats to waiters, in the order of the virtual time, as long as there are any. mu
// is held.
func (l *level) dispatch() {
	for l.waiting > 0 {
		q := l.next()
		if q == nil {
			return
		}
		w := q.head()
		l.remove(w)
		l.virtual = max(l.virtual, q.start)
		q.start += w.cost
		l.take(w.seat)
		close(w.decided)
	}
}

// next returns the queue whose head is granted seats next, or nil: of the queues whose head fits,
// the one with the least virtual start. If a head needs more seats than are free, others may
// overtake it only until their virtual start exceeds that of its queue by the number of seats it
// needs. Then released seats accumulate for it: next returns nil, or a queue without seats whose
// head needs one, if there are so many seats that such requests cannot use up what the blocked head
// needs.
func (l *level) next() *queue {
	var best, blocked, light *queue
	overtakable := l.seats-queueCount >= l.maxCost
	for left := l.busy; left != 0; left &= left - 1 {
		q := &l.queues[bits.TrailingZeros64(left)]
		seats := q.head().seat.seats
		switch {
		case !l.mayTake(q, seats):
		case seats > l.free:
			if blocked == nil || q.start < blocked.start {
				blocked = q
			}
		default:
			if best == nil || q.start < best.start {
				best = q
			}
			if overtakable && q.inUse == 0 && seats == 1 && (light == nil || q.start < light.start) {
				light = q
			}
		}
	}
	if best != nil && blocked != nil && best.start > blocked.start+uint64(blocked.head().seat.seats) {
		return light
	}
	return best
}

// decide waits until a waiter was granted its seats. It gives up when ctx ends or expired receives.
func (l *level) decide(ctx context.Context, w *waiter, expired <-chan time.Time) error {
	var err error
	select {
	case <-w.decided:
	case <-ctx.Done():
		err = ctx.Err()
	case <-expired:
		err = ErrBusy
	}
	if err == nil {
		if w.refused {
			return ErrClosed
		}
		return nil
	}
	return l.giveUp(w, err)
}

// giveUp removes a waiter that waits no longer, and returns err. If it was granted seats meanwhile,
// they go to others.
func (l *level) giveUp(w *waiter, err error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case w.in != nil:
		l.remove(w)
		l.dispatch() // others may fit where this one did not
	case w.seat.held:
		l.release(w.seat)
	}
	if err == ErrBusy {
		l.late.Inc()
	}
	return err
}

// close refuses the requests that wait for their first seats, and those that will have to.
func (l *level) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for i := range l.queues {
		for fresh := &l.queues[i].fresh; fresh.first != nil; {
			w := fresh.first
			l.remove(w)
			w.refused = true
			close(w.decided)
		}
	}
	l.dispatch()
}
