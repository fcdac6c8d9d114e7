package simulation

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"quorate/cluster/voters"
)

const (
	gossipPause = 250 * time.Millisecond
	// silence is how long a member may not be heard of before it is taken for dead.
	silence = 2 * time.Second
)

// gossip is what a process knows of the members. Each counts its own beats, and all pass on the
// counts that they know.
type gossip struct {
	beats   uint64
	leaving bool
	table   map[string]*acquaintance
	changed chan struct{} // closed and replaced at each change
}

// news is what a node announces about itself, or what others pass on about it.
type news struct {
	name, nodeID, addr, cluster string
	starts, beats               uint64
	leaving, replica            bool
	expect                      int
}

type acquaintance struct {
	news
	rose  time.Time // when its beats rose last
	alive bool
	since time.Time
}

func (p *process) startGossip() {
	p.table, p.changed = map[string]*acquaintance{}, make(chan struct{})
	p.gossipSoon()
}

func (p *process) self() news {
	cluster := cmp.Or(p.applier.Root().ClusterID(), p.id.cluster)
	return news{
		name: p.node.name, nodeID: p.id.nodeID, addr: p.node.addr, cluster: cluster, starts: p.id.starts, beats: p.beats,
		leaving: p.leaving, replica: p.node.replica, expect: p.w.set.voters,
	}
}

func (p *process) gossipSoon() {
	p.after(p.w.between(gossipPause/2, gossipPause), func() {
		p.gossipSoon()
		p.beats++
		for _, a := range p.acquaintances() {
			if a.alive && time.Since(a.rose) > silence {
				a.alive, a.since = false, p.w.now()
				p.wakeVoters()
			}
		}
		if p.barred() {
			p.trace("learns that it was removed")
			p.node.retired = true
			p.end()
			return
		}
		all := []news{p.self()}
		for _, a := range p.acquaintances() {
			all = append(all, a.news)
		}
		known := p.id.record
		for range 2 {
			if to := pick(p.w, p.w.nodes); to != p.node {
				p.send(to, 0, func(q *process) { q.hear(all, known) })
			}
		}
	})
}

func (p *process) acquaintances() (all []*acquaintance) {
	for _, name := range slices.Sorted(maps.Keys(p.table)) {
		all = append(all, p.table[name])
	}
	return all
}

func (p *process) barred() bool { return slices.Contains(p.id.record.removed, p.id.nodeID) }

// hear merges the news of another process that are later than those of this one.
func (p *process) hear(all []news, other record) {
	p.mergeRecord(other)
	for _, n := range all {
		if n.name == p.node.name || slices.Contains(p.id.record.removed, n.nodeID) {
			continue
		}
		have := p.table[n.name]
		switch {
		case have == nil:
			have = &acquaintance{}
			p.table[n.name] = have
		case n.starts < have.starts || n.starts == have.starts && n.beats <= have.beats:
			continue
		}
		before := have.news
		have.news, have.rose = n, p.w.now()
		if !have.alive {
			have.alive, have.since = true, p.w.now()
			p.wakeVoters()
		}
		before.beats = n.beats
		if before != n {
			p.wakeVoters()
		}
		if cluster := p.self().cluster; cluster == "" && n.cluster != "" {
			p.store(func(m *image) { m.id.cluster = n.cluster }) // it waits for that one
			p.trace("wants to join %q", n.cluster)
		}
	}
}

func (p *process) wakeVoters() {
	close(p.changed)
	p.changed = make(chan struct{})
}

// view returns the members as gossip reports them to package voters.
func (p *process) view() []voters.Member {
	s := p.self()
	all := []voters.Member{p.member(&acquaintance{news: s, alive: true})}
	for _, a := range p.acquaintances() {
		m := p.member(a)
		p.breakMember(&m)
		all = append(all, m)
	}
	return all
}

func (p *process) member(a *acquaintance) voters.Member {
	return voters.Member{
		Name: a.name, NodeID: a.nodeID, Start: a.starts, PeerAddr: a.addr, Cluster: a.cluster,
		Owner: p.id.record.bindings[a.name].NodeID == a.nodeID,
		Alive: a.alive, Since: a.since, Leaving: a.leaving, NonVoter: a.replica,
	}
}
