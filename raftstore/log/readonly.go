package log

import (
	"errors"
	"fmt"
	"os"

	"go.etcd.io/bbolt"
)

// OpenReadOnly opens an existing log file for reading: it changes nothing, and writes to the Store
// fail. Damage to the file's structure is an error, as for Open.
func OpenReadOnly(cfg Config) (*Store, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(cfg.Path)
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	if info.Size() < minFileBytes() {
		return nil, fmt.Errorf("open log: %w", &Corrupt{Path: cfg.Path, Reason: fmt.Sprintf("is cut short: %d bytes", info.Size())})
	}
	if _, err := inspect(cfg); err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	db, err := openBolt(cfg.Path, cfg, bbolt.Options{ReadOnly: true})
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	s := &Store{
		cfg:    cfg,
		logger: cfg.Logger.With("component", "raftstore/log"),
		cache:  newCache(cfg.CacheEntries, cfg.CacheBytes),
		db:     db,
	}
	if err := s.loadSpan(); err != nil {
		return nil, errors.Join(fmt.Errorf("open log: %w", err), db.Close())
	}
	s.metrics = newMetrics(cfg.Registerer, s)
	s.watch = newWatchdog(cfg.StallLimit, s.stalled)
	return s, nil
}

// loadSpan reads the range of indexes in the file.
func (s *Store) loadSpan() error {
	var found span
	err := recoverCorrupt(s.cfg.Path, func() error {
		return s.db.View(func(tx *bbolt.Tx) (err error) {
			logs := tx.Bucket(logsBucket())
			if logs == nil || tx.Bucket(confBucket()) == nil {
				return &Corrupt{Path: s.cfg.Path, Reason: "has never been a log"}
			}
			found, err = s.spanOf(logs)
			return err
		})
	})
	s.span.Store(&found)
	return err
}
