package simulation

import (
	"time"

	"github.com/hashicorp/raft"

	"quorate/cluster/voters"
)

// fresh is how old the news of a server may be that is promoted: package voters asks for them every
// 200 ms here, and a change may have to wait for the one before.
const fresh = 5 * time.Second

// judge checks a change of the configuration that the leader has just made.
func (p *process) judge(before configuration, c *change) {
	p.judgeSteps(before)
	voted, known := suffrageIn(before.servers, c.name)
	n := p.w.node(c.name)
	switch {
	case c.kind == remove:
		p.w.counts.Removed++
		if !p.removing[c.name] {
			p.judgeRemoval(c, voted)
		}
	case c.kind == addNonvoter && !known:
		p.w.counts.Added++
		p.judgeAddition(c.name)
	case c.kind == addVoter && !voted:
		p.w.counts.Promoted++
		p.judgePromotion(n, known)
	case c.kind == addVoter, c.kind == addNonvoter:
		p.w.counts.Moved++
	default:
		p.w.violate("%s is to %s %s, which nobody asked for", p.node.name, c.kind, c.name)
	}
}

func suffrageIn(servers []raft.Server, name string) (voter, known bool) {
	for _, s := range servers {
		if string(s.ID) == name {
			return s.Suffrage == raft.Voter, true
		}
	}
	return false, false
}

// judgeSteps checks that one server changes at a time, and only when the change before is
// committed.
func (p *process) judgeSteps(before configuration) {
	if before.index > p.commit {
		p.w.violate("%s changes the configuration while entry %d, the change before, is not committed", p.node.name, before.index)
	}
	differ := 0
	for _, s := range before.servers {
		if voter, known := suffrageIn(p.config.servers, string(s.ID)); !known || voter != (s.Suffrage == raft.Voter) {
			differ++
		}
	}
	for _, s := range p.config.servers {
		if _, known := suffrageIn(before.servers, string(s.ID)); !known {
			differ++
		}
	}
	if differ > 1 {
		p.w.violate("%s changes %d servers at once, from %s to %s", p.node.name, differ, describe(before.servers), describe(p.config.servers))
	}
}

// judgeAddition checks that the start of a node which the leader adds has not been removed.
func (p *process) judgeAddition(name string) {
	start := p.departure(name)
	if departed, ok := p.w.truth.departed[start.NodeID]; ok && start.Start <= departed {
		p.w.violate("%s adds start %d of %s again, which was removed", p.node.name, start.Start, name)
	}
}

// departure returns the start of a node as this process knows it.
func (p *process) departure(name string) voters.Departure {
	a := p.table[name]
	if a == nil {
		return voters.Departure{}
	}
	return voters.Departure{NodeID: a.nodeID, Start: a.starts}
}

// judgeRemoval checks that a dead server was silent for the required time before its removal, and
// that the remaining voters suffice.
func (p *process) judgeRemoval(c *change, voted bool) {
	after := p.w.set.deadServerAfter
	if after == 0 {
		p.w.violate("%s gives %s up, and is to give up nobody", p.node.name, c.name)
	}
	if a := p.table[c.name]; a != nil && time.Since(a.rose) < after {
		p.w.violate("%s gives %s up, of which it heard %s ago, and is to wait for %s", p.node.name, c.name, time.Since(a.rose), after)
	}
	if !voted {
		return
	}
	left := votersIn(p.config.servers)
	if len(left) < p.w.set.voters {
		p.w.violate("%s leaves %d voters, and %d are to be left", p.node.name, len(left), p.w.set.voters)
	}
	alive := 0
	for _, name := range left {
		a := p.table[name]
		if name == p.node.name || a != nil && a.alive {
			alive++
		}
	}
	if alive < len(left)/2+1 {
		p.w.violate("%s leaves %d voters of which %d are alive", p.node.name, len(left), alive)
	}
}

// judgePromotion checks that a new voter was a member, may vote, has entries and was heard of
// recently.
func (p *process) judgePromotion(n *node, known bool) {
	q := p.peer(n.name)
	a := p.table[n.name]
	switch {
	case n.replica:
		p.w.violate("%s makes %s vote, which is to be a replica for ever", p.node.name, n.name)
	case !known:
		p.w.violate("%s makes %s vote, which was no member", p.node.name, n.name)
	case q == nil || n.disk.durable.last() == 0:
		p.w.violate("%s makes %s vote, which has nothing of the log yet", p.node.name, n.name)
	case time.Since(p.pausedUntil) < fresh: // it has had no time to hear of anybody
	case a == nil || time.Since(a.rose) > fresh:
		p.w.violate("%s makes %s vote, which it has not heard of for too long", p.node.name, n.name)
	}
}
