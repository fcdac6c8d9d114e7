package simulation

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/raft"

	"quorate/cluster/roster"
	"quorate/cluster/voters"
	"quorate/raftstore"
)

// members is the process's instance of package voters with what it uses. Its goroutines access the
// world only through ask.
type members struct {
	voters   *voters.Voters
	epoch    *epoch // nil while this process is not a leader that is ready
	turned   chan struct{}
	removing map[string]bool // by an operator
}

// epoch is one period of leadership.
type epoch struct {
	ctx context.Context
	end context.CancelFunc
}

func (p *process) startMembers() {
	p.turned, p.removing = make(chan struct{}), map[string]bool{}
	v := voters.New(voters.Config{
		Self: p.node.name, Store: leadership{p}, Roster: bindings{p},
		Cluster:  func() string { return asked(p, "cluster", func() string { return p.applier.Root().ClusterID() }) },
		Members:  func() []voters.Member { return asked(p, "members", p.view) },
		Changed:  func() <-chan struct{} { return asked(p, "changed", func() <-chan struct{} { return p.changed }) },
		Progress: p.askProgress, Freed: func() error { p.ask("freed", p.release); return nil },
		MinVoters:       func() int { return asked(p, "least", p.leastVoters) },
		DeadServerAfter: p.w.set.deadServerAfter, Scale: scale, Logger: slog.New(slog.DiscardHandler), Registerer: unmeasured{},
	})
	p.voters = v
	p.node.run(func() {
		if err := v.Run(p.ctx); err != nil {
			p.ask("failed", func() { p.w.violate("package voters of %s ends: %v", p.node.name, err) })
		}
	})
}

// run starts a goroutine, for the end of which the world waits.
func (n *node) run(do func()) {
	n.goroutines.Add(1)
	go func() {
		defer n.goroutines.Add(-1)
		do()
	}()
}

func asked[T any](p *process, name string, read func() T) (answer T) {
	p.ask(name, func() { answer = read() })
	return answer
}

func (p *process) leastVoters() int {
	if p.w.breaks(ForgetExpected) {
		return 0
	}
	return p.w.set.voters // all nodes have the same setting
}

// leadership is the voters.Store of a process.
type leadership struct{ p *process }

func (l leadership) WhileLeader(ctx context.Context, fn func(ctx context.Context) error) error {
	for ctx.Err() == nil {
		var e *epoch
		var turned chan struct{}
		l.p.ask("leadership", func() { e, turned = l.p.epoch, l.p.turned })
		if e == nil {
			select {
			case <-ctx.Done():
			case <-turned:
			}
			continue
		}
		if err := fn(e.ctx); err != nil {
			return err
		}
		<-e.ctx.Done()
	}
	return nil
}

func (p *process) beginEpoch() {
	p.endEpoch()
	e := &epoch{}
	e.ctx, e.end = context.WithCancel(p.ctx)
	p.epoch = e
	p.trace("is a ready leader of term %d", p.term)
	p.turn()
}

func (p *process) endEpoch() {
	if p.epoch != nil {
		p.epoch.end()
		p.epoch = nil
		p.turn()
	}
}

func (p *process) turn() {
	close(p.turned)
	p.turned = make(chan struct{})
}

// changeTimeout bounds the wait for a change to be taken up, as in raftstore.
const changeTimeout = 10 * time.Second

func (l leadership) change(kind changeKind, name, addr string) error {
	c := &change{kind: kind, name: name, addr: addr, future: newFuture()}
	l.p.ask(fmt.Sprint(kind, name), func() { l.p.request(c, changeTimeout) })
	return lostLeadership(c.future.Error())
}

// lostLeadership is the library's error as a store returns it.
func lostLeadership(err error) error {
	if errors.Is(err, raft.ErrNotLeader) || errors.Is(err, raft.ErrLeadershipLost) {
		return errors.Join(raftstore.ErrNotLeader, err)
	}
	return err
}

func (l leadership) AddNonvoter(name, addr string) error { return l.change(addNonvoter, name, addr) }
func (l leadership) AddVoter(name, addr string) error    { return l.change(addVoter, name, addr) }
func (l leadership) RemoveServer(name string) error      { return l.change(remove, name, "") }

// CommitPending ends with an entry of its own, when that is applied.
func (l leadership) CommitPending(context.Context) error {
	f := newFuture()
	l.p.ask("commit pending", func() {
		if l.p.role != leader {
			f.resolve(raft.ErrNotLeader)
			return
		}
		l.p.waiting[l.p.propose(l.p.initEntry())] = f.resolve
	})
	return lostLeadership(f.Error())
}

func (l leadership) LastIndex() uint64 {
	return asked(l.p, "last index", func() uint64 { return l.p.last() })
}

func (l leadership) LastLogTerm() uint64 {
	return asked(l.p, "last term", func() uint64 { return l.p.lastTerm() })
}

func (l leadership) IsLeader() bool {
	return asked(l.p, "state", func() bool { return l.p.role == leader })
}

func (l leadership) Servers() []raft.Server {
	return asked(l.p, "configuration", func() []raft.Server { return slices.Clone(l.p.config.servers) })
}

// askProgress requests the progress of a member, as package cluster does.
func (p *process) askProgress(ctx context.Context, m voters.Member) (voters.Progress, error) {
	answer := make(chan voters.Progress, 1)
	p.ask("progress of "+m.Name, func() {
		if ctx.Err() != nil {
			return
		}
		from := p.node
		p.send(p.w.node(m.Name), 0, func(q *process) {
			stored := &q.node.disk.durable // Raft does nothing else while it stores entries
			progress := voters.Progress{LastTerm: stored.lastTerm(), LastIndex: stored.last(), LastContact: -1}
			switch {
			case q.role == leader:
				progress.LastContact = 0
			case !q.heard.IsZero():
				progress.LastContact = time.Since(q.heard)
			}
			q.send(from, 0, func(*process) {
				select {
				case answer <- progress:
				default: // the message came twice
				}
			})
		})
	})
	select {
	case progress := <-answer:
		return progress, nil
	case <-ctx.Done():
		return voters.Progress{}, ctx.Err()
	}
}

// record contains the owners of names and the removed nodes. It is immutable.
type record struct {
	bindings map[string]roster.Binding
	removed  []string
}

// bindings is the voters.Roster of a process.
type bindings struct{ p *process }

func (b bindings) Bind(name string, binding roster.Binding) error {
	b.p.ask("bind "+name, func() { b.p.mergeRecord(record{bindings: map[string]roster.Binding{name: binding}}) })
	return nil
}

func (b bindings) Owner(name string) (nodeID string, ok bool) {
	nodeID = asked(b.p, "owner of "+name, func() string { return b.p.id.record.bindings[name].NodeID })
	return nodeID, nodeID != ""
}

func (b bindings) Remove(nodeID string) error {
	b.p.ask("bar "+nodeID, func() { b.p.mergeRecord(record{removed: []string{nodeID}}) })
	return nil
}

// mergeRecord takes over the bindings that are later than those of this process.
func (p *process) mergeRecord(other record) {
	next := record{bindings: maps.Clone(p.id.record.bindings), removed: p.id.record.removed}
	if next.bindings == nil {
		next.bindings = map[string]roster.Binding{}
	}
	changed := false
	for name, b := range other.bindings {
		have, known := next.bindings[name]
		if !known || b.Index > have.Index || b.Index == have.Index && strings.Compare(b.NodeID, have.NodeID) < 0 {
			next.bindings[name], changed = b, true
		}
	}
	for _, id := range other.removed {
		if !slices.Contains(next.removed, id) {
			next.removed, changed = append(slices.Clip(next.removed), id), true
		}
	}
	if changed {
		p.store(func(m *image) { m.id.record = next })
	}
}

// release frees the names that no node uses any more.
func (p *process) release() {
	next := map[string]roster.Binding{}
	for name := range p.id.record.bindings {
		_, configured := p.suffrage(name)
		a := p.table[name]
		if name != p.node.name && !configured && (a == nil || !a.alive || a.leaving) && p.id.record.bindings[name].Index <= p.applied {
			next[name] = roster.Binding{Index: p.applied}
		}
	}
	p.mergeRecord(record{bindings: next})
}
