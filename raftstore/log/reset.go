package log

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"
)

// reset removes all entries by replacing the file with a new one that has only the stable values. A
// deletion in bolt would visit each page in one transaction, and would block Raft's main goroutine
// for several seconds for each GiB. The caller holds writing.
func (s *Store) reset() error {
	old, err := s.replaceFile(s.copyStable, func() {
		s.span.Store(&span{})
		s.cache.clear()
	})
	if old != nil {
		// The file system frees the file's blocks when its last handle closes, at half a second per
		// GiB.
		s.closing.Go(func() { s.closeReplaced(old) })
	}
	if err != nil {
		return fmt.Errorf("remove all of log %s: %w", s.cfg.Path, err)
	}
	s.metrics.resets.Inc()
	return nil
}

// replaceFile replaces the log's file by a new one, which it has fill write. It calls replaced when
// the new file has the log's name, before anyone can read from it. It returns the database of the
// old file, which the caller must close, nil if the old file is still in use. The caller holds
// writing.
func (s *Store) replaceFile(fill func(*bbolt.DB) error, replaced func()) (old *bbolt.DB, err error) {
	if s.doubt != nil {
		return nil, s.doubt
	}
	path := s.cfg.Path + replacementSuffix
	if err := removeIfThere(path); err != nil {
		return nil, err
	}
	fresh, err := openBolt(path, s.cfg, bbolt.Options{NoFreelistSync: true})
	if err != nil {
		return nil, errors.Join(err, removeIfThere(path))
	}
	if err := fill(fresh); err != nil {
		return nil, errors.Join(err, fresh.Close(), removeIfThere(path))
	}
	// gofail: var logBeforeReplace struct{}
	if err := os.Rename(path, s.cfg.Path); err != nil {
		return nil, errors.Join(err, fresh.Close(), removeIfThere(path))
	}
	// gofail: var logAfterReplace struct{}

	// From here on the old file has no name, so the store must continue with the new one.
	replaced()
	s.mu.Lock()
	old = s.db
	s.db = fresh
	s.allocated.Store(0)
	s.mu.Unlock()
	if err := syncDir(filepath.Dir(s.cfg.Path)); err != nil {
		return old, s.stopWrites(err) // after a crash, the next start may find the old file
	}
	return old, nil
}

func (s *Store) closeReplaced(old *bbolt.DB) {
	if err := old.Close(); err != nil {
		s.logger.Error("close replaced log file", "path", s.cfg.Path, "error", err)
	}
}

// copyStable copies the values stored by Set to a new file and syncs it.
func (s *Store) copyStable(to *bbolt.DB) error {
	return s.view(func(from *bbolt.Tx) error {
		return to.Update(func(tx *bbolt.Tx) error {
			if _, err := tx.CreateBucket(logsBucket()); err != nil {
				return fmt.Errorf("make bucket: %w", err)
			}
			conf, err := tx.CreateBucket(confBucket())
			if err != nil {
				return fmt.Errorf("make bucket: %w", err)
			}
			return from.Bucket(confBucket()).ForEach(conf.Put)
		})
	})
}

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
