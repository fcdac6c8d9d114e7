package simulation

import (
	"fmt"
	"time"

	"github.com/hashicorp/raft"

	"quorate/cluster/roster"
)

// restLimit is how long a cluster may take to come to rest once faults are over, beside the time
// that dead servers are waited for.
const restLimit = 60 * time.Second

// begin creates the cluster, its clients and watchers, and schedules the faults.
func (w *World) begin() {
	w.set = w.choose()
	w.trace("settings: %+v", w.set.described())
	var servers []raft.Server
	known := record{bindings: map[string]roster.Binding{}}
	for range w.set.voters {
		n := w.newNode(w.nextName(), false)
		servers = append(servers, raft.Server{ID: raft.ServerID(n.name), Address: raft.ServerAddress(n.addr)})
		known.bindings[n.name] = roster.Binding{NodeID: n.disk.durable.id.nodeID, Index: 1}
	}
	first := &entry{Log: raft.Log{Index: 1, Term: 1, Type: raft.LogConfiguration}, servers: servers}
	first.Data = raft.EncodeConfiguration(raft.Configuration{Servers: servers})
	w.truth.proposed(first)
	for _, n := range w.nodes {
		n.disk.durable.term, n.disk.durable.entries, n.disk.durable.id.record = 1, []*entry{first}, known
	}
	for range w.set.replicas {
		w.newNode(w.nextName(), true)
	}
	for _, n := range w.nodes {
		w.at(w.between(0, 100*time.Millisecond), n.start)
	}
	for range w.set.clients {
		c := &client{w: w}
		c.writeSoon()
	}
	for range w.set.watchers {
		o := w.newWatcher()
		w.watchers = append(w.watchers, o)
		o.wakeSoon()
	}
	w.faultsLater()
	w.at(w.set.faulty, w.calmDown)
}

func (w *World) nextName() string { return fmt.Sprint("n", len(w.nodes)+1) }

// calmDown ends all faults: it heals the network and the disks, and starts every node that is not
// lost for good.
func (w *World) calmDown() {
	w.trace("faults are over")
	w.calm = true
	w.net.heal()
	for _, n := range w.nodes {
		n.disk.slow = 0
		n.start()
		if n.process != nil {
			n.process.pausedUntil = time.Time{}
		}
	}
	w.at(restLimit/4, w.restartDoubtful)
	w.awaitRest(w.now())
}

// awaitRest ends the run when the cluster has come to rest. It records a violation if that takes
// too long, unless the cluster is stuck.
func (w *World) awaitRest(since time.Time) {
	w.at(500*time.Millisecond, func() {
		unrest := w.unrest()
		if unrest == "" {
			w.probe(since)
			return
		}
		if time.Since(since) > restLimit+w.set.deadServerAfter {
			if w.stuck() {
				w.trace("nobody can be elected, by a rule of the library")
				w.counts.Stuck++
				w.done = true
				return
			}
			w.violate("it does not come to rest: %s", unrest)
			return
		}
		w.awaitRest(since)
	})
}

// unrest returns the reason why the cluster is not at rest, or "".
func (w *World) unrest() string {
	l := w.leader()
	if l == nil || l.epoch == nil {
		return "there is no leader"
	}
	if l.config.index > l.commit || len(l.changes) > 0 {
		return "the configuration is changing"
	}
	for _, n := range w.nodes {
		voter, member := l.suffrage(n.name)
		switch p := n.process; {
		case p == nil && member && w.mayGiveUp(l, voter):
			return n.name + " is dead, and still a member"
		case p == nil:
		case !member:
			return n.name + " is no member"
		case voter == n.replica:
			return fmt.Sprintf("%s votes: %v", n.name, voter)
		case p.commit != l.last() || p.applied != l.last():
			return fmt.Sprintf("%s has applied %d, and not %d", n.name, p.applied, l.last())
		}
	}
	for _, s := range l.config.servers {
		if n := w.node(string(s.ID)); n.process != nil && string(s.Address) != n.addr {
			return fmt.Sprintf("%s is thought to be at %s", n, s.Address)
		}
	}
	return ""
}

// stuck reports whether only a rule of hashicorp/raft (v1.7, requestVote and requestPreVote)
// prevents an election: a server grants no vote to a candidate that is not in the server's
// configuration, which may be an old one. If every candidate with the newest entries joined while a
// server was down, that server does not vote for any of them until another voter returns.
func (w *World) stuck() bool {
	var newest configuration
	for _, p := range w.running() {
		if p.config.index >= newest.index {
			newest = p.config
		}
	}
	quorum := len(votersIn(newest.servers))/2 + 1
	for _, c := range w.running() {
		if c.role == leader {
			return false
		}
		able, willing := 0, 0
		for _, p := range w.running() {
			voter, _ := suffrageIn(newest.servers, p.node.name)
			if !voter || c.lastTerm() < p.lastTerm() || c.lastTerm() == p.lastTerm() && c.last() < p.last() {
				continue
			}
			able++
			if knows, _ := p.suffrage(c.node.name); knows {
				willing++
			}
		}
		if voter, _ := suffrageIn(newest.servers, c.node.name); voter && able >= quorum && willing < quorum {
			return true
		}
	}
	return false
}

// mayGiveUp reports whether a dead server may be removed.
func (w *World) mayGiveUp(l *process, voter bool) bool {
	return w.set.deadServerAfter > 0 && (!voter || len(votersIn(l.config.servers)) > w.set.voters)
}

// probe checks that a cluster at rest accepts a write, and then calls finish. It waits again if the
// cluster was at rest only for a moment.
func (w *World) probe(since time.Time) {
	p := w.leader()
	c := &client{w: w}
	e := &entry{}
	for e.write == nil || e.write.op == opPin {
		var err error
		if e, err = c.draw(p.applier.Root()); err != nil {
			w.violate("encode a write: %v", err)
			return
		}
	}
	answered, term := false, p.term
	p.forward(e, func() { answered = true })
	w.at(5*time.Second, func() {
		switch {
		case w.unrest() != "" || w.leader().term != term:
			w.awaitRest(since) // an event that a pause had put off
		case !answered:
			w.violate("a cluster at rest does not answer a write")
		default:
			w.finish()
		}
	})
}

// finish checks that every running node has applied all committed entries and has the state of the
// truth, and that watchers receive all events.
func (w *World) finish() {
	all := w.truth.objects
	for _, p := range w.running() {
		if p.applied != uint64(len(w.truth.committed)) {
			w.violate("%s has applied %d of %d entries in the end", p.node.name, p.applied, len(w.truth.committed))
			return
		}
		w.truth.compare(p, p.applier.Root(), all)
		w.truth.sum(p, p.applier.Root())
	}
	for _, o := range w.watchers {
		if o.on == nil || o.on.ended {
			o.resume(w.leader(), o.seen)
		}
		for o.take() && w.err == nil {
		}
		if next := w.truth.after(o.seen, o.prefix); next != nil {
			w.violate("a watch on %s that has had %d never gets %d", o.on.node.name, o.seen, next.index)
		}
	}
	w.done = true
}
