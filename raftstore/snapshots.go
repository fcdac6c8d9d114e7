package raftstore

import (
	"context"
	"errors"
	"time"

	"github.com/hashicorp/raft"
)

// These constants determine when a snapshot is due. A restart replays about 200,000 entries per
// second after the newest snapshot, so it replays the entries of a snapshotPause at full load in
// well under a second. Raft trims only the log before a snapshot, so growth of the log by a
// fraction of its bound makes a snapshot due sooner. Writing a snapshot uses a core, so snapshots
// may take a twentieth of the time.
const (
	snapshotEntries  = 32 << 10
	snapshotGrowth   = 8 // divisor of the log's bound
	snapshotPause    = 5 * time.Second
	snapshotShare    = 20
	snapshotInterval = time.Second // time between checks whether a snapshot is due
	holdSnapshots    = 2           // with space for fewer snapshots, the log holds no entries for followers
)

// takeSnapshots writes a snapshot whenever one is due, until ctx ends.
func (s *Store) takeSnapshots(ctx context.Context) error {
	ticker := time.NewTicker(snapshotInterval)
	defer ticker.Stop()
	var last time.Time
	var took time.Duration
	var least int64 // fewest bytes of the log since the last snapshot
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
				s.logger.Warn("could not take a snapshot", "error", err)
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

// takeSnapshot makes Raft write a snapshot and trim the log before it. If the disk has no space for
// another snapshot after this one, the log first gives up its holds, so that this snapshot can trim
// the log.
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

// hasSpaceFor reports whether the given number of snapshots, each as large as the last one, fit on
// the disk without using the reserve. On a disk that is too small, an unfinished snapshot would
// temporarily take the space that the log needs.
func (s *Store) hasSpaceFor(snapshots int64) bool {
	size := int64(s.root().Bytes())
	if list, err := s.snapshots.List(); err == nil && len(list) > 0 {
		size = list[0].Size
	}
	return s.space.HasFor(snapshots, size)
}

// errUncommitted ends a node that must remove its log before it can install a snapshot.
var errUncommitted = errors.New("this node's log has uncommitted entries beyond a snapshot that the leader sent " +
	"(hashicorp/raft#697); restart this node, which then starts from that snapshot")

// fits returns an error for a leader's snapshot if the log has entries beyond the snapshot's index.
// Such entries conflict with the leader's log, because otherwise the leader would not have sent a
// snapshot. The library removes them from the log, but continues to assume that the removed entry
// is the last one: it would refuse every later append, receive the snapshot again and again, and
// could vote for a candidate that lacks the snapshot's entries. The snapshot is on disk, so the
// node ends, and its restart removes the log.
func (s *Store) fits(index uint64) error {
	if s.raft.State() == raft.Leader || s.raft.LastIndex() <= index {
		return nil
	}
	s.life.Fail(errUncommitted)
	return errUncommitted
}
