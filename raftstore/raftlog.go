package raftstore

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/hashicorp/raft"

	"quorate/raftstore/log"
	"quorate/raftstore/replay"
)

// raftLog is the log as Raft reads it. It reports a damaged entry that a snapshot covers as
// trimmed, so that Raft sends the snapshot to a follower that needs the entry.
type raftLog struct {
	*log.Store
	snapshotIndex *atomic.Uint64 // of the newest snapshot
	replay        *replay.Log
	startScan     startScan
}

// newRaftLog returns the log for a start of Raft, once the log has been verified from the newest
// snapshot on.
func newRaftLog(l *log.Store, snapshotIndex *atomic.Uint64, replay *replay.Log) (*raftLog, error) {
	last, err := l.LastIndex()
	if err != nil {
		return nil, fmt.Errorf("read range of log: %w", err)
	}
	r := &raftLog{Store: l, snapshotIndex: snapshotIndex, replay: replay}
	r.startScan.last, r.startScan.others = last, l.Others()
	r.startScan.next.Store(snapshotIndex.Load() + 1)
	return r, nil
}

// GetLog implements raft.LogStore.
func (r *raftLog) GetLog(index uint64, entry *raft.Log) error {
	if r.startScan.skips(index) {
		*entry = raft.Log{Index: index, Type: raft.LogCommand}
		return nil
	}
	err := r.Store.GetLog(index, entry)
	var damaged *log.Corrupt
	if errors.As(err, &damaged) && index <= r.snapshotIndex.Load() {
		r.replay.DropDamaged(index)
		return raft.ErrLogNotFound
	}
	return err
}

// startScan is the library's search for changes of the configuration: before it starts a goroutine,
// NewRaft reads all entries after the newest snapshot, in order, and uses those of other types than
// commands. Verify has just read them all. So the search gets commands without their data, which
// takes a tenth of the time.
//
// A later version of the library that did not search would get such a command when it wants to apply
// or send one. TestTheLibrarySearchesTheLog fails then.
type startScan struct {
	next   atomic.Uint64 // index that the search reads next, 0 once it has ended
	last   uint64        // of the log
	others []uint64      // entries that are no commands
}

// skips reports whether the search now reads the command at index.
func (s *startScan) skips(index uint64) bool {
	if next := s.next.Load(); next == 0 || index != next {
		return false
	}
	if index >= s.last {
		s.next.Store(0)
		return false
	}
	s.next.Store(index + 1)
	_, is := slices.BinarySearch(s.others, index)
	return !is
}
