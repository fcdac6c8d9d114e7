package network

import (
	"container/heap"
	"errors"
	"slices"
	"sync"
	"time"
)

// clock delivers packets when they are due.
type clock struct {
	began time.Time
	wake  chan struct{} // holds one: the next packet is due now, or earlier than it was

	mu      sync.Mutex
	packets delayedPackets // guarded by mu
	count   uint64         // of all that were ever added; guarded by mu
	bytes   map[*link]int  // that wait; guarded by mu
}

// delayedPacket is a packet in flight.
type delayedPacket struct {
	link   *link
	due    time.Duration
	number uint64 // packets due at the same time keep their order
	packet []byte
}

func newClock() *clock {
	return &clock{began: time.Now(), wake: make(chan struct{}, 1), bytes: map[*link]int{}}
}

func (c *clock) now() time.Duration { return time.Since(c.began) }

// add copies a packet that was scheduled under a rule. It refuses a packet that exceeds the
// capacity of the link.
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
	heap.Push(&c.packets, delayedPacket{link: l, due: due, number: c.count, packet: slices.Clone(packet)})
	if c.packets[0].number == c.count {
		c.interrupt()
	}
	return true
}

// release makes all packets of a link due, or drops them.
func (c *clock) release(l *link, forget bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.bytes[l] == 0 {
		return
	}
	if forget {
		l.dropped.Add(uint64(l.waiting.Swap(0))) // all adding and taking away is done under the lock
		delete(c.bytes, l)
		c.packets = slices.DeleteFunc(c.packets, func(p delayedPacket) bool { return p.link == l })
	} else {
		now := c.now()
		for i := range c.packets {
			if c.packets[i].link == l {
				c.packets[i].due = now
			}
		}
	}
	heap.Init(&c.packets)
	c.interrupt()
}

func (c *clock) interrupt() {
	select {
	case c.wake <- struct{}{}:
	default: // it looks anyway
	}
}

// run delivers packets until done is closed; packets in flight are then lost. It closes the alarm.
func (c *clock) run(a *alarm, done <-chan struct{}) (err error) {
	var rung sync.WaitGroup
	defer rung.Wait()
	defer func() { err = errors.Join(err, a.close()) }()
	rung.Go(func() {
		for a.await() == nil {
			c.interrupt()
		}
	})
	for {
		if next, some := c.deliver(); some {
			if err := a.set(next - c.now()); err != nil {
				return err
			}
		}
		select {
		case <-c.wake:
		case <-done:
			return nil
		}
	}
}

// deliver delivers the packets that are due, and returns when the next one is.
func (c *clock) deliver() (next time.Duration, some bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.packets) > 0 {
		if c.packets[0].due > c.now() {
			return c.packets[0].due, true
		}
		p := heap.Pop(&c.packets).(delayedPacket)
		// The lock is held so that packets under a new rule can't overtake this one. The kernel
		// accepts a packet without waiting.
		p.link.deliver(p.packet)
		if c.bytes[p.link] -= len(p.packet); c.bytes[p.link] == 0 {
			delete(c.bytes, p.link)
		}
		p.link.waiting.Add(-1)
	}
	return 0, false
}

// delayedPackets implements heap.Interface.
type delayedPackets []delayedPacket

func (p delayedPackets) Len() int { return len(p) }
func (p delayedPackets) Less(i, j int) bool {
	return p[i].due < p[j].due || p[i].due == p[j].due && p[i].number < p[j].number
}
func (p delayedPackets) Swap(i, j int) { p[i], p[j] = p[j], p[i] }
func (p *delayedPackets) Push(x any)   { *p = append(*p, x.(delayedPacket)) }
func (p *delayedPackets) Pop() any {
	old := *p
	last := old[len(old)-1]
	old[len(old)-1] = delayedPacket{} // releases the memory of the packet
	*p = old[:len(old)-1]
	return last
}
