package raftstore

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"

	"quorate/raftstore/applier"
	"quorate/raftstore/checksum"
	"quorate/raftstore/direct"
	"quorate/raftstore/diskguard"
	"quorate/raftstore/entries"
	"quorate/raftstore/forward"
	"quorate/raftstore/history"
	"quorate/raftstore/leadership"
	"quorate/raftstore/lifecycle"
	"quorate/raftstore/log"
	"quorate/raftstore/membership"
	"quorate/raftstore/read"
	"quorate/raftstore/readindex"
	"quorate/raftstore/replay"
	"quorate/raftstore/snapshot"
	"quorate/raftstore/snapshotrpc"
	"quorate/raftstore/state"
	"quorate/raftstore/transport"
	"quorate/raftstore/write"
)

// Store is this node's copy of the replicated store. Open returns it and Run drives it; all other
// methods are safe for concurrent use.
type Store struct {
	cfg    Config
	logger *slog.Logger

	disk

	alarms   *diskguard.Alarms
	space    *diskguard.Space
	stall    *diskguard.Stall
	shortage *diskguard.Shortage

	applier  *applier.Applier
	raft     *raft.Raft
	applied  readindex.Applied
	retained *read.Retained

	writer     *write.Writer
	reader     *read.Reader
	pins       *read.Pins
	pages      *read.Pages
	caughtUp   atomic.Bool
	checksums  *checksum.Comparer
	leaders    *leadership.Tracker
	leadership *leadership.Leadership
	members    *membership.Members
	transport  *transport.Raft
	peers      *forward.Client
	forwarded  *forward.Server // for the writes of peers
	direct     *direct.Server  // serves the frequent requests of other nodes
	receiver   *snapshotrpc.Receiver

	life     *lifecycle.Lifecycle
	files    sync.Once
	filesErr error
}

// disk groups the parts of the store that use files.
type disk struct {
	log       *log.Store
	snapshots *snapshot.Store
	hub       *history.Hub
	replay    *replay.Log
	entries   *entries.Reader

	snapshotIndex atomic.Uint64 // index of the newest snapshot
	snapshotting  snapshotting
	joiners       *membership.Joiners
}

// root returns the state as of the last applied batch.
func (s *Store) root() *state.Root { return s.applier.Root() }

// Applied returns the index of the last entry that this node has applied.
func (s *Store) Applied() uint64 { return s.applied.Index() }

// LastIndex returns the index of the last entry in this node's log or snapshot, committed or not.
func (s *Store) LastIndex() uint64 { return s.raft.LastIndex() }

// Term returns the term that this node is in.
func (s *Store) Term() uint64 { return s.raft.CurrentTerm() }

// Leader returns the name of the leader, as far as this node knows.
func (s *Store) Leader() (name string, ok bool) {
	name, _, ok = s.members.Leader()
	return name, ok
}

// IsLeader reports whether this node believes that it leads. Only a quorum can confirm that.
func (s *Store) IsLeader() bool { return s.leaders.IsLeader() }

// Retain retains a state on this node, within bounds on number, age and memory.
func (s *Store) Retain(root *state.Root) { s.retained.Retain(root, time.Now()) }

// Retained returns the state of an index if this node still retains it, nil otherwise.
func (s *Store) Retained(index uint64) *state.Root { return s.retained.Get(index) }
