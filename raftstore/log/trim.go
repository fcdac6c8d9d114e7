package log

import (
	"bytes"
	"fmt"
	"time"

	"go.etcd.io/bbolt"
)

// Bounds of one transaction of a trim. Appends wait for it.
const (
	trimEntries = 512
	trimBytes   = 4 << 20
)

// DeleteRange removes the entries from low to high, inclusive. If they are a prefix, which Raft no
// longer needs after a snapshot, it removes only those that exceed MaxBytes or MaxAge and that no
// Hold keeps, and never the entry at high. That may be the entry of the newest snapshot, whose term
// Raft compares when it sends the entries that follow.
//
// If they are a suffix, which conflicts with the leader's log, or the whole log, which a snapshot
// replaces, DeleteRange removes all of them. Any other range is an error, because it would leave a
// gap. Raft must keep at least one trailing entry, because DeleteRange takes the removal of the
// last entry for the removal of the whole log.
func (s *Store) DeleteRange(low, high uint64) error {
	have := *s.span.Load()
	low, high = max(low, have.first), min(high, have.last)
	switch {
	case have.empty() || low > high:
		return nil
	case low > have.first && high < have.last:
		return fmt.Errorf("delete %d to %d from log %s: it would leave a gap", low, high, s.cfg.Path)
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
	have := *s.span.Load()
	if index <= have.first {
		return s.reset()
	}
	// gofail: var logBeforeCut struct{}
	s.cache.truncate(index) // first: the cache must not serve an entry that may be gone
	if err := s.remove(index, have.last); err != nil {
		return err
	}
	// gofail: var logAfterCut struct{}
	s.span.Store(&span{first: have.first, last: index - 1})
	return nil
}

// remove deletes entries in one transaction. The caller holds writing, and updates span afterwards.
func (s *Store) remove(low, high uint64) error {
	from, to := indexKey(low), indexKey(high)
	err := s.update(func(tx *bbolt.Tx) error {
		c := tx.Bucket(logsBucket()).Cursor()
		// Each step seeks again: after Delete, bolt's Next may skip an entry at the end of a page.
		for k, _ := c.Seek(from[:]); k != nil && bytes.Compare(k, to[:]) <= 0; k, _ = c.Seek(from[:]) {
			if err := c.Delete(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("delete %d to %d from log %s: %w", low, high, s.cfg.Path, err)
	}
	return nil
}

// trim removes entries from the beginning, at most up to limit, while the log uses more than
// maxBytes or they exceed MaxAge.
func (s *Store) trim(limit uint64, maxBytes int64) error {
	before := s.span.Load().first
	for {
		upTo, err := s.excess(limit, maxBytes)
		if err != nil {
			return fmt.Errorf("trim log %s: %w", s.cfg.Path, err)
		}
		if upTo == 0 {
			break
		}
		removed, err := s.trimUpTo(upTo)
		if err != nil {
			return err
		}
		if !removed {
			break
		}
	}
	if after := s.span.Load().first; after > before {
		s.logger.Info("log trimmed", "from", before, "to", after-1)
	}
	return nil
}

// excess returns the last entry that the next transaction of a trim should remove, 0 if there is
// none. It reads the entries, and so brings their pages, the oldest of the file, into memory before
// the trim takes the lock that appends need.
func (s *Store) excess(limit uint64, maxBytes int64) (upTo uint64, err error) {
	used, err := s.used()
	if err != nil {
		return 0, err
	}
	oldest := time.Now().Add(-s.cfg.MaxAge)
	first := s.span.Load().first
	limit = s.removableUpTo(first, limit, used)
	if limit < first {
		return 0, nil
	}
	err = s.view(func(tx *bbolt.Tx) error {
		size := 0
		return s.scan(tx, first-1, limit, func(index uint64, value []byte) bool {
			age := s.classifyAge(oldest, index, value)
			if age == young && used-int64(size) <= maxBytes {
				return false
			}
			if age != undated || used > maxBytes {
				upTo = index
			}
			size += len(value)
			return size < trimBytes && index-first < trimEntries
		})
	})
	return upTo, err
}

// ageClass says what Config.MaxAge requires for an entry.
type ageClass int

const (
	young ageClass = iota
	old
	undated // no time, like the entries of a bootstrap: removed together with later entries
)

func (s *Store) classifyAge(oldest time.Time, index uint64, value []byte) ageClass {
	rec, err := parseRecord(value, index)
	var at time.Time
	if err == nil {
		at, err = rec.time()
	}
	switch {
	case err != nil:
		// History can't read past a damaged entry. Treat it as old, so that it is removed with all
		// entries before it.
		s.logger.Warn("trimming a damaged log entry", "index", index, "error", err)
		return old
	case at.IsZero():
		return undated
	case at.After(oldest):
		return young
	default:
		return old
	}
}

// trimUpTo removes the entries up to index and reports whether it did. It does not if Raft has
// removed them already or a Hold has begun.
func (s *Store) trimUpTo(index uint64) (bool, error) {
	defer s.watch.begin("trim").end()
	s.writing.Lock()
	defer s.writing.Unlock()
	have := *s.span.Load()
	if index < have.first || index >= have.last {
		return false, nil
	}
	s.holds.trimming.Lock()
	defer s.holds.trimming.Unlock()
	if s.holds.before(index) < index {
		return false, nil
	}
	// gofail: var logBeforeTrim struct{}
	if err := s.remove(have.first, index); err != nil {
		return false, err
	}
	// gofail: var logAfterTrim struct{}
	s.span.Store(&span{first: index + 1, last: have.last})
	s.metrics.trimmed.Add(float64(index + 1 - have.first))
	return true, nil
}

// Size returns the number of used bytes of the file, 0 for a closed log, and MaxBytes, the bound
// above which a trim removes old entries.
func (s *Store) Size() (used, bound int64) {
	used, err := s.used()
	if err != nil {
		return 0, s.cfg.MaxBytes
	}
	return used, s.cfg.MaxBytes
}

// used returns the number of used bytes of the file. bolt reuses free space, but never returns it
// to the file system; Reclaim does.
func (s *Store) used() (bytes int64, err error) {
	bytes, _, err = s.usage()
	return bytes, err
}
