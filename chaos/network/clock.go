package network

import (
	"container/heap"
	"slices"
	"sync"
	"time"
)

// clock delivers packets when they are due.
type clock struct {
	began time.Time
	wake  chan struct{} // holds one: the next packet is due earlier than it was

	mu      sync.Mutex
	parcels parcels       // guarded by mu
	count   uint64        // of all that were ever added; guarded by mu
	bytes   map[*link]int // that wait; guarded by mu
}

// parcel is a packet under way.
type parcel struct {
	link   *link
	due    time.Duration
	number uint64 // packets due at the same time keep their order
	packet []byte
}

func newClock() *clock {
	return &clock{began: time.Now(), wake: make(chan struct{}, 1), bytes: map[*link]int{}}
}

func (c *clock) now() time.Duration { return time.Since(c.began) }

// add takes a copy of a packet that was scheduled under a rule. It refuses one that is too much for
// the link.
func (c *clock) add(l *link, rule *Rule, due time.Duration, packet []byte) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.bytes[l]+len(packet) > queueBytes {
		return false
	}
	if current := l.rule.Load(); current != rule { // release has been here for the packets of that rule
		if current != nil && current.Drop {
			l.dropped.Add(1)
			return true
		}
		due = c.now()
	}
	c.bytes[l] += len(packet)
	l.waiting.Add(1)
	c.count++
	heap.Push(&c.parcels, parcel{link: l, due: due, number: c.count, packet: slices.Clone(packet)})
	if c.parcels[0].number == c.count {
		c.interrupt()
	}
	return true
}

// release makes all packets of a link due, or forgets them.
func (c *clock) release(l *link, forget bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.bytes[l] == 0 {
		return
	}
	if forget {
		l.dropped.Add(uint64(l.waiting.Swap(0))) // all adding and taking away is done under the lock
		delete(c.bytes, l)
		c.parcels = slices.DeleteFunc(c.parcels, func(p parcel) bool { return p.link == l })
	} else {
		now := c.now()
		for i := range c.parcels {
			if c.parcels[i].link == l {
				c.parcels[i].due = now
			}
		}
	}
	heap.Init(&c.parcels)
	c.interrupt()
}

func (c *clock) interrupt() {
	select {
	case c.wake <- struct{}{}:
	default: // it looks anyway
	}
}

// run delivers until done is closed; what is under way then never arrives.
func (c *clock) run(done <-chan struct{}) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		if next, some := c.deliver(); some {
			timer.Reset(next - c.now())
		}
		select {
		case <-timer.C:
		case <-c.wake:
		case <-done:
			return
		}
	}
}

// deliver delivers what is due, and returns when the next packet is.
func (c *clock) deliver() (next time.Duration, some bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.parcels) > 0 {
		if c.parcels[0].due > c.now() {
			return c.parcels[0].due, true
		}
		p := heap.Pop(&c.parcels).(parcel)
		// The lock is held so that what a new rule lets through can't overtake it. The kernel takes
		// a packet without waiting.
		p.link.deliver(p.packet)
		if c.bytes[p.link] -= len(p.packet); c.bytes[p.link] == 0 {
			delete(c.bytes, p.link)
		}
		p.link.waiting.Add(-1)
	}
	return 0, false
}

// parcels implements heap.Interface.
type parcels []parcel

func (p parcels) Len() int { return len(p) }
func (p parcels) Less(i, j int) bool {
	return p[i].due < p[j].due || p[i].due == p[j].due && p[i].number < p[j].number
}
func (p parcels) Swap(i, j int) { p[i], p[j] = p[j], p[i] }
func (p *parcels) Push(x any)   { *p = append(*p, x.(parcel)) }
func (p *parcels) Pop() any {
	old := *p
	last := old[len(old)-1]
	old[len(old)-1] = parcel{} // lets go of the packet
	*p = old[:len(old)-1]
	return last
}
