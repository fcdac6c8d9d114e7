package simulation

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/hashicorp/raft"

	"quorate/raftstore/fsm"
	"quorate/raftstore/snapshot"
)

const (
	// checkpoint is how many entries lie between those after which the states of all nodes are
	// compared: batches end there.
	checkpoint = 16
	// snapshotsKept on a disk.
	snapshotsKept = 2
)

func (p *process) applySoon() {
	if p.applying || p.applied >= p.commit {
		return
	}
	p.applying = true
	p.after(p.w.between(0, 3*time.Millisecond), func() {
		p.applying = false
		p.apply()
		p.applySoon()
	})
}

// apply makes the state machine apply some of the committed entries, as Raft would.
func (p *process) apply() {
	count := min(p.commit-p.applied, uint64(1+p.w.rng.IntN(p.w.set.batch)), checkpoint-p.applied%checkpoint)
	batch := p.from(p.applied+1, int(count))
	var logs []*raft.Log
	var commands []*entry
	for _, e := range batch {
		if e.Type != raft.LogCommand && e.Type != raft.LogConfiguration {
			continue // is not shown to state machines
		}
		if l := p.broken(e); l != nil {
			logs = append(logs, l)
			commands = append(commands, e)
		}
	}
	before := p.applier.Root().Index()
	var answers []any
	if len(logs) > 0 {
		answers = p.applier.ApplyBatch(logs)
	}
	p.applied += count
	p.w.counts.Batches++
	p.trace("applies up to %d", p.applied)
	if after := p.applier.Root().Index(); after < before {
		p.w.violate("the state of %s goes back from %d to %d", p.node.name, before, after)
	}
	p.w.truth.applied(p, commands, answers)
	for _, e := range batch {
		if e.write != nil && e.write.op == opPin {
			p.notePin(e)
		}
		if respond := p.waiting[e.Index]; respond != nil {
			delete(p.waiting, e.Index)
			respond(nil)
		}
	}
}

// snapshotSoon schedules a snapshot. Its state is that of one moment, and is written at a later
// one.
func (p *process) snapshotSoon() {
	p.after(p.w.between(p.w.set.snapshots/4, p.w.set.snapshots), func() {
		p.snapshotSoon()
		if p.applied <= p.newest().index || p.config.index > p.applied {
			return
		}
		taken, err := p.applier.Snapshot()
		if err != nil {
			p.w.violate("%s takes no snapshot: %v", p.node.name, err)
			return
		}
		s := &savedState{index: p.applied, config: p.config}
		s.term, _ = p.termAt(s.index)
		p.after(p.w.between(0, 100*time.Millisecond), func() { p.save(s, taken) })
	})
}

func (p *process) save(s *savedState, taken raft.FSMSnapshot) {
	if s.index <= p.newest().index {
		return // another node's was installed meanwhile
	}
	var written sink
	if err := taken.Persist(&written); err != nil {
		p.w.violate("%s writes no snapshot: %v", p.node.name, err)
		return
	}
	taken.Release()
	s.bytes = p.brokenSnapshot(written.Bytes())
	p.w.counts.Snapshots++
	p.trace("has a snapshot of %d, %d bytes", s.index, len(s.bytes))
	p.store(func(m *image) { m.keep(s) })
	p.sync(func() {
		trailing := 1 + p.w.rng.Uint64N(p.w.set.trailing)
		if upTo := min(s.index, p.last()); upTo > p.base+trailing {
			p.store(func(m *image) {
				if upTo > m.base+trailing {
					m.trim(upTo - trailing)
				}
			})
			p.sync(func() {})
		}
	})
}

func (m *image) keep(s *savedState) {
	m.saved = append(m.saved, s)
	if over := len(m.saved) - snapshotsKept; over > 0 {
		m.saved = slices.Clone(m.saved[over:])
	}
}

// sink is a raft.SnapshotSink in memory.
type sink struct{ bytes.Buffer }

func (*sink) Close() error  { return nil }
func (*sink) ID() string    { return "simulated" }
func (*sink) Cancel() error { return nil }

// receiveState installs a leader's snapshot, as Raft does.
func (p *process) receiveState(m appending, reply func(answer)) {
	s := m.state
	if s.index <= p.commit {
		reply(answer{match: s.index})
		return
	}
	if p.w.chance(p.w.damage()) {
		p.refuseDamaged(s)
		reply(answer{failed: true, retry: m.prev})
		return
	}
	p.store(func(m *image) { m.keep(s) })
	err := p.restore(s)
	if err != nil {
		if errors.Is(err, errUncommitted) {
			p.restartWith(err)
			return
		}
		p.w.violate("%s does not restore a snapshot of %d: %v", p.node.name, s.index, err)
		return
	}
	p.store(func(m *image) { m.entries, m.base = nil, s.index })
	p.applied, p.commit, p.config = s.index, s.index, p.configuration()
	p.origin = p.applier.Root().Index()
	p.quiet = p.w.truth.lastUpTo(p.origin)
	p.pins = nil
	p.w.counts.Installed++
	p.trace("has installed %s's snapshot of %d", m.from.name, s.index)
	p.w.truth.restored(p)
	p.sync(func() { reply(answer{match: s.index}) })
}

func (p *process) restore(s *savedState) error {
	if p.w.breaks(KeepOldState) {
		return nil
	}
	return p.applier.Restore(io.NopCloser(bytes.NewReader(s.bytes)))
}

// restartWith ends a process that cannot continue, and starts the node again.
func (p *process) restartWith(why error) {
	p.trace("ends: %v", why)
	p.w.counts.Restarted++
	p.end()
	p.w.at(p.w.between(100*time.Millisecond, time.Second), p.node.start)
}

// refuseDamaged makes the state machine read a snapshot with a flipped bit, sometimes also a
// truncated one. It must detect the damage and keep its state.
func (p *process) refuseDamaged(s *savedState) {
	damaged := bytes.Clone(s.bytes)
	bit := p.w.rng.IntN(8 * len(damaged))
	damaged[bit/8] ^= 1 << (bit % 8)
	if p.w.chance(0.3) {
		damaged = damaged[:p.w.rng.IntN(len(damaged))]
	}
	if content, err := uncompressed(damaged); err == nil {
		if whole, err := uncompressed(s.bytes); err == nil && bytes.Equal(content, whole) {
			return // compressed bytes have a few bits that say nothing
		}
	}
	before := p.applier.Root()
	p.trace("is sent a damaged snapshot of %d", s.index)
	if _, err := fsm.CheckSnapshot(snapshot.NewReader(bytes.NewReader(damaged))); err == nil {
		p.w.violate("a snapshot with bit %d of %d turned over passes for whole", bit, 8*len(s.bytes))
	}
	if err := p.applier.Restore(io.NopCloser(bytes.NewReader(damaged))); err == nil {
		p.w.violate("%s restores a snapshot with bit %d of %d turned over", p.node.name, bit, 8*len(s.bytes))
	}
	if p.applier.Root() != before {
		p.w.violate("%s has another state after a snapshot that it refused", p.node.name)
	}
}

// uncompressed returns the records of a snapshot.
func uncompressed(content []byte) ([]byte, error) {
	return io.ReadAll(snapshot.NewReader(bytes.NewReader(content)))
}
