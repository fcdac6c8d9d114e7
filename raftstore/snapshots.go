package raftstore

import (
	"context"
	"errors"
	"time"

	"github.com/hashicorp/raft"
)

// When a snapshot is due. A restart replays the entries after the newest snapshot, some 200,000 a
// second, so those of a snapshotPause at full load take well under a second. Raft trims the log
// behind a snapshot only, so a log that has grown by a fraction of its bound makes one due sooner.
// Writing a snapshot takes a core, so snapshots may take a twentieth of the time.
const (
	snapshotEntries  = 32 << 10
	snapshotGrowth   = 8 // the fraction of the log's bound
	snapshotPause    = 5 * time.Second
	snapshotShare    = 20
	snapshotInterval = time.Second // between checks whether one is due
	holdSnapshots    = 2           // with space for fewer snapshots than this, the log holds nothing for followers
)

// takeSnapshots writes snapshots when they are due, until ctx ends.
func (s *Store) takeSnapshots(ctx context.Context) error {
	ticker := time.NewTicker(snapshotInterval)
	defer ticker.Stop()
	var last time.Time
	var took time.Duration
	var least int64 // bytes of the log, since the last snapshot
	for {
		select {
		case <-ctx.Done():
			return nil
		case now := <-ticker.C:
			used, bound := s.log.Size()
			least = min(least, used) // an installed snapshot removes the log
			grown := used > least+bound/snapshotGrowth
			if now.Sub(last) < max(snapshotPause, snapshotShare*took) || !s.snapshotDue(grown) || !s.hasSpaceFor(1) {
				continue
			}
			err := s.takeSnapshot()
			if err != nil && !errors.Is(err, raft.ErrNothingNewToSnapshot) && ctx.Err() == nil {
				s.logger.Warn("snapshot not taken", "error", err)
			}
			last, took = time.Now(), time.Since(now)
			if err == nil {
				least, _ = s.log.Size()
			}
		}
	}
}

func (s *Store) snapshotDue(logHasGrown bool) bool {
	applied, newest := s.Applied(), s.snapshotIndex.Load()
	return applied >= newest+snapshotEntries || logHasGrown && applied > newest
}

// takeSnapshot makes Raft write a snapshot and trim the log behind it. The log gives up what it
// holds for followers when the disk lacks space for the next snapshot too, which must be able to
// trim it.
func (s *Store) takeSnapshot() error {
	s.joiners.Expire(time.Now())
	if !s.hasSpaceFor(holdSnapshots) {
		s.log.GiveUpHolds()
	}
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

// hasSpaceFor reports whether so many snapshots as large as the last leave the reserve of the disk
// alone. Writing a snapshot to a disk that is too small for it would temporarily take the space of
// the log.
func (s *Store) hasSpaceFor(snapshots int64) bool {
	size := int64(s.root().Bytes())
	if list, err := s.snapshots.List(); err == nil && len(list) > 0 {
		size = list[0].Size
	}
	return s.space.HasFor(snapshots, size)
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
