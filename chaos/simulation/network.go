package simulation

import (
	"time"
)

// network determines which messages are lost, delayed or repeated.
type network struct {
	loss  float64 // of all messages
	twice float64
	delay time.Duration // at most
	cut   map[[2]string]bool
}

func (n *network) heal() { *n = network{delay: 2 * time.Millisecond, cut: map[[2]string]bool{}} }

// isolate cuts the links between two groups of nodes, or only those from the first to the second.
func (n *network) isolate(from, to []*node, oneWay bool) {
	for _, a := range from {
		for _, b := range to {
			n.cut[[2]string{a.name, b.name}] = true
			if !oneWay {
				n.cut[[2]string{b.name, a.name}] = true
			}
		}
	}
}

// send delivers a message to the process that runs on the other node when it arrives, unless the
// network loses it.
func (p *process) send(to *node, takes time.Duration, receive func(*process)) {
	w := p.w
	if to == p.node {
		p.after(0, func() { receive(p) })
		return
	}
	copies := 1
	switch {
	case w.net.cut[[2]string{p.node.name, to.name}], w.chance(w.net.loss):
		return
	case w.chance(w.net.twice):
		copies = 2
	}
	for range copies {
		delay := takes + w.between(50*time.Microsecond, w.net.delay)
		w.events.add(event{at: w.now().Add(delay), tie: w.rng.Uint64(), do: func() {
			if q := to.process; q != nil {
				q.receive(func() { receive(q) })
			}
		}})
	}
}
