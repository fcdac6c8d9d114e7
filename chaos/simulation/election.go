package simulation

import (
	"slices"
	"time"

	"github.com/hashicorp/raft"
	"google.golang.org/protobuf/proto"

	"quorate/proto/logpb"
)

const (
	heartbeat = 150 * time.Millisecond
	// patience is how long a follower waits for a heartbeat, at least, and a leader for answers of
	// a quorum.
	patience = time.Second
)

type role int

const (
	follower role = iota
	candidate
	leader
)

// consensus is the state of a process in the model of Raft.
type consensus struct {
	role       role
	leading    string    // the leader's name, as far as it is known
	heard      time.Time // of that leader
	electionAt time.Time
	ballot     *ballot // of a candidate
	config     configuration
	commit     uint64
	applied    uint64
	stored     uint64 // a leader's own entries that are on its disk
	termBegan  uint64 // index of a leader's first entry
	peers      []*peer
	waiting    map[uint64]func(failure error) // for entries of a leader to be applied
	changes    []*change
}

type ballot struct {
	term    uint64
	trial   bool // it is asked before a term is begun whether it could be won
	granted []string
}

func (p *process) startConsensus() {
	p.config = p.configuration()
	p.deferElection()
	p.watchElection()
}

func (p *process) deferElection() {
	p.electionAt = p.w.now().Add(p.w.between(patience, patience+p.w.set.candidacy))
}

func (p *process) watchElection() {
	p.after(time.Until(p.electionAt), func() {
		if p.role != leader && !p.w.now().Before(p.electionAt) {
			p.deferElection()
			p.leading = ""
			p.campaign(true)
		}
		if p.role == leader {
			p.deferElection()
		}
		p.watchElection()
	})
}

// suffrage reports whether a server is in the configuration of this process, and whether it votes.
func (p *process) suffrage(name string) (voter, member bool) {
	i := slices.IndexFunc(p.config.servers, func(s raft.Server) bool { return string(s.ID) == name })
	return i >= 0 && p.config.servers[i].Suffrage == raft.Voter, i >= 0
}

func votersIn(servers []raft.Server) (names []string) {
	for _, s := range servers {
		if s.Suffrage == raft.Voter {
			names = append(names, string(s.ID))
		}
	}
	return names
}

func (p *process) quorum() int {
	n := len(votersIn(p.config.servers))
	if p.w.breaks(MiscountQuorum) {
		return max(n/2, 1)
	}
	return n/2 + 1
}

func (p *process) campaign(trial bool) {
	if voter, _ := p.suffrage(p.node.name); !voter {
		return
	}
	p.role = candidate
	p.ballot = &ballot{term: p.term + 1, trial: trial}
	if trial {
		p.askForVotes()
		return
	}
	b := p.ballot
	p.store(func(m *image) { m.term, m.vote = b.term, p.node.name })
	p.trace("is a candidate for term %d", p.term)
	p.sync(func() {
		if p.ballot == b {
			p.askForVotes()
		}
	})
}

// claim is a candidate's request for votes.
type claim struct {
	term, last, lastTerm uint64
	trial                bool
}

func (p *process) askForVotes() {
	b := p.ballot
	c := claim{b.term, p.last(), p.lastTerm(), b.trial}
	from := p.node
	for _, name := range votersIn(p.config.servers) {
		if name == from.name {
			p.count(b, from.name)
			continue
		}
		p.send(p.w.node(name), 0, func(q *process) { q.askedForVote(from, c) })
	}
}

func (p *process) askedForVote(to *node, c claim) {
	grant := func() {
		from := p.node.name
		p.send(to, 0, func(q *process) {
			if q.ballot != nil && q.ballot.term == c.term && q.ballot.trial == c.trial {
				q.count(q.ballot, from)
			}
		})
	}
	voter, _ := p.suffrage(to.name)
	led := p.role == leader || p.leading != "" && p.leading != to.name && time.Since(p.heard) < patience
	upToDate := c.lastTerm > p.lastTerm() || c.lastTerm == p.lastTerm() && c.last >= p.last()
	if p.w.breaks(IgnoreLog) {
		upToDate = true
	}
	switch {
	case led, len(p.config.servers) > 0 && !voter:
		return
	case c.term < p.term, c.trial && c.term == p.term:
		term := p.term
		p.send(to, 0, func(q *process) {
			if term > q.term {
				q.follow(term, "")
			}
		})
		return
	case c.trial:
		if upToDate {
			grant()
		}
		return
	case c.term > p.term:
		p.follow(c.term, "")
	}
	if !upToDate || p.vote != "" && p.vote != to.name && !p.w.breaks(VoteTwice) {
		return
	}
	p.deferElection()
	p.store(func(m *image) { m.vote = to.name })
	p.sync(grant)
}

func (p *process) count(b *ballot, name string) {
	if p.role != candidate || p.ballot != b || slices.Contains(b.granted, name) {
		return
	}
	if voter, _ := p.suffrage(name); !voter {
		return
	}
	b.granted = append(b.granted, name)
	switch {
	case len(b.granted) < p.quorum():
	case b.trial:
		p.campaign(false)
	default:
		p.lead()
	}
}

// follow makes the process a follower in a term that is not lower than its own. The leader may be
// unknown.
func (p *process) follow(term uint64, leading string) {
	p.endLeadership(raft.ErrLeadershipLost)
	p.role, p.ballot, p.leading = follower, nil, leading
	if term > p.term {
		p.store(func(m *image) { m.term, m.vote = term, "" })
	}
}

func (p *process) lead() {
	p.trace("leads term %d, from %d on, with %v", p.term, p.last()+1, p.ballot.granted)
	p.w.counts.Elections++
	p.w.truth.elected(p)
	p.role, p.ballot, p.leading, p.heard = leader, nil, p.node.name, p.w.now()
	p.waiting = map[uint64]func(error){}
	p.peers, p.stored = nil, 0
	p.termBegan = p.last() + 1
	p.propose(&entry{Log: raft.Log{Type: raft.LogNoop}})
	p.proposeInit()
	p.beat(p.term)
	p.keepLease(p.term, p.w.now())
}

// proposeInit proposes a store's first entry of a term. The leader is ready once it is applied.
func (p *process) proposeInit() {
	term := p.term
	p.waiting[p.propose(p.initEntry())] = func(failure error) {
		if failure == nil && p.role == leader && p.term == term {
			p.beginEpoch()
		}
	}
}

// initEntry returns an Init entry. The first one of a cluster determines the cluster's id; others
// change nothing.
func (p *process) initEntry() *entry {
	id := p.applier.Root().ClusterID()
	if id == "" {
		id = "cluster by " + p.node.name
	}
	e := &entry{write: &write{op: opInit, value: id}}
	data, err := proto.Marshal(&logpb.Entry{
		Format: 1, TimeUnixNano: p.w.now().UnixNano(), Op: &logpb.Entry_Init{Init: &logpb.Init{ClusterId: id}},
	})
	if err != nil {
		p.w.violate("encode an init entry: %v", err)
	}
	e.Type, e.Data = raft.LogCommand, data
	return e
}

// keepLease makes a leader step down if it has not heard from a quorum.
func (p *process) keepLease(term uint64, since time.Time) {
	p.after(patience/2, func() {
		if p.role != leader || p.term != term {
			return
		}
		heard := 0
		for _, name := range votersIn(p.config.servers) {
			contact := since
			if q := p.peer(name); q != nil && q.contact.After(since) {
				contact = q.contact
			}
			if name == p.node.name || time.Since(contact) < patience {
				heard++
			}
		}
		if heard < p.quorum() {
			p.trace("gives up term %d: it hears of too few", p.term)
			p.follow(p.term, "")
			return
		}
		p.keepLease(term, since)
	})
}

// endLeadership fails the writes and the changes that wait for the process, if it leads.
func (p *process) endLeadership(why error) {
	if p.role != leader {
		return
	}
	p.role, p.leading = follower, ""
	p.deferElection()
	for _, index := range sortedKeys(p.waiting) {
		p.waiting[index](why)
	}
	p.waiting = nil
	for _, c := range p.changes {
		c.future.resolve(why)
	}
	p.changes = nil
	p.endEpoch()
}
