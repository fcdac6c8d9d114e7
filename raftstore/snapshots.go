package raftstore

import (
	"context"
	"errors"
	"time"

	"github.com/hashicorp/raft"
)

// When a snapshot is due. A restart replays what came after the newest: at some 200,000 entries a second, so the entries of a
// snapshotPause at full load take well under a second. Writing one costs a core for its time, so it may take a twentieth of it.
const (
	snapshotEntries  = 32 << 10
	snapshotPause    = 5 * time.Second
	snapshotShare    = 20
	snapshotInterval = time.Second // how often it is looked whether one is due
)

// takeSnapshots writes snapshots when they are due, until ctx ends.
func (s *Store) takeSnapshots(ctx context.Context) error {
	ticker := time.NewTicker(snapshotInterval)
	defer ticker.Stop()
	var last time.Time
	var took time.Duration
	for {
		select {
		case <-ctx.Done():
			return nil
		case now := <-ticker.C:
			if now.Sub(last) < max(snapshotPause, snapshotShare*took) || !s.snapshotDue() || !s.roomForSnapshot() {
				continue
			}
			err := s.takeSnapshot()
			if err != nil && !errors.Is(err, raft.ErrNothingNewToSnapshot) && ctx.Err() == nil {
				s.logger.Warn("snapshot not taken", "error", err)
			}
			last, took = time.Now(), time.Since(now)
		}
	}
}

func (s *Store) snapshotDue() bool {
	return s.Applied() >= s.snapshotIndex.Load()+snapshotEntries
}

// takeSnapshot has Raft write a snapshot, and trim the log behind it.
func (s *Store) takeSnapshot() error {
	if err := s.raft.Snapshot().Error(); err != nil {
		return err
	}
	list, err := s.snapshots.List()
	if err != nil {
		return err
	}
	if len(list) > 0 {
		s.snapshotIndex.Store(list[0].Index)
	}
	return nil
}
