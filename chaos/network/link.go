package network

import (
	"math/rand/v2"
	"os"
	"sync/atomic"
	"time"
)

const (
	// queueBytes bounds the bytes that wait on one link, like a router's memory. Packets that
	// arrive when the queue is full are dropped.
	queueBytes = 4 << 20
	// queueTime bounds how long a packet waits for a link with a Rate to be free.
	queueTime = time.Second
	// reorderGap is the delay of packets that others overtake on a link without a Delay.
	reorderGap = 3 * time.Millisecond
)

// Counters count the packets of one link since the network was made.
type Counters struct {
	Delivered  uint64
	Dropped    uint64 // by Drop
	Lost       uint64 // by Loss
	Overflowed uint64 // because too much waited already
	Failed     uint64 // that the kernel didn't take: the host is gone
}

// link is one direction between two devices. Only the goroutine that reads the sender's device
// calls carry.
type link struct {
	Link
	to    *os.File
	later *clock
	rule  atomic.Pointer[Rule] // nil: good

	random *rand.Rand
	under  *Rule         // the rule of the packet before; a new one begins with the wire free
	free   time.Duration // when a wire with a Rate has sent what was given to it
	last   time.Duration // when the latest packet so far arrives: others don't before it

	waiting                                        atomic.Int64 // packets with the clock
	delivered, dropped, lost, overflowed, failures atomic.Uint64
}

// carry sends a packet over the link. It does not retain the packet.
func (l *link) carry(packet []byte) {
	rule := l.rule.Load()
	if rule == nil {
		l.deliver(packet)
		return
	}
	if rule.Drop {
		l.dropped.Add(1)
		return
	}
	if l.happens(rule.Loss) {
		l.lost.Add(1)
		return
	}
	if rule != l.under {
		l.under, l.free, l.last = rule, 0, 0
	}
	l.schedule(rule, packet)
	if l.happens(rule.Duplicate) {
		l.schedule(rule, packet)
	}
}

func (l *link) happens(part float64) bool { return part > 0 && l.random.Float64() < part }

// schedule delivers a packet when it is due.
func (l *link) schedule(rule *Rule, packet []byte) {
	now := l.later.now()
	due, ok := l.due(rule, now, len(packet)-headerBytes)
	if !ok {
		l.overflowed.Add(1)
		return
	}
	if due <= now && l.waiting.Load() == 0 {
		l.deliver(packet)
		return
	}
	if !l.later.add(l, rule, due, packet) {
		l.overflowed.Add(1)
	}
}

// due returns when a packet of a size that is sent now arrives. ok is false if it never arrives,
// because too many packets wait for the link.
func (l *link) due(rule *Rule, now time.Duration, size int) (due time.Duration, ok bool) {
	sent := now
	if rule.Rate > 0 {
		sent = max(now, l.free)
		if sent-now > queueTime {
			return 0, false
		}
		sent += time.Duration(float64(size) / float64(rule.Rate) * float64(time.Second))
		l.free = sent
	}
	delay := rule.Delay
	if rule.Reorder > 0 {
		if l.happens(rule.Reorder) {
			return sent, true
		}
		delay = max(delay, reorderGap)
	}
	if rule.Jitter > 0 {
		delay += time.Duration(l.random.Int64N(int64(rule.Jitter)))
	}
	l.last = max(l.last, sent+delay)
	return l.last, true
}

// deliver passes a packet to the receiver's kernel.
func (l *link) deliver(packet []byte) {
	if _, err := l.to.Write(packet); err != nil {
		l.failures.Add(1) // as on a real network, the sender gets no error
		return
	}
	l.delivered.Add(1)
}

// shape sets the link's rule. Packets in flight arrive now, or never if the link is cut, so that
// they do not delay later ones.
func (l *link) shape(rule Rule) {
	old := l.rule.Load()
	switch {
	case rule == Rule{} && old == nil, old != nil && *old == rule:
		return
	case rule == Rule{}:
		l.rule.Store(nil)
	default:
		l.rule.Store(&rule)
	}
	l.later.release(l, rule.Drop)
}

func (l *link) counters() Counters {
	return Counters{
		Delivered: l.delivered.Load(), Dropped: l.dropped.Load(), Lost: l.lost.Load(),
		Overflowed: l.overflowed.Load(), Failed: l.failures.Load(),
	}
}
