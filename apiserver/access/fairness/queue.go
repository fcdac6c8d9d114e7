package fairness

import "math/bits"

const (
	// queueCount is the number of queues of a level. A bit for each fits into a word.
	queueCount = 64
	// handSize is the number of queues that a flow may use. Two flows share all of theirs once in
	// 75 million.
	handSize = 6
)

// queue holds the waiting requests of the flows that were dealt it. level.mu guards it.
type queue struct {
	inUse   int    // seats
	start   uint64 // virtual time at which the next grant begins; valid in the level's period
	period  uint64
	resumed fifo // requests that have begun to answer and lost their seats: they go first
	fresh   fifo // requests that have not had seats yet
	bit     uint64
}

// waiter is a request that waits for seats.
type waiter struct {
	seat       *Seat
	cost       uint64 // what a grant adds to the virtual time of the queue
	decided    chan struct{}
	refused    bool // set before decided is closed
	in         *fifo
	prev, next *waiter
}

// fifo is a linked list of waiters.
type fifo struct {
	first, last *waiter
	len         int
}

func (f *fifo) push(w *waiter) {
	w.in, w.prev, w.next = f, f.last, nil
	if f.last == nil {
		f.first = w
	} else {
		f.last.next = w
	}
	f.last = w
	f.len++
}

func (f *fifo) remove(w *waiter) {
	if w.prev == nil {
		f.first = w.next
	} else {
		w.prev.next = w.next
	}
	if w.next == nil {
		f.last = w.prev
	} else {
		w.next.prev = w.prev
	}
	w.in, w.prev, w.next = nil, nil, nil
	f.len--
}

// head returns the waiter that is next, or nil.
func (q *queue) head() *waiter {
	if q.resumed.first != nil {
		return q.resumed.first
	}
	return q.fresh.first
}

func (q *queue) empty() bool { return q.resumed.len+q.fresh.len == 0 }

// load is what the choice among the queues of a hand goes by.
func (q *queue) load() int { return q.inUse + q.resumed.len + q.fresh.len }

// deal calls fn with the queues of a flow, distinct ones that the hash selects, until fn returns
// false.
func deal(hash uint64, fn func(queue int) bool) {
	var taken uint64 // a bit for each queue dealt
	for left := uint64(queueCount); left > queueCount-handSize; left-- {
		n := int(hash % left)
		hash /= left
		i := freeBit(taken, n)
		taken |= 1 << i
		if !fn(i) {
			return
		}
	}
}

// freeBit returns the index of the bit that is the nth of those not set.
func freeBit(set uint64, n int) int {
	i := n
	for {
		// The bits set up to i move the nth free one further.
		next := n + bits.OnesCount64(set&(1<<(uint(i)+1)-1))
		if next == i {
			return i
		}
		i = next
	}
}
