package simulation

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/raft"
)

// changeKind is the type of a change of the configuration.
type changeKind string

const (
	addVoter    changeKind = "add voter"
	addNonvoter changeKind = "add non-voter"
	remove      changeKind = "remove"
)

// change is a requested change of the configuration.
type change struct {
	kind   changeKind
	name   string
	addr   string
	future *future
	index  uint64 // of its entry, once it has one
}

// future is the result of a change, for which goroutines wait.
type future struct {
	done chan struct{}
	err  error
}

func newFuture() *future { return &future{done: make(chan struct{})} }

func (f *future) resolve(err error) {
	f.err = err
	close(f.done)
}

// Error implements raft.Future.
func (f *future) Error() error {
	<-f.done
	return f.err
}

// Index implements raft.IndexFuture; it is never used.
func (f *future) Index() uint64 { return 0 }

// request queues a change, which is made when no other one is in progress.
func (p *process) request(c *change, timeout time.Duration) {
	switch {
	case p.ended:
		c.future.resolve(raft.ErrRaftShutdown)
		return
	case p.role != leader:
		c.future.resolve(raft.ErrNotLeader)
		return
	}
	p.trace("is to %s %s", c.kind, c.name)
	if len(p.changes) > 0 {
		p.w.violate("%s is to %s %s while it is to %s %s", p.node.name, c.kind, c.name, p.changes[0].kind, p.changes[0].name)
	}
	p.changes = append(p.changes, c)
	p.after(timeout, func() {
		if i := slices.Index(p.changes, c); i >= 0 && c.index == 0 {
			p.changes = slices.Delete(p.changes, i, i+1)
			c.future.resolve(raft.ErrEnqueueTimeout)
		}
	})
	p.nextChange()
}

// nextChange appends the next change to the log when the previous one and an entry of the leader's
// term are committed.
func (p *process) nextChange() {
	if len(p.changes) == 0 || p.changes[0].index > 0 {
		return
	}
	if (p.config.index > p.commit || p.commit < p.termBegan) && !p.w.breaks(ChangeTwoAtOnce) {
		return
	}
	c := p.changes[0]
	servers, err := c.apply(p.config.servers)
	if err != nil {
		p.changes = p.changes[1:]
		c.future.resolve(err)
		return
	}
	before := p.config
	servers = p.brokenChange(c, servers)
	e := &entry{Log: raft.Log{Type: raft.LogConfiguration}, servers: servers}
	e.Data = raft.EncodeConfiguration(raft.Configuration{Servers: servers})
	if c.kind == remove {
		e.departs = p.departure(c.name)
	}
	c.index = p.propose(e)
	p.trace("will %s %s with entry %d: %s", c.kind, c.name, c.index, describe(servers))
	p.judge(before, c)
	if p.w.breaks(ChangeTwoAtOnce) {
		p.changes = p.changes[1:]
		c.future.resolve(nil)
	}
}

// settleChange ends the change whose entry is committed. The caller gets the result once the entry
// is applied here.
func (p *process) settleChange(e *entry) {
	if e.Type != raft.LogConfiguration || p.role != leader {
		return
	}
	if len(p.changes) > 0 && p.changes[0].index == e.Index {
		c := p.changes[0]
		p.changes = p.changes[1:]
		p.waiting[c.index] = c.future.resolve
	}
	if _, member := p.suffrage(p.node.name); !member {
		p.after(0, func() { p.follow(p.term, "") })
	}
}

var errNoVoter = errors.New("a configuration needs a voter")

// apply returns the configuration after the change, as the library makes it.
func (c *change) apply(servers []raft.Server) ([]raft.Server, error) {
	next := slices.Clone(servers)
	i := slices.IndexFunc(next, func(s raft.Server) bool { return string(s.ID) == c.name })
	switch {
	case c.kind == remove:
		if i >= 0 {
			next = slices.Delete(next, i, i+1)
		}
	case i < 0:
		s := raft.Server{ID: raft.ServerID(c.name), Address: raft.ServerAddress(c.addr), Suffrage: raft.Nonvoter}
		if c.kind == addVoter {
			s.Suffrage = raft.Voter
		}
		next = append(next, s)
	default:
		next[i].Address = raft.ServerAddress(c.addr)
		if c.kind == addVoter {
			next[i].Suffrage = raft.Voter
		}
	}
	for j, s := range next {
		if slices.ContainsFunc(next[:j], func(other raft.Server) bool { return other.Address == s.Address }) {
			return nil, errors.New("two servers at one address")
		}
	}
	if len(votersIn(next)) == 0 {
		return nil, errNoVoter
	}
	return next, nil
}

func describe(servers []raft.Server) string {
	var words []string
	for _, s := range servers {
		word := string(s.ID)
		if s.Suffrage != raft.Voter {
			word += "?"
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}
