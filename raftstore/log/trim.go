package log

import (
	"bytes"
	"fmt"
	"time"

	"go.etcd.io/bbolt"
)

// Bounds of one transaction of a trim, for which appends wait.
const (
	trimEntries = 512
	trimBytes   = 4 << 20
)

// DeleteRange removes the entries from low to high, including both. Of a prefix, which Raft no
// longer needs, it removes only the entries beyond MaxBytes or MaxAge that no Hold keeps, and never
// high itself: high may be the entry of the newest snapshot, which Raft compares when it sends the
// entries after it. It removes any other range exactly: a suffix that conflicts with the leader's,
// or the whole log after the installation of a snapshot. Raft must keep at least one trailing
// entry, or compaction would look like the latter.
func (s *Store) DeleteRange(low, high uint64) error {
	have := *s.span.Load()
	low, high = max(low, have.first), min(high, have.last)
	switch {
	case have.empty() || low > high:
		return nil
	case low > have.first && high < have.last:
		return fmt.Errorf("delete %d to %d from log %s: it would leave a gap", low, high, s.cfg.Path)
	case low == have.first && high < have.last:
		return s.trim(high - 1)
	case low > have.first:
		if err := s.cut(low); err != nil {
			return err
		}
		s.awaitReplacement(high)
		return nil
	default:
		return s.removeAll(have.last)
	}
}

// removeAll removes the whole log, for Raft; see Config.OnReset.
func (s *Store) removeAll(last uint64) error {
	if err := s.cut(0); err != nil {
		return err
	}
	s.awaitReplacement(last)
	s.cfg.OnReset(last)
	return nil
}

// awaitReplacement records the last entry that Raft removed. After a snapshot no entry replaces it:
// the next one has a higher index.
func (s *Store) awaitReplacement(last uint64) {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.cutTo = last
}

// cut removes all entries from index on.
func (s *Store) cut(index uint64) error {
	defer s.watch.begin("truncate").end()
	s.writing.Lock()
	defer s.writing.Unlock()
	have := *s.span.Load()
	if index <= have.first {
		return s.reset()
	}
	// gofail: var logBeforeCut struct{}
	s.cache.truncate(index) // first: an entry that may be gone must not be served
	if err := s.remove(index, have.last); err != nil {
		return err
	}
	// gofail: var logAfterCut struct{}
	s.span.Store(&span{first: have.first, last: index - 1})
	return nil
}

// remove deletes entries in one transaction. The caller holds writing and then corrects span.
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

// trim removes entries from the beginning, up to limit, while the log exceeds its bounds.
func (s *Store) trim(limit uint64) error {
	before := s.span.Load().first
	for {
		upTo, err := s.excess(limit)
		if err != nil {
			return fmt.Errorf("trim log %s: %w", s.cfg.Path, err)
		}
		if upTo == 0 {
			break
		}
		removed, err := s.trimTo(upTo)
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

// excess returns the last entry that one transaction should remove, 0 for none. Reading the entries
// here also brings their pages, the oldest of the file, into memory before the lock that appends
// need is taken.
func (s *Store) excess(limit uint64) (upTo uint64, err error) {
	used, err := s.used()
	if err != nil {
		return 0, err
	}
	oldest := time.Now().Add(-s.cfg.MaxAge)
	first := s.span.Load().first
	limit = s.unheld(first, limit, used)
	if limit < first {
		return 0, nil
	}
	err = s.view(func(tx *bbolt.Tx) error {
		size := 0
		return s.scan(tx, first-1, limit, func(index uint64, value []byte) bool {
			age := s.ageBy(oldest, index, value)
			if age == kept && used <= s.cfg.MaxBytes {
				return false
			}
			if age != undated || used > s.cfg.MaxBytes {
				upTo = index
			}
			size += len(value)
			return size < trimBytes && index-first < trimEntries
		})
	})
	return upTo, err
}

// ageing is the decision of the age limit about an entry.
type ageing int

const (
	kept ageing = iota
	old
	undated // removed with later entries: a bootstrap's entries have no time
)

func (s *Store) ageBy(oldest time.Time, index uint64, value []byte) ageing {
	rec, err := parseRecord(value, index)
	var at time.Time
	if err == nil {
		at, err = rec.time()
	}
	switch {
	case err != nil:
		// All entries before it must be removed, so history can't use it: it would only fail each
		// read.
		s.logger.Warn("trimming a damaged log entry", "index", index, "error", err)
		return old
	case at.IsZero():
		return undated
	case at.After(oldest):
		return kept
	default:
		return old
	}
}

// trimTo removes the entries up to index and reports whether it did: Raft may have removed them
// already, or a Hold may have begun.
func (s *Store) trimTo(index uint64) (bool, error) {
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

// Size returns the number of used bytes of the file, 0 for a closed log, and the number up to which
// old entries are kept.
func (s *Store) Size() (used, bound int64) {
	used, err := s.used()
	if err != nil {
		return 0, s.cfg.MaxBytes
	}
	return used, s.cfg.MaxBytes
}

// used returns the number of used bytes of the file. bolt reuses free space, but never returns it
// to the file system.
func (s *Store) used() (bytes int64, err error) {
	err = s.view(func(tx *bbolt.Tx) error {
		stats := tx.DB().Stats()
		bytes = tx.Size() - int64(stats.FreePageN+stats.PendingPageN)*int64(tx.DB().Info().PageSize)
		return nil
	})
	return bytes, err
}
