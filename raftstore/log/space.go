package log

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"go.etcd.io/bbolt"
)

// headroomBytes is the space that Allocate reserves: enough for ten thousand of the small entries
// that a leader appends for itself.
const headroomBytes = 4 << 20

// ErrInDoubt reports a failed write after which the disk may or may not have the change, or has
// only a part of it, so that memory and disk may differ. The process must end. Until then the store
// refuses every further write.
var ErrInDoubt = errors.New("the outcome of a write to the disk is unknown; check the disk, then restart this node")

// OutOfSpace reports whether a write failed because the disk was full.
func OutOfSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) ||
		err != nil && strings.Contains(err.Error(), syscall.ENOSPC.Error()) // bolt does not wrap the error of growing its file
}

// Allocate reserves blocks of the file system for future entries, so that a leader can still append
// the few entries that it needs to lead and to serve reads when other files have filled the disk.
// It does nothing if the file system does not support it, or if at least half of the reserved space
// is left. OutOfSpace recognizes the error of a full disk.
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
		return fmt.Errorf("reserve space for log %s: %w", s.cfg.Path, err)
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.db == db { // otherwise a reset has replaced the file, which has no reserved blocks yet
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

// Stalled reports whether a running write has taken longer than Config.StallLimit.
func (s *Store) Stalled() bool { return s.watch.hasStalled() }

// writeError returns the error to report for a write transaction that returned err. If a read
// transaction does not see the write, the write did not happen. Otherwise, as after a failed sync,
// or if the file can't be read, the disk may have the write, and the error is ErrInDoubt.
// writeError passes the error to OnError.
func (s *Store) writeError(err error, id int) error {
	if err == nil {
		return nil
	}
	var have int
	seen := recoverCorrupt(s.cfg.Path, func() error {
		return s.db.View(func(tx *bbolt.Tx) error {
			have = tx.ID()
			return nil
		})
	})
	if seen != nil || id != 0 && have >= id {
		return s.stopWrites(errors.Join(err, seen))
	}
	s.cfg.OnError(err)
	return err
}

// stopWrites records that err left the disk in doubt, so that later writes fail, and returns the
// error to report. The caller holds writing.
func (s *Store) stopWrites(err error) error {
	s.doubt = fmt.Errorf("%w: %w", ErrInDoubt, err)
	s.cfg.OnError(s.doubt)
	return s.doubt
}
