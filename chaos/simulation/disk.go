package simulation

import (
	"slices"
	"time"

	"github.com/hashicorp/raft"

	"quorate/cluster/voters"
)

// entry is a log entry. It is immutable, and all nodes that have it share it.
type entry struct {
	raft.Log
	write   *write           // what its client meant; nil for entries of Raft
	servers []raft.Server    // of a configuration
	departs voters.Departure // of a configuration that removes a server
}

// savedState is a snapshot on a disk.
type savedState struct {
	index, term uint64
	config      configuration
	bytes       []byte
}

// configuration is a configuration of Raft and the index of its entry.
type configuration struct {
	index   uint64
	servers []raft.Server
}

// image is the data that a node has stored.
type image struct {
	term    uint64
	vote    string
	base    uint64 // index before the first entry
	entries []*entry
	saved   []*savedState // the newest last
	id      identity
}

// identity is what a node stores about itself and about the owners of names.
type identity struct {
	nodeID  string
	cluster string
	starts  uint64
	record  record
}

func (m *image) clone() image {
	c := *m
	c.entries, c.saved = slices.Clone(m.entries), slices.Clone(m.saved)
	return c
}

func (m *image) newest() *savedState {
	if len(m.saved) == 0 {
		return &savedState{}
	}
	return m.saved[len(m.saved)-1]
}

func (m *image) last() uint64 { return m.base + uint64(len(m.entries)) }

// at returns the entry at an index, or nil if the log does not have it.
func (m *image) at(index uint64) *entry {
	if index <= m.base || index > m.last() {
		return nil
	}
	return m.entries[index-m.base-1]
}

// termAt returns the term of the entry at an index. known is false if the log does not have the
// entry.
func (m *image) termAt(index uint64) (term uint64, known bool) {
	if e := m.at(index); e != nil {
		return e.Term, true
	}
	if s := m.newest(); s.index == index {
		return s.term, true // of index 0, too
	}
	return 0, index == 0
}

func (m *image) lastTerm() uint64 {
	term, _ := m.termAt(m.last())
	return term
}

// from returns up to limit entries from an index on.
func (m *image) from(index uint64, limit int) []*entry {
	rest := m.entries[min(index-m.base-1, uint64(len(m.entries))):]
	return rest[:min(limit, len(rest)):min(limit, len(rest))]
}

func (m *image) append(entries []*entry) { m.entries = append(m.entries, entries...) }

func (m *image) cut(index uint64) { m.entries = slices.Clip(m.entries[:index-m.base-1]) }

func (m *image) trim(upTo uint64) {
	if upTo > m.base {
		m.entries = slices.Clone(m.entries[min(upTo, m.last())-m.base:])
		m.base = upTo
	}
}

// configuration returns the newest configuration that is stored.
func (m *image) configuration() configuration {
	for _, e := range slices.Backward(m.entries) {
		if e.Type == raft.LogConfiguration {
			return configuration{e.Index, e.servers}
		}
	}
	return m.newest().config
}

// disk holds a node's durable image, and the changes that are not synced yet.
type disk struct {
	durable image
	pending []func(*image)
	syncing bool
	waiting []func()      // for the sync after the one under way
	slow    time.Duration // what a sync takes at most
}

// store changes the process's view of the image. The change is durable with the next sync.
func (p *process) store(change func(*image)) {
	if p.ended {
		return // a goroutine of it has not noticed yet
	}
	change(&p.image)
	p.node.disk.pending = append(p.node.disk.pending, change)
}

// sync calls done when all earlier changes are durable.
func (p *process) sync(done func()) {
	d := &p.node.disk
	if p.w.breaks(AckBeforeSync) {
		p.after(0, done)
	} else {
		d.waiting = append(d.waiting, done)
	}
	if !d.syncing {
		p.beginSync()
	}
}

func (p *process) beginSync() {
	d := &p.node.disk
	count, waiting := len(d.pending), d.waiting
	d.waiting, d.syncing = nil, true
	took := p.w.between(100*time.Microsecond, 3*time.Millisecond)
	if d.slow > 0 {
		took = p.w.between(0, d.slow)
	}
	p.after(took, func() {
		d.flush(count)
		d.syncing = false
		if len(d.waiting) > 0 || len(d.pending) > 0 {
			p.beginSync()
		}
		for _, done := range waiting {
			if !p.ended {
				done()
			}
		}
	})
}

// flush makes the oldest changes durable.
func (d *disk) flush(count int) {
	for _, change := range d.pending[:count] {
		change(&d.durable)
	}
	d.pending = slices.Clone(d.pending[count:])
}

// lose discards the changes that are not durable, except the first keep of them, and all waiting
// calls.
func (d *disk) lose(keep int) {
	d.flush(keep)
	d.pending, d.waiting, d.syncing = nil, nil, false
}
