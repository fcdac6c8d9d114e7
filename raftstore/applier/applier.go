package applier

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

// Config configures an Applier; all fields are required.
type Config struct {
	Hub      *history.Hub       // receives the events
	Applied  *readindex.Applied // wakes readers that wait for an index
	Retained *read.Retained     // receives the states that pins request
	// Fits returns an error for a snapshot of another node that must not be installed. Installed is
	// called when the snapshot of another node has replaced the state.
	Fits      func(index uint64) error
	Installed func(index uint64)
	// Hurries reports whether snapshots are to be written without pauses.
	Hurries    func() bool
	Lifecycle  *lifecycle.Lifecycle // ends the node at an entry that this build does not know
	Logger     *slog.Logger
	Registerer prometheus.Registerer
}

// Applier implements raft.FSM. Raft makes one call at a time to it, and owns the tree meanwhile;
// any goroutine may call Root, Started and Rested.
type Applier struct {
	cfg     Config
	metrics *metrics
	current atomic.Pointer[state.Root]
	started atomic.Bool  // set once Raft has restored its first state
	rested  atomic.Int64 // nanoseconds that the writing of snapshots has rested

	tree  *state.Tree
	ended error // set by an entry that this build does not know; the state does not change afterwards
}

var _ raft.BatchingFSM = (*Applier)(nil)

// New returns an Applier with an empty state.
func New(cfg Config) *Applier {
	a := &Applier{cfg: cfg, metrics: newMetrics(cfg.Registerer), tree: state.NewTree()}
	a.publish()
	return a
}

// Root returns the state as of the last applied batch.
func (a *Applier) Root() *state.Root { return a.current.Load() }

// Started records that the node has restored its first state. Snapshots restored afterwards come
// from other nodes.
func (a *Applier) Started() { a.started.Store(true) }

// Rested returns how long the writing of snapshots has rested, of all of them together.
func (a *Applier) Rested() time.Duration { return time.Duration(a.rested.Load()) }

// Apply implements raft.FSM. Raft uses ApplyBatch instead.
func (a *Applier) Apply(entry *raft.Log) any { return a.ApplyBatch([]*raft.Log{entry})[0] }

// ApplyBatch applies entries, and then publishes the state and the events once for all of them. It
// publishes the state before the events, so that a watcher that has seen an event finds its object,
// and wakes the readers that wait for an index last. The response to an entry is nil or the
// refusal. ApplyBatch applies neither the first entry that this build does not know nor any later
// one; the response to each of these is an *fsm.Unknown about the first.
func (a *Applier) ApplyBatch(entries []*raft.Log) []any {
	// gofail: var applyBefore struct{}
	start := time.Now()
	answers := make([]any, len(entries))
	events := make([]*history.Event, 0, len(entries))
	for i, entry := range entries {
		if a.ended != nil {
			answers[i] = a.ended
			continue
		}
		if entry.Type != raft.LogCommand {
			a.tree.Advance(entry.Index)
			continue
		}
		result, event, err := fsm.Apply(a.tree, entry.Index, entry.Data)
		if err != nil {
			a.end(err)
			answers[i] = err
			continue
		}
		a.tree.Stamp(entry.AppendedAt) // the leader's clock, the same on every node
		if event != nil {
			// gofail: var breakDropEvent struct{}
			// continue

			events = append(events, event)
		}
		if result.Pinned {
			a.pin(result.Time)
		}
		if result.Err != nil {
			answers[i] = result.Err
		}
	}
	// gofail: var applyBeforePublish struct{}
	a.publish()
	// gofail: var applyAfterPublish struct{}
	index := a.tree.Index()
	a.cfg.Hub.Append(index, events)
	a.cfg.Applied.Advance(index)
	a.metrics.applyBatch.Observe(float64(len(entries)))
	a.metrics.applySeconds.Observe(time.Since(start).Seconds())
	// gofail: var applyAfter struct{}
	return answers
}

// end ends the node with err. Until then the state does not change, and Raft continues as if the
// Applier applied its entries. Reads that require no later state are still served.
func (a *Applier) end(err error) {
	a.ended = err
	a.cfg.Lifecycle.Fail(err)
}

func (a *Applier) publish() { a.current.Store(a.tree.Publish()) }

// pin retains the state after a pin that was proposed at the given time. During a restart, it
// ignores pins that have expired.
func (a *Applier) pin(proposed time.Time) {
	if !a.cfg.Retained.IsExpired(proposed) {
		a.cfg.Retained.Pin(a.tree.Publish(), proposed)
	}
}

// Snapshot returns a pointer to the state. It fails after an unknown entry, because the state is
// then older than the index that Raft would give the snapshot.
func (a *Applier) Snapshot() (raft.FSMSnapshot, error) {
	if a.ended != nil {
		return nil, a.ended
	}
	return fsmSnapshot{a.Root(), a}, nil
}

// Restore replaces the state by that of a snapshot, once it has read and verified all of it.
func (a *Applier) Restore(from io.ReadCloser) error {
	// gofail: var restoreBefore struct{}
	if a.ended != nil {
		return a.ended
	}
	tree, err := fsm.ReadSnapshot(snapshot.NewReader(from))
	if err != nil {
		return fmt.Errorf("restore snapshot: %w", err)
	}
	index := tree.Index()
	if a.started.Load() {
		if err := a.cfg.Fits(index); err != nil {
			return err
		}
	}
	// gofail: var restoreBeforePublish struct{}
	a.tree = tree
	a.publish()
	if a.started.Load() {
		// Another node sent the snapshot. This node never applied the entries in between, and older
		// retained states would keep the whole former state in memory.
		a.cfg.Hub.Reset(index, a.Root().Changed())
		a.cfg.Retained.Clear()
		a.cfg.Installed(index)
	} else {
		a.cfg.Hub.Begin(index, a.Root().Changed())
	}
	a.cfg.Applied.Advance(index)
	// gofail: var restoreAfter struct{}
	a.cfg.Logger.Info("state restored from snapshot", "index", index, "objects", a.Root().Len())
	return nil
}

// fsmSnapshot is a state that Raft writes as a snapshot.
type fsmSnapshot struct {
	root    *state.Root
	applier *Applier
}

func (i fsmSnapshot) Persist(sink raft.SnapshotSink) error {
	// gofail: var snapshotBefore struct{}
	w := snapshot.NewWriter(sink)
	if err := fsm.WriteSnapshot(i.pace(w), i.root); err != nil {
		return fmt.Errorf("write snapshot: %w", err)
	}
	return w.Close()
}

func (fsmSnapshot) Release() {}
