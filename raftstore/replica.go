package raftstore

import (
	"log/slog"
	"time"

	"github.com/hashicorp/raft"
	"github.com/prometheus/client_golang/prometheus"

	"quorate/raftstore/history"
	"quorate/raftstore/lifecycle"
	"quorate/raftstore/read"
	"quorate/raftstore/replay"
	"quorate/raftstore/state"
	"quorate/raftstore/write"
)

// Entries is a log as history reads it. *log.Store is one, and its Read has the contract.
type Entries = replay.Entries

// Replica is the part of a Store that applies its log: state, history and retained states, without
// Raft, files and peers. It is for simulations, which replace those; it starts no goroutines.
type Replica struct{ store *Store }

// ReplicaConfig is what a Replica needs; all fields but the bounds are required.
type ReplicaConfig struct {
	Log Entries
	// Fits refuses a snapshot of another node, by its index, as a Store does whose log reaches
	// beyond it.
	Fits func(index uint64) error
	// HistoryBytes bounds the events kept in memory, Retained the states; zero fields take the
	// defaults.
	HistoryBytes int64
	Retained     state.RetainerConfig
	Logger       *slog.Logger
	Registerer   prometheus.Registerer
}

// NewReplica returns an empty replica.
func NewReplica(cfg ReplicaConfig) (*Replica, error) {
	s := &Store{logger: cfg.Logger, metrics: newMetrics(cfg.Registerer), life: lifecycle.New()}
	cfg.Retained.Registerer = cfg.Registerer
	retainer, err := state.NewRetainer(cfg.Retained)
	if err != nil {
		return nil, err
	}
	s.retained = read.NewRetained(retainer)
	s.replay = replay.New(cfg.Log, s.root, cfg.Logger)
	s.hub, err = history.New(history.Config{MaxBytes: cfg.HistoryBytes, Log: s.replay, Registerer: cfg.Registerer})
	if err != nil {
		return nil, err
	}
	s.machine = newMachine(s)
	s.machine.fits = cfg.Fits
	return &Replica{s}, nil
}

// Machine returns the state machine, for one goroutine.
func (r *Replica) Machine() raft.BatchingFSM { return r.store.machine }

// Started marks the restore of the node's first state as complete: further snapshots are another
// node's.
func (r *Replica) Started() { r.store.machine.started.Store(true) }

// Root returns the state as of the last applied batch.
func (r *Replica) Root() *state.Root { return r.store.root() }

// Watch is Store.Watch.
func (r *Replica) Watch(p state.Prefix, after uint64) *history.Cursor {
	return r.store.hub.Watch(p, after)
}

// Oldest returns the smallest position that the log on disk serves, and the largest number if it
// serves none.
func (r *Replica) Oldest() uint64 { return r.store.replay.Oldest() }

// Retained is Store.Retained.
func (r *Replica) Retained(index uint64) *state.Root { return r.store.Retained(index) }

// Prune drops retained states whose time is over, as a Store does every few seconds.
func (r *Replica) Prune() { r.store.retained.Prune(r.store.root(), time.Now()) }

// Write is a Create, an Update or a Delete.
type Write = write.Write

// Encode returns the log entry that a write proposes.
func Encode(w Write) ([]byte, error) { return write.Encode(w) }
