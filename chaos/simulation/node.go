package simulation

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"
	"github.com/prometheus/client_golang/prometheus"

	"quorate/raftstore/applier"
	"quorate/raftstore/history"
	"quorate/raftstore/lifecycle"
	"quorate/raftstore/log"
	"quorate/raftstore/read"
	"quorate/raftstore/readindex"
	"quorate/raftstore/replay"
	"quorate/raftstore/state"
)

// node is a machine with a disk, on which one process after another runs.
type node struct {
	w          *World
	name       string
	addr       string
	replica    bool // never to be a voter
	disk       disk
	process    *process // nil while there is none
	retired    bool     // never starts again
	doubtful   bool     // whether it was removed is not known to whoever asked for that
	goroutines atomic.Int64
}

// process is one run of a node's program. Its memory ends with it.
type process struct {
	w    *World
	node *node
	image
	ended       bool
	pausedUntil time.Time
	ctx         context.Context
	cancel      context.CancelFunc

	consensus
	data
	gossip
	members
}

// data is the state that a process derives from its log.
type data struct {
	applier  *applier.Applier
	hub      *history.Hub
	retained *read.Retained
	origin   uint64 // index of the last snapshot installed from another node
	quiet    uint64 // index of the last event in that snapshot
	applying bool
	pins     []pin
}

func (w *World) newNode(name string, replica bool) *node {
	n := &node{w: w, name: name, addr: name + ":1", replica: replica}
	n.disk.durable.id = identity{nodeID: "id-" + name}
	w.nodes = append(w.nodes, n)
	return n
}

func (w *World) node(name string) *node {
	i := slices.IndexFunc(w.nodes, func(n *node) bool { return n.name == name })
	return w.nodes[i]
}

// running returns all running processes.
func (w *World) running() (all []*process) {
	for _, n := range w.nodes {
		if n.process != nil {
			all = append(all, n.process)
		}
	}
	return all
}

// start starts a process on the node's disk, unless one runs or the node is retired.
func (n *node) start() {
	if n.process != nil || n.retired {
		return
	}
	n.disk.durable.id.starts++
	p := &process{w: n.w, node: n, image: n.disk.durable.clone()}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	n.process = p
	p.align()
	if err := p.open(); err != nil {
		n.w.violate("%s does not start: %v", n.name, err)
		return
	}
	p.trace("starts, log from %d to %d, snapshot of %d", p.base, p.last(), p.newest().index)
	p.startConsensus()
	p.startGossip()
	p.startMembers()
	p.snapshotSoon()
	p.after(time.Second, p.lookAfterPins)
	p.applySoon()
}

// align removes a log that does not fit the newest snapshot, as the store does when it opens.
func (p *process) align() {
	s := p.newest()
	if term, known := p.termAt(s.index); len(p.entries) == 0 || p.last() < s.index || known && term != s.term {
		p.store(func(m *image) { m.entries, m.base = nil, s.index })
	}
	if p.base > s.index {
		p.w.violate("%s has entries from %d on only, and a snapshot of %d", p.node.name, p.base+1, s.index)
	}
}

// open restores the state that the node starts from.
func (p *process) open() error {
	if err := p.build(); err != nil {
		return err
	}
	if s := p.newest(); s.index > 0 {
		if err := p.applier.Restore(io.NopCloser(bytes.NewReader(s.bytes))); err != nil {
			return err
		}
		p.w.truth.restored(p)
		p.applied, p.commit = s.index, s.index
	}
	p.applier.Started()
	return nil
}

// build creates the state machine and its parts, as raftstore.Open does.
func (p *process) build() error {
	quiet := slog.New(slog.DiscardHandler)
	retainer, err := state.NewRetainer(state.RetainerConfig{MaxAge: p.w.set.retained})
	if err != nil {
		return err
	}
	p.retained = read.NewRetained(retainer)
	p.hub, err = history.New(history.Config{
		MaxBytes: p.w.set.historyBytes,
		Log:      replay.New(p, func() *state.Root { return p.applier.Root() }, quiet),
	})
	if err != nil {
		return err
	}
	p.applier = applier.New(applier.Config{
		Hub: p.hub, Applied: &readindex.Applied{}, Retained: p.retained,
		Fits: p.fits, Installed: func(uint64) {}, Hurries: func() bool { return true },
		Lifecycle: lifecycle.New(), Logger: quiet, Registerer: unmeasured{},
	})
	return nil
}

// end ends the process. The node's machine continues, so that everything written becomes durable.
func (p *process) end() {
	p.node.disk.lose(len(p.node.disk.pending))
	p.stop()
}

// crash ends the process with its machine. Of the changes that are not durable, a random prefix
// becomes durable.
func (p *process) crash() {
	pending := len(p.node.disk.pending)
	kept := p.w.rng.IntN(pending + 1)
	p.trace("loses power, and %d of %d changes", pending-kept, pending)
	p.w.counts.Crashes++
	p.w.counts.Lost += pending - kept
	p.node.disk.lose(kept)
	p.stop()
}

func (p *process) stop() {
	p.ended = true
	p.node.process = nil
	p.endLeadership(raft.ErrRaftShutdown)
	p.cancel()
}

// errUncommitted stands for the one that a store ends with.
var errUncommitted = errors.New("the log reaches beyond a snapshot that the leader sent")

func (p *process) fits(index uint64) error {
	if p.role == leader || p.last() <= index {
		return nil
	}
	return errUncommitted
}

// FirstIndex is part of replay.Entries, the log as history reads it.
func (p *process) FirstIndex() (uint64, error) {
	if len(p.entries) == 0 {
		return 0, nil
	}
	if p.w.breaks(HideTrimmed) {
		return 1, nil
	}
	return p.base + 1, nil
}

// Read is part of replay.Entries, and keeps to what log.Store says of it.
func (p *process) Read(
	_ context.Context, after, upTo uint64, limit int, fn func(index uint64, data []byte) error,
) (uint64, error) {
	switch {
	case len(p.entries) == 0:
		return after, &log.Truncated{After: after}
	case after < p.base && p.w.breaks(HideTrimmed):
		after = p.base
	case after < p.base:
		return after, &log.Truncated{After: after, First: p.base + 1}
	}
	for _, e := range p.from(after+1, math.MaxInt) {
		if e.Index > upTo || limit == 0 {
			break
		}
		skipped := p.w.breaks(SkipOnDisk) && e.Index%8 == 3
		if e.Type == raft.LogCommand && !skipped {
			limit--
			if err := fn(e.Index, e.Data); err != nil {
				return after, err
			}
		}
		after = e.Index
	}
	return after, nil
}

// unmeasured registers no metrics.
type unmeasured struct{}

func (unmeasured) Register(prometheus.Collector) error  { return nil }
func (unmeasured) MustRegister(...prometheus.Collector) {}
func (unmeasured) Unregister(prometheus.Collector) bool { return true }

func (n *node) String() string { return fmt.Sprintf("%s at %s", n.name, n.addr) }
