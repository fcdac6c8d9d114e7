package raftstore

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"

	"quorate/raftstore/fsm"
	"quorate/raftstore/history"
	"quorate/raftstore/lifecycle"
	"quorate/raftstore/membership"
	"quorate/raftstore/read"
	"quorate/raftstore/readindex"
	"quorate/raftstore/snapshot"
	"quorate/raftstore/state"
)

// machine is the state machine. Raft calls it from one goroutine, which owns the tree; any
// goroutine may read the root.
type machine struct {
	tree          *state.Tree
	current       atomic.Pointer[state.Root]
	hub           *history.Hub
	applied       *readindex.Applied
	retained      *read.Retained
	snapshotIndex *atomic.Uint64 // index of the newest snapshot
	life          *lifecycle.Lifecycle
	metrics       *metrics
	logger        *slog.Logger
	configs       *membership.Configurations // nil in a Replica
	// addRestored queues the configuration of the snapshot that is being restored.
	addRestored func(appended time.Time)
	appended    time.Time   // when the last entry was appended that was applied here, by its leader's clock
	started     atomic.Bool // set once Raft has restored what it started from
	fits        func(index uint64) error
	ended       error // set by an entry that this build does not know; the state does not change afterwards
}

var _ raft.BatchingFSM = (*machine)(nil)

func newMachine(s *Store) *machine {
	m := &machine{
		tree: state.NewTree(), hub: s.hub, applied: &s.applied, retained: s.retained, snapshotIndex: &s.snapshotIndex,
		life: s.life, metrics: s.metrics, logger: s.logger, fits: s.fits,
		configs: s.configurations, addRestored: s.addSnapshotConfiguration,
	}
	m.current.Store(m.tree.Publish())
	return m
}

func (m *machine) root() *state.Root { return m.current.Load() }

// Apply is part of raft.FSM; Raft uses ApplyBatch.
func (m *machine) Apply(entry *raft.Log) any { return m.ApplyBatch([]*raft.Log{entry})[0] }

// ApplyBatch applies entries and publishes state and events once for all of them. It publishes the
// state first, so that a watcher that has seen an event finds its object, and wakes waiters for an
// index last. A response is nil, the refusal, or *fsm.Unknown for an entry that this build does not
// know and all entries after it, which it does not apply.
func (m *machine) ApplyBatch(entries []*raft.Log) []any {
	// gofail: var applyBefore struct{}
	start := time.Now()
	answers := make([]any, len(entries))
	events := make([]*history.Event, 0, len(entries))
	for i, entry := range entries {
		if m.ended != nil {
			answers[i] = m.ended
			continue
		}
		if entry.Type != raft.LogCommand {
			m.tree.Advance(entry.Index)
			if entry.Type == raft.LogConfiguration && m.configs != nil {
				m.configs.Add(entry.AppendedAt, raft.DecodeConfiguration(entry.Data).Servers)
			}
			continue
		}
		result, event, err := fsm.Apply(m.tree, entry.Index, entry.Data)
		if err != nil {
			m.end(err)
			answers[i] = err
			continue
		}
		m.tree.Stamp(entry.AppendedAt) // the leader's clock, the same on every replica
		if event != nil {
			// gofail: var breakDropEvent struct{}
			// continue

			events = append(events, event)
		}
		if result.Pinned {
			m.pin(result.Time)
		}
		if result.Err != nil {
			answers[i] = result.Err
		}
	}
	m.appended = entries[len(entries)-1].AppendedAt
	// gofail: var applyBeforePublish struct{}
	m.publish()
	// gofail: var applyAfterPublish struct{}
	index := m.tree.Index()
	m.hub.Append(index, events)
	m.applied.Advance(index)
	m.metrics.applyBatch.Observe(float64(len(entries)))
	m.metrics.applySeconds.Observe(time.Since(start).Seconds())
	// gofail: var applyAfter struct{}
	return answers
}

// end ends the node with err. Until it has ended, the state stays as it is, for reads that ask for
// no later one, while Raft goes on as if the machine applied its entries.
func (m *machine) end(err error) {
	m.ended = err
	m.life.Fail(err)
}

func (m *machine) publish() { m.current.Store(m.tree.Publish()) }

// pin retains the state after a pin that was proposed at a time. A restart replays pins whose time
// is over.
func (m *machine) pin(proposed time.Time) {
	if !m.retained.IsExpired(proposed) {
		m.retained.Pin(m.tree.Publish(), proposed)
	}
}

// Snapshot returns a pointer to the state. It fails after an unknown entry: the state is older than
// the index that Raft would give the snapshot.
func (m *machine) Snapshot() (raft.FSMSnapshot, error) {
	if m.ended != nil {
		return nil, m.ended
	}
	return image{m.root()}, nil
}

// Restore replaces the state by a snapshot's, once it has read and verified all of it.
func (m *machine) Restore(from io.ReadCloser) error {
	// gofail: var restoreBefore struct{}
	if m.ended != nil {
		return m.ended
	}
	tree, err := fsm.ReadSnapshot(snapshot.NewReader(from))
	if err != nil {
		return fmt.Errorf("restore snapshot: %w", err)
	}
	index := tree.Index()
	if m.started.Load() {
		if err := m.fits(index); err != nil {
			return err
		}
	}
	// gofail: var restoreBeforePublish struct{}
	m.tree = tree
	m.publish()
	if m.started.Load() {
		// Another node sent the snapshot. This node never applied the entries in between, and
		// retained states from before would keep the whole former state in memory.
		m.hub.Reset(index)
		m.retained.Clear()
		m.snapshotIndex.Store(index)
	} else {
		m.hub.Begin(index)
	}
	if m.configs != nil {
		m.addRestored(m.appended)
	}
	m.applied.Advance(index)
	// gofail: var restoreAfter struct{}
	m.logger.Info("state restored from snapshot", "index", index, "objects", m.root().Len())
	return nil
}

// errUncommitted ends a node whose log must go before it can install a snapshot.
var errUncommitted = errors.New("this node's log has entries that nobody committed, beyond a snapshot that the leader sent " +
	"(hashicorp/raft#697); restart this node, which then starts from that snapshot")

// fits refuses a leader's snapshot while the log reaches beyond it. Such entries conflict with the
// leader's log, or it would not have sent a snapshot. The library removes them from the log, but
// not from its record of where the log ends: it would refuse every append from then on, get the
// snapshot again and again, and could vote for a candidate that lacks the snapshot's entries. The
// snapshot is on disk; a restart finds it and removes the log.
func (s *Store) fits(index uint64) error {
	if s.raft.State() == raft.Leader || s.raft.LastIndex() <= index {
		return nil
	}
	s.life.Fail(errUncommitted)
	return errUncommitted
}

// image is a state that Raft writes as a snapshot.
type image struct{ root *state.Root }

func (i image) Persist(sink raft.SnapshotSink) error {
	// gofail: var snapshotBefore struct{}
	w := snapshot.NewWriter(sink)
	if err := fsm.WriteSnapshot(w, i.root); err != nil {
		return fmt.Errorf("write snapshot: %w", err)
	}
	return w.Close()
}

func (image) Release() {}
