package log

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"
)

// reset removes all entries by replacing the file with a new one that has only the stable state.
// Deleting them in bolt would visit each page in one transaction, which takes seconds to minutes
// for a log of a few GiB, on Raft's main goroutine. The caller holds writing.
func (s *Store) reset() error {
	if err := s.replaceFile(); err != nil {
		return fmt.Errorf("remove all of log %s: %w", s.cfg.Path, err)
	}
	s.metrics.resets.Inc()
	return nil
}

func (s *Store) replaceFile() error {
	if s.doubt != nil {
		return s.doubt
	}
	path := s.cfg.Path + replacementSuffix
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	fresh, err := openBolt(path, s.cfg, bbolt.Options{NoFreelistSync: true})
	if err != nil {
		return errors.Join(err, removeIfThere(path))
	}
	if err := s.copyStable(fresh); err != nil {
		return errors.Join(err, fresh.Close(), removeIfThere(path))
	}
	// gofail: var logBeforeReplace struct{}
	if err := os.Rename(path, s.cfg.Path); err != nil {
		return errors.Join(err, fresh.Close(), removeIfThere(path))
	}
	// gofail: var logAfterReplace struct{}

	// From here on the old file has no name, so the store must continue with the new one.
	s.span.Store(&span{})
	s.cache.clear()
	s.mu.Lock()
	old := s.db
	s.db = fresh
	s.allocated.Store(0)
	s.mu.Unlock()
	// The file system frees the file's blocks when its last handle closes, at half a second per
	// GiB.
	s.closing.Go(func() {
		if err := old.Close(); err != nil {
			s.logger.Error("close replaced log file", "path", s.cfg.Path, "error", err)
		}
	})
	if err := syncDir(filepath.Dir(s.cfg.Path)); err != nil {
		return s.stopWrites(err) // after a crash, the next start may find the old file
	}
	return nil
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
