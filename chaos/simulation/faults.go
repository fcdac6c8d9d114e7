package simulation

import (
	"errors"
	"time"
)

// fault is a failure of a node or of the network, or an action of an operator.
type fault struct {
	name   string
	inject func(*World)
}

func allFaults() []fault {
	return []fault{
		{"crash", (*World).crashOne}, {"power cut", (*World).crashAll}, {"kill", (*World).killOne}, {"split", (*World).split},
		{"isolate", (*World).isolateOne}, {"loss", (*World).loseMessages}, {"delay", (*World).delayMessages},
		{"slow disk", (*World).slowDisk}, {"pause", (*World).pauseOne}, {"move", (*World).moveOne}, {"join", (*World).joinOne},
		{"retire", (*World).retireOne}, {"remove", (*World).removeOne}, {"leave", (*World).leaveOne},
		{"damage", func(*World) {}}, // to snapshots that are transferred; see World.damage
	}
}

// faultsLater injects random faults, with random pauses, until the time of faults is over.
func (w *World) faultsLater() {
	w.at(w.between(0, w.set.faultPause), func() {
		if w.calm {
			return
		}
		if len(w.set.faults) > 0 {
			f := pick(w, w.set.faults)
			w.trace("fault: %s", f.name)
			f.inject(w)
		}
		w.faultsLater()
	})
}

// damage returns the probability that a snapshot is damaged while it is transferred.
func (w *World) damage() float64 {
	for _, f := range w.set.faults {
		if f.name == "damage" && !w.calm {
			return 0.3
		}
	}
	return 0
}

// randomProcess returns a running process, or nil if there is none.
func (w *World) randomProcess() *process {
	if all := w.running(); len(all) > 0 {
		return pick(w, all)
	}
	return nil
}

func (w *World) backLater(n *node) { w.at(w.between(10*time.Millisecond, 15*time.Second), n.start) }

func (w *World) crashOne() {
	if p := w.randomProcess(); p != nil {
		p.crash()
		w.backLater(p.node)
	}
}

func (w *World) crashAll() {
	for _, p := range w.running() {
		p.crash()
		w.backLater(p.node)
	}
}

func (w *World) killOne() {
	if p := w.randomProcess(); p != nil {
		p.trace("is killed")
		p.end()
		w.backLater(p.node)
	}
}

// split cuts the links between two random groups of nodes for a while, in one direction or both.
func (w *World) split() {
	var groups [2][]*node
	for _, n := range w.nodes {
		i := w.rng.IntN(2)
		groups[i] = append(groups[i], n)
	}
	w.net.isolate(groups[0], groups[1], w.chance(0.3))
	w.healLater()
}

func (w *World) isolateOne() {
	one := pick(w, w.nodes)
	w.net.isolate([]*node{one}, w.nodes, w.chance(0.3))
	w.healLater()
}

func (w *World) healLater() {
	w.at(w.between(100*time.Millisecond, 10*time.Second), func() { w.net.heal() })
}

func (w *World) loseMessages() {
	w.net.loss, w.net.twice = w.rng.Float64()/3, w.rng.Float64()/3
	w.healLater()
}

func (w *World) delayMessages() {
	w.net.delay = w.between(10*time.Millisecond, time.Second)
	w.healLater()
}

func (w *World) slowDisk() {
	n := pick(w, w.nodes)
	n.disk.slow = w.between(10*time.Millisecond, 2*time.Second)
	w.at(w.between(100*time.Millisecond, 10*time.Second), func() { n.disk.slow = 0 })
}

func (w *World) pauseOne() {
	if p := w.randomProcess(); p != nil {
		p.pausedUntil = w.now().Add(w.between(50*time.Millisecond, 6*time.Second))
		p.trace("is held up for %s", time.Until(p.pausedUntil))
	}
}

// moveOne restarts a node at another address.
func (w *World) moveOne() {
	if p := w.randomProcess(); p != nil {
		p.end()
		p.node.addr += "'"
		w.trace("%s from now on", p.node)
		w.backLater(p.node)
	}
}

// joinOne starts a node that was not there before.
func (w *World) joinOne() {
	if w.set.joiners == 0 {
		return
	}
	w.set.joiners--
	n := w.newNode(w.nextName(), w.chance(0.3))
	w.trace("%s is new, a replica: %v", n, n.replica)
	n.start()
}

// spare reports whether one more voter may be lost for good, and counts it.
func (w *World) spare() bool {
	if w.lost >= (w.set.voters-1)/2 {
		return false
	}
	w.lost++
	return true
}

// retireOne crashes a node that never returns and is not removed by an operator.
func (w *World) retireOne() {
	if p := w.randomProcess(); p != nil && (p.node.replica || w.spare()) {
		p.node.retired = true
		p.crash()
	}
}

// removeOne makes an operator remove a node, which is barred and does not return.
func (w *World) removeOne() {
	w.expel(false, func(by, p *process) error { return by.voters.Remove(by.ctx, p.node.name) })
}

// leaveOne makes a node leave the cluster, which is barred and does not return.
func (w *World) leaveOne() {
	w.expel(true, func(by, p *process) error { return by.voters.Leave(by.ctx, p.node.name, p.id.nodeID) })
}

func (w *World) expel(leaving bool, expel func(by, p *process) error) {
	p, by := w.randomProcess(), w.leader()
	if p == nil || by == nil || p == by || !w.spare() {
		return
	}
	p.leaving = leaving
	name := p.node.name
	by.trace("is asked to remove %s", name)
	by.removing[name] = true
	by.node.run(func() {
		err := expel(by, p)
		by.ask("removed "+name, func() {
			by.trace("removed %s: %v", name, err)
			delete(by.removing, name)
			switch {
			case err == nil && !p.ended:
				p.node.retired = true
				p.end()
			case err == nil:
				p.node.retired = true
			default:
				p.leaving = false
				p.node.doubtful = true
			}
		})
	})
}

// restartDoubtful restarts the nodes whose removal returned an error but took effect: the cluster
// does not add a start that has left again. Their operators see that they are no longer members.
func (w *World) restartDoubtful() {
	l := w.leader()
	for _, p := range w.running() {
		if l == nil || !p.node.doubtful {
			continue
		}
		if _, member := l.suffrage(p.node.name); !member {
			p.restartWith(errRemoved)
		}
	}
}

// errRemoved is the reason for which the operator of such a node restarts it.
var errRemoved = errors.New("it was removed although its operator received an error")

// leader returns the leader of the latest term.
func (w *World) leader() (latest *process) {
	for _, p := range w.running() {
		if p.role == leader && (latest == nil || p.term > latest.term) {
			latest = p
		}
	}
	return latest
}
