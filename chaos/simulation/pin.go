package simulation

import (
	"slices"
	"time"

	"quorate/raftstore/fsm"
)

// pin is a state that processes must retain.
type pin struct {
	index uint64
	since time.Time
}

// notePin records a pin that was just applied.
func (p *process) notePin(e *entry) {
	since := e.write.asked
	if since.After(p.w.now()) {
		since = p.w.now()
	}
	p.w.counts.Pins++
	p.pins = append(p.pins, pin{e.Index, since})
	p.checkPin(p.pins[len(p.pins)-1])
}

func (p *process) lookAfterPins() {
	p.after(p.w.between(time.Second, 3*time.Second), p.lookAfterPins)
	for _, pin := range p.pins {
		p.checkPin(pin)
	}
	p.pins = slices.DeleteFunc(p.pins, func(pin pin) bool { return time.Since(pin.since) > 2*p.w.set.retained })
	p.retained.Prune(p.applier.Root(), p.w.now())
}

// checkPin checks that a pinned state is kept for its time, is not kept for longer, and is the same
// on all nodes.
func (p *process) checkPin(pin pin) {
	root := p.retained.Get(pin.index)
	if due := time.Since(pin.since) < p.w.set.retained; due != (root != nil) {
		p.w.violate("%s keeps the state of pin %d, which is %s old: %v", p.node.name, pin.index, time.Since(pin.since), root != nil)
		return
	}
	if root == nil || !p.w.chance(0.3) {
		return
	}
	if root.Index() != pin.index {
		p.w.violate("%s has the state of %d for that of pin %d", p.node.name, root.Index(), pin.index)
	}
	p.w.counts.Checksums++
	sum := fsm.Checksum(root)
	if want, known := p.w.truth.sums[pin.index]; known && want != sum {
		p.w.violate("the state of pin %d is another on %s", pin.index, p.node.name)
	}
	p.w.truth.sums[pin.index] = sum
}
