package log

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"quorate/raftstore/log/diskio"
	"quorate/raftstore/log/segment"
	"quorate/raftstore/log/stable"
)

const (
	// ageSegments is the number of files over which entries are spread until they exceed MaxAge.
	ageSegments = 8
	// stableFile is the file of the stable values in the folder of the log.
	stableFile = "stable"
	// newestSegment is the key of the number of the newest file of entries, among the stable values.
	newestSegment = "newest segment"
	// newSuffix is the suffix of the folder of a log that is being created.
	newSuffix = ".new"
)

// Open opens or creates the log. It reads the newest of its files whole; other entries are checked
// when they are read, or by Verify. The caller ensures that no other process creates the log at the
// same time.
func Open(cfg Config) (*Store, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := create(cfg); err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	return openFolder(cfg, false)
}

// OpenReadOnly opens an existing log for reading: it changes nothing, and writes to the Store fail. It
// reads the log of a former build from a copy in a temporary folder.
func OpenReadOnly(cfg Config) (*Store, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	if exists(cfg.Dir) || !exists(cfg.BoltFile) {
		return openFolder(cfg, true)
	}
	temporary, err := os.MkdirTemp("", "quorate-log-")
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	cfg.Dir = filepath.Join(temporary, "log")
	err = createIn(cfg, cfg.Dir)
	var s *Store
	if err == nil {
		s, err = openFolder(cfg, true)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open log: %w", err), removeFolder(temporary))
	}
	s.remove = temporary
	return s, nil
}

// openFolder opens a log that exists.
func openFolder(cfg Config, readOnly bool) (*Store, error) {
	s := &Store{
		cfg:    cfg,
		logger: cfg.Logger.With("component", "raftstore/log"),
		cache:  newCache(cfg.CacheEntries, cfg.CacheBytes),
	}
	var err error
	if s.stable, err = stable.Open(filepath.Join(cfg.Dir, stableFile), readOnly, cfg.LockTimeout); err != nil {
		return nil, fmt.Errorf("open log: %w", s.stableError(err))
	}
	s.segments, err = segment.Open(segment.Config{
		Dir: cfg.Dir, Capacity: cfg.SegmentBytes, Span: cfg.MaxAge / ageSegments, ReadOnly: readOnly,
		Newest: s.newest(), Record: s.recordNewest, Logger: s.logger,
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open log: %w", s.asCorrupt(err)), s.stable.Close())
	}
	if readOnly {
		s.doubt = ErrReadOnly
	}
	s.metrics = newMetrics(cfg.Registerer, s)
	s.watch = newWatchdog(cfg.StallLimit, s.stalled)
	return s, nil
}

// newest returns the number of the newest file of entries, 0 if there is none.
func (s *Store) newest() uint64 {
	if value := s.stable.Get(newestSegment); len(value) == 8 {
		return binary.BigEndian.Uint64(value)
	}
	return 0
}

func (s *Store) recordNewest(sequence uint64) error {
	return s.stable.Set(map[string][]byte{newestSegment: binary.BigEndian.AppendUint64(nil, sequence)})
}

// create creates the folder of the log if there is none, with the content of the log of a former
// build if there is one, and then removes that. A crash before the rename leaves the former log as
// it was.
func create(cfg Config) error {
	if !exists(cfg.Dir) {
		if err := createFolder(cfg); err != nil {
			return err
		}
	}
	if err := diskio.SyncDir(filepath.Dir(cfg.Dir)); err != nil { // also of a process whose sync failed
		return err
	}
	if cfg.BoltFile == "" {
		return nil
	}
	err := os.Remove(cfg.BoltFile)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return errors.Join(err, diskio.SyncDir(filepath.Dir(cfg.BoltFile)))
}

func createFolder(cfg Config) error {
	dir := cfg.Dir + newSuffix
	if err := removeFolder(dir); err != nil {
		return err
	}
	err := createIn(cfg, dir)
	// gofail: var logBeforeRename struct{}
	if err == nil {
		err = os.Rename(dir, cfg.Dir)
	}
	// gofail: var logAfterRename struct{}
	if err != nil {
		return errors.Join(err, removeFolder(dir))
	}
	return nil
}

// createIn creates a folder with an empty log, or a copy of that of a former build.
func createIn(cfg Config, dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	if err := stable.Create(filepath.Join(dir, stableFile)); err != nil {
		return err
	}
	if cfg.BoltFile != "" {
		if err := copyBolt(cfg, dir); err != nil {
			return err
		}
	}
	return diskio.SyncDir(dir)
}

// exists reports whether there is a file or folder, also one that can't be examined.
func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, os.ErrNotExist)
}

func removeFolder(dir string) error {
	if dir == "" {
		return nil
	}
	return os.RemoveAll(dir)
}

// stableError returns the error to report for one of opening the stable values.
func (s *Store) stableError(err error) error {
	path := filepath.Join(s.cfg.Dir, stableFile)
	switch {
	case errors.Is(err, stable.ErrLocked):
		return fmt.Errorf("%s: %w", s.cfg.Dir, ErrLocked)
	case errors.Is(err, stable.ErrDamaged):
		return &Corrupt{Path: path, Reason: err.Error()}
	case errors.Is(err, os.ErrNotExist):
		if _, missing := os.Stat(s.cfg.Dir); missing != nil {
			return missing // the whole log, which is no damage
		}
		return &Corrupt{Path: path, Reason: "is missing: it was removed"}
	default:
		return err
	}
}
