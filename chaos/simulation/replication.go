package simulation

import (
	"slices"
	"time"

	"github.com/hashicorp/raft"
)

// appendLimit is the maximum number of entries in one message.
const appendLimit = 32

// peer is a leader's knowledge of another server.
type peer struct {
	name        string
	next, match uint64
	sent        time.Time
	busy        bool // with a message that was not answered
	contact     time.Time
}

func (p *process) peer(name string) *peer {
	i := slices.IndexFunc(p.peers, func(q *peer) bool { return q.name == name })
	if i < 0 {
		return nil
	}
	return p.peers[i]
}

// propose appends an entry to the leader's log and returns its index.
func (p *process) propose(e *entry) uint64 {
	e.Index, e.Term, e.AppendedAt = p.last()+1, p.term, p.w.now()
	p.w.truth.proposed(e)
	p.store(func(m *image) { m.append([]*entry{e}) })
	if e.Type == raft.LogConfiguration {
		p.config = configuration{e.Index, e.servers}
	}
	term := p.term
	p.sync(func() {
		if p.role == leader && p.term == term {
			p.stored = max(p.stored, e.Index)
			p.advanceCommit()
			p.broadcast(false)
		}
	})
	return e.Index
}

func (p *process) beat(term uint64) {
	if p.role != leader || p.term != term {
		return
	}
	p.broadcast(true)
	p.after(heartbeat, func() { p.beat(term) })
}

// broadcast sends each server the entries that it lacks, or a heartbeat.
func (p *process) broadcast(always bool) {
	for _, s := range p.config.servers {
		name := string(s.ID)
		if name == p.node.name {
			continue
		}
		q := p.peer(name)
		if q == nil {
			q = &peer{name: name, next: p.last() + 1}
			p.peers = append(p.peers, q)
		}
		if q.busy && time.Since(q.sent) < 4*heartbeat {
			continue
		}
		if always || q.next <= p.stored {
			p.replicate(q)
		}
	}
}

// appending is a leader's append request.
type appending struct {
	from           *node
	term           uint64
	prev, prevTerm uint64
	entries        []*entry
	commit         uint64
	state          *savedState // instead of entries, where those are gone
}

func (p *process) replicate(q *peer) {
	m := appending{from: p.node, term: p.term, commit: p.commit, prev: q.next - 1}
	takes := time.Duration(0)
	term, known := p.termAt(m.prev)
	if known && m.prev >= p.base {
		m.prevTerm, m.entries = term, p.from(q.next, appendLimit)
	} else {
		m.state = p.newest()
		takes = p.w.between(5*time.Millisecond, 2*time.Second)
		p.trace("sends its snapshot of %d to %s, which needs %d", m.state.index, q.name, q.next)
	}
	q.busy, q.sent = true, p.w.now().Add(takes)
	p.send(p.w.node(q.name), takes, func(r *process) { r.receiveAppending(m) })
}

// answer is what a follower says: up to which entry its log is the leader's, or from where on the
// leader should try.
type answer struct {
	term   uint64
	match  uint64
	retry  uint64
	failed bool
}

func (p *process) receiveAppending(m appending) {
	reply := func(a answer) {
		a.term = p.term
		name := p.node.name
		p.send(m.from, 0, func(q *process) { q.answered(name, a) })
	}
	if m.term < p.term {
		reply(answer{failed: true, retry: m.prev})
		return
	}
	if p.role == leader && m.term == p.term {
		p.w.violate("model: %s and %s both lead term %d", p.node.name, m.from.name, p.term)
		return
	}
	if m.term > p.term || p.role != follower {
		p.follow(m.term, m.from.name)
	}
	p.leading, p.heard = m.from.name, p.w.now()
	p.deferElection()
	if m.state != nil {
		p.receiveState(m, reply)
		return
	}
	if m.prev < p.commit { // what is committed here is the leader's as well
		skip := min(p.commit-m.prev, uint64(len(m.entries)))
		m.prev, m.entries = m.prev+skip, m.entries[skip:]
	}
	if term, known := p.termAt(m.prev); m.prev > p.commit && (!known || term != m.prevTerm) {
		reply(answer{failed: true, retry: min(m.prev-1, p.last())})
		return
	}
	p.take(m.entries)
	match, term := m.prev+uint64(len(m.entries)), p.term
	done := func() {
		if p.term != term {
			return
		}
		p.setCommit(min(m.commit, match))
		reply(answer{match: match})
	}
	if len(p.node.disk.pending) > 0 {
		p.sync(done)
		return
	}
	done()
}

// take stores the entries that the process lacks, and replaces entries that conflict with them.
func (p *process) take(entries []*entry) {
	for i, e := range entries {
		have := p.at(e.Index)
		if have == e {
			continue
		}
		if have != nil && have.Term == e.Term {
			p.w.violate("model: two entries have index %d and term %d", e.Index, e.Term)
			return
		}
		if have != nil && e.Index <= p.commit {
			p.w.violate("model: %s would replace entry %d, which is committed", p.node.name, e.Index)
			return
		}
		rest := entries[i:]
		p.store(func(m *image) {
			if e.Index <= m.last() {
				m.cut(e.Index)
			}
			m.append(rest)
		})
		p.config = p.configuration()
		return
	}
}

// answered handles a follower's response.
func (p *process) answered(name string, a answer) {
	if a.term > p.term {
		p.follow(a.term, "")
		return
	}
	q := p.peer(name)
	if p.role != leader || a.term != p.term || q == nil {
		return
	}
	q.busy, q.contact = false, p.w.now()
	if a.failed {
		q.next = max(q.match+1, min(a.retry+1, q.next-1), 1)
		p.replicate(q)
		return
	}
	q.match = max(q.match, a.match)
	q.next = max(q.next, q.match+1)
	p.advanceCommit()
	if q.next <= p.stored {
		p.replicate(q)
	}
}

// advanceCommit commits the entries that a quorum of the voters has stored, once one of them is of
// the leader's term.
func (p *process) advanceCommit() {
	var stored []uint64
	for _, name := range votersIn(p.config.servers) {
		q := p.peer(name)
		switch {
		case name == p.node.name:
			stored = append(stored, p.stored)
		case q != nil:
			stored = append(stored, q.match)
		default:
			stored = append(stored, 0)
		}
	}
	slices.Sort(stored)
	if len(stored) == 0 {
		return
	}
	index := stored[len(stored)-p.quorum()]
	if term, known := p.termAt(index); known && term == p.term {
		p.setCommit(index)
	}
}

func (p *process) setCommit(index uint64) {
	for p.commit < index && p.w.err == nil {
		p.commit++
		e := p.at(p.commit)
		if e == nil {
			p.w.violate("model: %s commits entry %d, which it lacks", p.node.name, p.commit)
			return
		}
		p.w.truth.commit(p, e)
		p.settleChange(e)
	}
	p.applySoon()
	if p.role == leader {
		p.nextChange()
	}
}
