package log

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"go.etcd.io/bbolt"
)

// headroomBytes is what Allocate sets aside: some ten thousand entries as small as those that a leader needs for itself.
const headroomBytes = 4 << 20

// ErrInDoubt: a write failed so late that it may stand on the disk all the same, or between the two halves of a change. What is in memory
// and what the next start reads may differ, so this process must not go on, and until it has ended nothing more is written.
var ErrInDoubt = errors.New("whether the write is on the disk is not known; check the disk, then restart this node")

// OutOfSpace reports whether a write failed for want of space on the disk.
func OutOfSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) ||
		err != nil && strings.Contains(err.Error(), syscall.ENOSPC.Error()) // bolt drops the error of growing its file
}

// Allocate has the file system set aside blocks for the entries to come, so that a disk that others fill up does not keep a leader from
// the few entries that it needs to lead, and to serve reads. Where the file system can't, or holds them already, nothing is done. The
// error is OutOfSpace when there is no room.
func (s *Store) Allocate() error {
	var db *bbolt.DB
	var end int64
	err := s.view(func(tx *bbolt.Tx) error {
		db, end = tx.DB(), tx.Size()
		return nil
	})
	if err != nil {
		return err
	}
	if end+headroomBytes/2 <= s.allocated.Load() {
		return nil
	}
	if err := s.allocate(end); err != nil {
		return fmt.Errorf("set aside space for log %s: %w", s.cfg.Path, err)
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.db == db { // or else a reset has replaced the file, which nothing is set aside for yet
		s.allocated.Store(end + headroomBytes)
	}
	return nil
}

func (s *Store) allocate(from int64) error {
	f, err := os.OpenFile(s.cfg.Path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(allocate(f, from, headroomBytes), f.Close())
}

// Stalled reports whether a write is under way that has taken longer than Config.StallLimit.
func (s *Store) Stalled() bool { return s.watch.stalling() }

// judge completes the error of a write transaction. One that can't be read back did not happen; one that can may or may not be on the
// disk, as after a sync that failed.
func (s *Store) judge(err error, id int) error {
	if err == nil {
		return nil
	}
	var have int
	seen := guard(s.cfg.Path, func() error {
		return s.db.View(func(tx *bbolt.Tx) error {
			have = tx.ID()
			return nil
		})
	})
	if seen != nil || id != 0 && have >= id {
		return s.end(errors.Join(err, seen))
	}
	s.cfg.OnError(err)
	return err
}

// end makes a failed write the last one. The caller holds writing.
func (s *Store) end(err error) error {
	s.doubt = fmt.Errorf("%w: %w", ErrInDoubt, err)
	s.cfg.OnError(s.doubt)
	return s.doubt
}
