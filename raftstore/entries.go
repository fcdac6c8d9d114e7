package raftstore

import (
	"time"

	"quorate/raftstore/entries"
	"quorate/raftstore/snapshot"
)

// Positions are the indexes that describe this node's log; 0 if there is no such entry.
type Positions struct {
	Term        uint64
	First, Last uint64 // on disk
	Committed   uint64 // the last that this node knows to be committed
	Applied     uint64
	Snapshot    uint64 // of the newest snapshot
}

// Positions returns where this node's log stands. The indexes are read one after the other while
// the log goes on.
func (s *Store) Positions() Positions {
	p := Positions{
		Term: s.Term(), Applied: s.Applied(), Committed: s.raft.CommitIndex(), Last: s.LastIndex(), Snapshot: s.snapshotIndex.Load(),
	}
	if first, err := s.log.FirstIndex(); err == nil {
		p.First = first
	}
	return p
}

// Snapshot describes a snapshot on this node's disk.
type Snapshot struct {
	ID          string
	Index, Term uint64
	Bytes       int64     // as stored: compressed
	Time        time.Time // when it was begun
}

// Snapshots returns the snapshots on this node's disk, newest first.
func (s *Store) Snapshots() ([]Snapshot, error) {
	if err := s.life.Check(); err != nil {
		return nil, err
	}
	list, err := s.snapshots.List()
	if err != nil {
		return nil, err
	}
	all := make([]Snapshot, len(list))
	for i, meta := range list {
		all[i] = Snapshot{ID: meta.ID, Index: meta.Index, Term: meta.Term, Bytes: meta.Size, Time: snapshot.TimeOf(meta.ID)}
	}
	return all, nil
}

// Entries returns the entries of this node's log before an index, or the last ones if before is 0,
// newest first: at most limit, and fewer if these are large or if the log begins.
func (s *Store) Entries(before uint64, limit int) ([]entries.Entry, error) {
	if err := s.life.Check(); err != nil {
		return nil, err
	}
	return s.entries.Page(before, limit)
}

// Change returns an entry of this node's log with the objects before and after it. It returns
// *log.Truncated if the log no longer has the entry, and entries.ErrNoEntry if it does not have it
// yet.
func (s *Store) Change(index uint64) (*entries.Change, error) {
	if err := s.life.Check(); err != nil {
		return nil, err
	}
	return s.entries.Change(index)
}
