package log

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/hashicorp/raft"

	"quorate/raftstore/log/segment"
)

// ErrInDoubt reports a failed write after which the disk may or may not have the change, or has
// only a part of it, so that memory and disk may differ. The process must end. Until then the store
// refuses every further write.
var ErrInDoubt = errors.New("the outcome of a write to the disk is unknown; check the disk, then restart this node")

// OutOfSpace reports whether a write failed because the disk was full.
func OutOfSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// Footprint returns the number of bytes that an entry with n bytes of data takes in the log.
func Footprint(n int) int64 { return segment.FrameBytes(n) }

func footprintOf(entries []*raft.Log) (bytes int64) {
	for _, e := range entries {
		bytes += Footprint(len(e.Data) + len(e.Extensions))
	}
	return bytes
}

// Written returns the footprints of all entries appended since Open, and of those that Verify has
// read. It only rises.
func (s *Store) Written() int64 { return s.written.Load() }

// Allocate reserves the next file of the log, so that a leader can still append the few entries that
// it needs to lead and to serve reads when other files have filled the disk. It does nothing if it
// has been called before and that file is not in use. OutOfSpace recognizes the error of a full
// disk.
func (s *Store) Allocate() error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := s.writable(); err != nil {
		return err
	}
	if err := s.segments.Reserve(); err != nil {
		return fmt.Errorf("reserve space for log %s: %w", s.cfg.Dir, err)
	}
	return nil
}

// Stalled reports whether a running write has taken longer than Config.StallLimit.
func (s *Store) Stalled() bool { return s.watch.hasStalled() }

// failed returns the error to report for that of a write, nil if that is nil, and passes it to
// OnError. The caller holds writing.
func (s *Store) failed(err error) error {
	switch {
	case err == nil:
		return nil
	case isInDoubt(err):
		return s.stopWrites(err)
	default:
		s.cfg.OnError(err)
		return err
	}
}

// stopWrites records that err left the disk in doubt, so that later writes fail, and returns the
// error to report. The caller holds writing.
func (s *Store) stopWrites(err error) error {
	s.doubt = fmt.Errorf("%w: %w", ErrInDoubt, err)
	s.segments.Stop(s.doubt)
	s.cfg.OnError(s.doubt)
	return s.doubt
}
