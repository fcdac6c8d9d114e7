package machine

import (
	"fmt"
	"io"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"
	"github.com/prometheus/client_golang/prometheus"

	"quorate/raftstore/fsm"
	"quorate/raftstore/history"
	"quorate/raftstore/lifecycle"
	"quorate/raftstore/read"
	"quorate/raftstore/readindex"
	"quorate/raftstore/snapshot"
	"quorate/raftstore/state"
)

// Config configures a Machine; all fields are required.
type Config struct {
	Hub      *history.Hub       // receives the events
	Applied  *readindex.Applied // wakes readers that wait for an index
	Retained *read.Retained     // receives the states that pins request
	// Configured is called for each committed configuration of Raft, with the time at which the
	// leader appended its entry.
	Configured func(appended time.Time, servers []raft.Server)
	// Restored is called after each Restore, with the time at which the last entry that was applied
	// before was appended.
	Restored func(appended time.Time)
	// Fits returns an error for a snapshot of another node that must not be installed. Installed is
	// called when the snapshot of another node has replaced the state.
	Fits       func(index uint64) error
	Installed  func(index uint64)
	Lifecycle  *lifecycle.Lifecycle // ends the node at an entry that this build does not know
	Logger     *slog.Logger
	Registerer prometheus.Registerer
}

// Machine is the state machine. Raft calls it from one goroutine, which owns the tree; any
// goroutine may call Root and Started.
type Machine struct {
	cfg     Config
	metrics *metrics
	current atomic.Pointer[state.Root]
	started atomic.Bool // set once Raft has restored its first state

	tree     *state.Tree
	appended time.Time // when the last applied entry was appended, by its leader's clock
	ended    error     // set by an entry that this build does not know; the state does not change afterwards
}

var _ raft.BatchingFSM = (*Machine)(nil)

// New returns a machine with an empty state.
func New(cfg Config) *Machine {
	m := &Machine{cfg: cfg, metrics: newMetrics(cfg.Registerer), tree: state.NewTree()}
	m.publish()
	return m
}

// Root returns the state as of the last applied batch.
func (m *Machine) Root() *state.Root { return m.current.Load() }

// Started records that the node has restored its first state. Snapshots restored afterwards come
// from other nodes.
func (m *Machine) Started() { m.started.Store(true) }

// Apply implements raft.FSM. Raft uses ApplyBatch instead.
func (m *Machine) Apply(entry *raft.Log) any { return m.ApplyBatch([]*raft.Log{entry})[0] }

// ApplyBatch applies entries and publishes state and events once for all of them. It publishes the
// state first, so that a watcher that has seen an event finds its object, and wakes waiters for an
// index last. A response is nil, the refusal, or *fsm.Unknown for an entry that this build does not
// know and all entries after it, which it does not apply.
func (m *Machine) ApplyBatch(entries []*raft.Log) []any {
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
			if entry.Type == raft.LogConfiguration {
				m.cfg.Configured(entry.AppendedAt, raft.DecodeConfiguration(entry.Data).Servers)
			}
			continue
		}
		result, event, err := fsm.Apply(m.tree, entry.Index, entry.Data)
		if err != nil {
			m.end(err)
			answers[i] = err
			continue
		}
		m.tree.Stamp(entry.AppendedAt) // the leader's clock, the same on every node
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
	m.cfg.Hub.Append(index, events)
	m.cfg.Applied.Advance(index)
	m.metrics.applyBatch.Observe(float64(len(entries)))
	m.metrics.applySeconds.Observe(time.Since(start).Seconds())
	// gofail: var applyAfter struct{}
	return answers
}

// end ends the node with err. Until then the state does not change, and Raft continues as if the
// machine applied its entries. Reads that require no later state are still served.
func (m *Machine) end(err error) {
	m.ended = err
	m.cfg.Lifecycle.Fail(err)
}

func (m *Machine) publish() { m.current.Store(m.tree.Publish()) }

// pin retains the state after a pin that was proposed at the given time. During a restart, it
// ignores pins that have expired.
func (m *Machine) pin(proposed time.Time) {
	if !m.cfg.Retained.IsExpired(proposed) {
		m.cfg.Retained.Pin(m.tree.Publish(), proposed)
	}
}

// Snapshot returns a pointer to the state. It fails after an unknown entry, because the state is
// then older than the index that Raft would give the snapshot.
func (m *Machine) Snapshot() (raft.FSMSnapshot, error) {
	if m.ended != nil {
		return nil, m.ended
	}
	return fsmSnapshot{m.Root()}, nil
}

// Restore replaces the state by that of a snapshot, once it has read and verified all of it.
func (m *Machine) Restore(from io.ReadCloser) error {
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
		if err := m.cfg.Fits(index); err != nil {
			return err
		}
	}
	// gofail: var restoreBeforePublish struct{}
	m.tree = tree
	m.publish()
	if m.started.Load() {
		// Another node sent the snapshot. This node never applied the entries in between, and older
		// retained states would keep the whole former state in memory.
		m.cfg.Hub.Reset(index)
		m.cfg.Retained.Clear()
		m.cfg.Installed(index)
	} else {
		m.cfg.Hub.Begin(index)
	}
	m.cfg.Restored(m.appended)
	m.cfg.Applied.Advance(index)
	// gofail: var restoreAfter struct{}
	m.cfg.Logger.Info("state restored from snapshot", "index", index, "objects", m.Root().Len())
	return nil
}

// fsmSnapshot is a state that Raft writes as a snapshot.
type fsmSnapshot struct{ root *state.Root }

func (i fsmSnapshot) Persist(sink raft.SnapshotSink) error {
	// gofail: var snapshotBefore struct{}
	w := snapshot.NewWriter(sink)
	if err := fsm.WriteSnapshot(w, i.root); err != nil {
		return fmt.Errorf("write snapshot: %w", err)
	}
	return w.Close()
}

func (fsmSnapshot) Release() {}
