package log

import (
	"fmt"
	"time"

	"quorate/raftstore/log/segment"
)

// reclaimKeepBytes is about what Reclaim keeps of the log before the snapshot, so that a follower
// that is a few entries behind needs no snapshot.
const reclaimKeepBytes = 1 << 20

// DeleteRange removes the entries from low to high, inclusive. If they are a prefix, which Raft no
// longer needs after a snapshot, it removes only whole files of entries that exceed MaxBytes or
// MaxAge and that no Hold keeps, and never the entry at high. That may be the entry of the newest
// snapshot, whose term Raft compares when it sends the entries that follow.
//
// If they are a suffix, which conflicts with the leader's log, or the whole log, which a snapshot
// replaces, DeleteRange removes all of them. Any other range is an error, because it would leave a
// gap. Raft must keep at least one trailing entry, because DeleteRange takes the removal of the
// last entry for the removal of the whole log.
func (s *Store) DeleteRange(low, high uint64) error {
	if s.closed.Load() {
		return ErrClosed
	}
	have := s.span()
	low, high = max(low, have.first), min(high, have.last)
	switch {
	case have.empty() || low > high:
		return nil
	case low > have.first && high < have.last:
		return fmt.Errorf("delete %d to %d from log %s: it would leave a gap", low, high, s.cfg.Dir)
	case low == have.first && high < have.last:
		return s.trim(high-1, s.cfg.MaxBytes)
	case low > have.first:
		if err := s.truncate(low); err != nil {
			return err
		}
		s.recordTruncation(high)
		return nil
	default:
		return s.removeAll(have.last)
	}
}

// removeAll removes the whole log for Raft and calls Config.OnReset.
func (s *Store) removeAll(last uint64) error {
	if err := s.truncate(0); err != nil {
		return err
	}
	s.recordTruncation(last)
	s.cfg.OnReset(last)
	return nil
}

// recordTruncation records the last entry that Raft removed. If an append at or below that index
// fails, Raft and the log disagree. After a snapshot the next entry has a higher index.
func (s *Store) recordTruncation(last uint64) {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.truncatedLast = last
}

// truncate removes all entries from index on.
func (s *Store) truncate(index uint64) error {
	defer s.watch.begin("truncate").end()
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := s.writable(); err != nil {
		return fmt.Errorf("truncate log %s: %w", s.cfg.Dir, err)
	}
	if index <= s.span().first {
		return s.reset()
	}
	// gofail: var logBeforeCut struct{}
	s.cache.truncate(index) // first: the cache must not serve an entry that may be gone
	err := s.failed(s.segments.Truncate(index))
	s.ahead.clear() // afterwards: until then reads may find the entries
	if err != nil {
		return fmt.Errorf("truncate log %s: %w", s.cfg.Dir, err)
	}
	// gofail: var logAfterCut struct{}
	return nil
}

// reset removes all entries. The caller holds writing.
func (s *Store) reset() error {
	s.cache.clear()
	// gofail: var logBeforeReset struct{}
	err := s.failed(s.segments.Reset())
	s.ahead.clear()
	if err != nil {
		return fmt.Errorf("remove all of log %s: %w", s.cfg.Dir, err)
	}
	// gofail: var logAfterReset struct{}
	s.metrics.resets.Inc()
	return nil
}

// trim removes the oldest files of the log, as long as all of their entries are at most limit, while
// the log has more than maxBytes or the entries exceed MaxAge.
func (s *Store) trim(limit uint64, maxBytes int64) error {
	before := s.span().first
	for {
		oldest, ok := s.segments.Oldest()
		if !ok || oldest.Last > limit || !s.exceeds(oldest, maxBytes) || !s.releasable(oldest.Last) {
			break
		}
		removed, err := s.trimOldest(oldest)
		if err != nil {
			return fmt.Errorf("trim log %s: %w", s.cfg.Dir, err)
		}
		if !removed {
			break
		}
	}
	if after := s.span().first; after > before {
		s.logger.Info("log trimmed", "from", before, "to", after-1)
	}
	return nil
}

// exceeds reports whether the log has more than maxBytes, or the entries of its oldest file exceed
// MaxAge.
func (s *Store) exceeds(oldest segment.Oldest, maxBytes int64) bool {
	used, _ := s.segments.Bytes()
	return used > maxBytes || !oldest.Newest.IsZero() && time.Since(oldest.Newest) > s.cfg.MaxAge
}

// trimOldest removes the oldest file and reports whether it did. It does not if Raft has removed it
// already or a Hold has begun.
func (s *Store) trimOldest(oldest segment.Oldest) (bool, error) {
	defer s.watch.begin("trim").end()
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := s.writable(); err != nil {
		return false, err
	}
	s.holds.trimming.Lock()
	defer s.holds.trimming.Unlock()
	now, ok := s.segments.Oldest()
	if !ok || now.Last != oldest.Last || s.holds.before(oldest.Last) < oldest.Last {
		return false, nil
	}
	first := s.span().first
	// gofail: var logBeforeTrim struct{}
	if err := s.failed(s.segments.DropOldest()); err != nil {
		return false, err
	}
	// gofail: var logAfterTrim struct{}
	s.metrics.trimmed.Add(float64(oldest.Last + 1 - first))
	return true, nil
}

// Reclaim makes the log small, for a disk that is short of space. It removes the files whose entries
// are all before index, which must be that of a snapshot, except for about the last
// reclaimKeepBytes of them and those of holds, whatever MaxBytes and MaxAge are.
func (s *Store) Reclaim(index uint64) error {
	if have := s.span(); !have.empty() && min(index, have.last) > have.first {
		if err := s.trim(min(index, have.last)-1, reclaimKeepBytes); err != nil {
			return err
		}
	}
	return s.Allocate()
}

// Size returns the bytes of all entries on disk, and MaxBytes, the bound above which a trim removes
// old entries.
func (s *Store) Size() (used, bound int64) {
	used, _ = s.segments.Bytes()
	return used, s.cfg.MaxBytes
}
