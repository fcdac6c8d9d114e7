package raftstore

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"
)

// These constants determine when a snapshot is due. It is due once snapshotEntries entries have
// been applied since the newest one, because a restart replays them, or once the log has grown by
// its bound divided by snapshotGrowth, because Raft trims the log only up to a snapshot. Writing a
// snapshot takes a core, so at least snapshotPause, and at least snapshotShare times the work of the
// previous one, its duration without rests, must have passed since the previous one ended. None is
// due in the first replayLimit of a start while it replays the log.
//
// While the disk is short of space, a snapshot is due once the log has grown by the reserve divided
// by reclaimGrowth, because the log is then trimmed up to the snapshot.
// The pauses are shorter, and below the reserve, where writes are refused and deletions wait for
// space, there are none.
const (
	snapshotEntries  = 64 << 10
	snapshotGrowth   = 8 // divisor of the log's bound
	snapshotPause    = 5 * time.Second
	snapshotShare    = 20
	replayLimit      = time.Minute
	snapshotInterval = 250 * time.Millisecond // time between checks whether a snapshot is due, while entries come
	idleInterval     = time.Second            // the same time while none come
	holdSnapshots    = 2                      // with space for fewer snapshots, the log holds no entries for followers
	reclaimGrowth    = 8                      // divisor of the reserve
	reclaimPause     = time.Second
	reclaimShare     = 4
	snapshotExtra    = 64 << 10 // bytes of a snapshot besides its objects
)

// snapshotting is what the store knows of its snapshots.
type snapshotting struct {
	newest atomic.Pointer[newestSnapshot] // nil before the first
	taking sync.Mutex                     // held while one is taken
	kept   atomic.Int64                   // bytes of the log that the last Reclaim left
	found  uint64                         // last entry of the log at the start
}

type newestSnapshot struct {
	size    int64 // bytes
	written int64 // bytes that the log had written when it was taken
}

// takeSnapshots writes a snapshot whenever one is due, until ctx ends.
func (s *Store) takeSnapshots(ctx context.Context) error {
	next := time.NewTimer(snapshotInterval)
	defer next.Stop()
	var last, failed time.Time // when the last snapshot ended, and the last that failed
	var work time.Duration     // of the last one
	var applied uint64         // at the last check
	started := time.Now()
	for {
		select {
		case <-ctx.Done():
			return nil
		case now := <-next.C:
			before, interval := applied, snapshotInterval
			if applied = s.Applied(); applied == before && !s.space.IsShort() {
				interval = idleInterval
			}
			next.Reset(interval)
			pause := now.Sub(last)
			due := pause >= max(snapshotPause, snapshotShare*work) && s.snapshotDue() && (s.hasReplayed() || now.Sub(started) > replayLimit) ||
				s.reclaimDue() && (s.space.IsLow() || pause >= max(reclaimPause, reclaimShare*work))
			if !due || now.Sub(failed) < snapshotPause {
				continue
			}
			rested := s.applier.Rested()
			err := s.takeSnapshot()
			if err != nil && !errors.Is(err, raft.ErrNothingNewToSnapshot) && s.life.Check() == nil {
				s.logger.Warn("could not take a snapshot", "error", err)
				failed = time.Now()
			}
			last, work = time.Now(), time.Since(now)-(s.applier.Rested()-rested)
		}
	}
}

// hasReplayed reports whether this node has applied the entries that its log had when it started,
// or is ready without them. Before that, a snapshot would slow the start and lack what the start
// is about to apply.
func (s *Store) hasReplayed() bool {
	return s.Applied() >= s.snapshotting.found || s.Ready() == nil
}

func (s *Store) snapshotDue() bool {
	applied, newest := s.Applied(), s.snapshotIndex.Load()
	_, bound := s.log.Size()
	return applied >= newest+snapshotEntries || applied > newest && s.grown() > bound/snapshotGrowth
}

// grown returns how many bytes of entries the log has got since the newest snapshot.
func (s *Store) grown() int64 {
	if newest := s.snapshotting.newest.Load(); newest != nil {
		return s.log.Written() - newest.written
	}
	return s.log.Written()
}

// reclaimDue reports whether the disk is short of space, and a snapshot would give some back.
func (s *Store) reclaimDue() bool {
	if !s.space.IsShort() {
		return false
	}
	used, _ := s.log.Size()
	replaced := used - s.snapshotting.kept.Load()
	if list, err := s.snapshots.List(); err == nil && len(list) > 1 {
		for _, older := range list[1:] {
			replaced += older.Size
		}
	}
	return replaced >= s.space.Reserve()/reclaimGrowth
}

// takeSnapshot makes Raft write a snapshot and trim the log up to it. If the disk has space for
// fewer than holdSnapshots snapshots, the log first gives up its holds, so that more of it can be
// trimmed. If the disk is short of space, takeSnapshot also removes what the snapshot replaces: the
// older snapshots, and nearly all of the log.
func (s *Store) takeSnapshot() error {
	s.snapshotting.taking.Lock()
	defer s.snapshotting.taking.Unlock()
	s.joiners.Expire(time.Now())
	if !s.space.HasFor(holdSnapshots) {
		s.log.GiveUpHolds()
	}
	short := s.space.IsShort()
	if short {
		if err := s.snapshots.KeepNewest(); err != nil {
			s.logger.Warn("could not remove older snapshots", "error", err)
		}
	}
	if err := s.space.FitsNext(); err != nil {
		return err // an unfinished snapshot would take the space that the log needs
	}
	written := s.log.Written()
	err := s.raft.Snapshot().Error()
	if closed := s.life.Check(); err != nil && closed != nil {
		return closed // the library's error does not wrap it
	}
	if err == nil {
		err = s.recordSnapshot(written)
	}
	if (short || s.space.IsShort()) && (err == nil || errors.Is(err, raft.ErrNothingNewToSnapshot)) {
		err = errors.Join(err, s.reclaim())
	}
	return err
}

// recordSnapshot records the newest snapshot, taken after the log had written so many bytes.
func (s *Store) recordSnapshot(written int64) error {
	list, err := s.snapshots.List()
	if err != nil || len(list) == 0 {
		return err
	}
	s.snapshotIndex.Store(list[0].Index)
	s.snapshotting.newest.Store(&newestSnapshot{size: list[0].Size, written: written})
	return nil
}

// reclaim removes what the newest snapshot replaces, and measures the disk again.
func (s *Store) reclaim() error {
	defer s.space.Remeasure()
	if err := s.snapshots.KeepNewest(); err != nil {
		return err // the older snapshot and the log are still needed
	}
	err := s.log.Reclaim(s.snapshotIndex.Load())
	used, _ := s.log.Size()
	s.snapshotting.kept.Store(used)
	return err
}

// nextSnapshot returns how many bytes the next snapshot takes at most. Objects that the newest one
// has take as much as there, and the entries since then no more than in the log. Without a
// snapshot, objects take no more than in memory.
func (s *Store) nextSnapshot() int64 {
	bound := int64(s.root().Bytes())
	if newest := s.snapshotting.newest.Load(); newest != nil {
		bound = min(bound, newest.size+s.grown())
	}
	return bound + snapshotExtra
}

// installed records that a snapshot of the leader has replaced the state and the log.
func (s *Store) installed(index uint64) {
	s.snapshotIndex.Store(index)
	s.snapshotting.kept.Store(0)
	if err := s.recordSnapshot(s.log.Written()); err != nil {
		s.logger.Warn("size of the installed snapshot unknown", "index", index, "error", err)
	}
}

// errUncommitted ends a node that must remove its log before it can install a snapshot.
var errUncommitted = errors.New("this node's log has uncommitted entries beyond a snapshot that the leader sent " +
	"(hashicorp/raft#697); restart this node, which then starts from that snapshot")

// fits returns an error for a snapshot from the leader if this node's log has entries beyond the
// snapshot's index. These entries conflict with the leader's log, because otherwise the leader
// would not have sent a snapshot. If the snapshot were installed, the library would remove them but
// still take the last of them for the end of the log: it would refuse every later append, receive
// the snapshot again and again, and could vote for a candidate that lacks the snapshot's entries.
// The snapshot is on disk by now, so fits ends the node, and its next start removes the log. fits
// accepts any snapshot while this node leads: only raft.Restore, which the store does not use,
// would make a leader restore one.
func (s *Store) fits(index uint64) error {
	if s.raft.State() == raft.Leader || s.raft.LastIndex() <= index {
		return nil
	}
	s.life.Fail(errUncommitted)
	return errUncommitted
}
