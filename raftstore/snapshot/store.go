package snapshot

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	"github.com/prometheus/client_golang/prometheus"
)

const (
	// DefaultRetain is how many snapshots are kept.
	DefaultRetain = 2

	// Names of FileSnapshotStore.
	snapshotsDir = "snapshots"
	metaFile     = "meta.json"
	stateFile    = "state.bin"
	tmpSuffix    = ".tmp"

	// damagedDir, beside snapshotsDir, is where damaged snapshots go, damagedRetain of them.
	damagedDir    = "snapshots-damaged"
	damagedRetain = 2
)

var _ raft.SnapshotStore = (*Store)(nil)

// Config says where the snapshots are.
type Config struct {
	Dir    string // snapshots are in a folder of it; must exist
	Retain int    // how many to keep; 0 means DefaultRetain
	// OnOpen is called with the index of each snapshot that Open opens, before anything of it is
	// read, and what it returns when that is closed: Raft may be sending it to a follower, which
	// needs the log behind it. May be nil.
	OnOpen     func(index uint64) (closed func())
	Logger     *slog.Logger          // required
	Registerer prometheus.Registerer // nil: metrics are kept, but not published
}

// Store is raft.SnapshotStore, on disk.
type Store struct {
	dir, damaged string
	logger       *slog.Logger
	metrics      *metrics
	files        *raft.FileSnapshotStore
	onOpen       func(index uint64) (closed func())

	mu       sync.Mutex
	verified stamp // the state file that passed its checksum last
}

// New prepares the folder for snapshots, and removes what a crash has left half written.
func New(cfg Config) (*Store, error) {
	if cfg.Logger == nil {
		return nil, errors.New("snapshot: Config.Logger is nil")
	}
	if cfg.OnOpen == nil {
		cfg.OnOpen = func(uint64) func() { return func() {} }
	}
	if cfg.Retain == 0 {
		cfg.Retain = DefaultRetain
	}
	// Its messages repeat the errors that it returns.
	files, err := raft.NewFileSnapshotStoreWithLogger(cfg.Dir, cfg.Retain, hclog.NewNullLogger())
	if err != nil {
		return nil, fmt.Errorf("open snapshots in %s: %w", cfg.Dir, err)
	}
	s := &Store{
		dir:     filepath.Join(cfg.Dir, snapshotsDir),
		damaged: filepath.Join(cfg.Dir, damagedDir),
		logger:  cfg.Logger.With("component", "raftstore/snapshot"),
		files:   files,
		onOpen:  cfg.OnOpen,
	}
	if err := s.removeStale(); err != nil {
		return nil, fmt.Errorf("open snapshots in %s: %w", cfg.Dir, err)
	}
	if err := syncDir(cfg.Dir); err != nil {
		return nil, fmt.Errorf("open snapshots in %s: %w", cfg.Dir, err)
	}
	s.metrics = newMetrics(cfg.Registerer, s)
	return s, nil
}

// Close ends the publishing of metrics. Snapshots that are open stay so.
func (s *Store) Close() error {
	s.metrics.unregister()
	return nil
}

func (s *Store) removeStale() error {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.IsDir() || !strings.HasSuffix(e.Name(), tmpSuffix) {
			continue
		}
		s.logger.Info("removing an unfinished snapshot", "id", strings.TrimSuffix(e.Name(), tmpSuffix))
		if err := os.RemoveAll(filepath.Join(s.dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// Create begins a snapshot. It exists once the sink's Close has returned nil.
func (s *Store) Create(version raft.SnapshotVersion, index, term uint64, configuration raft.Configuration,
	configurationIndex uint64, trans raft.Transport,
) (raft.SnapshotSink, error) {
	inner, err := s.files.Create(version, index, term, configuration, configurationIndex, trans)
	if err != nil {
		s.metrics.failures.Inc()
		// FileSnapshotStore has made the folder, but doesn't say which.
		return nil, errors.Join(fmt.Errorf("create snapshot of index %d: %w", index, err), s.removeUnfinished(term, index))
	}
	return &sink{SnapshotSink: inner, store: s, dir: filepath.Join(s.dir, inner.ID()+tmpSuffix), start: time.Now()}, nil
}

// removeUnfinished removes folders of a snapshot that could not be created.
func (s *Store) removeUnfinished(term, index uint64) error {
	found, err := filepath.Glob(filepath.Join(s.dir, fmt.Sprintf("%d-%d-*%s", term, index, tmpSuffix)))
	for _, dir := range found {
		err = errors.Join(err, os.RemoveAll(dir))
	}
	return err
}

// List returns the snapshots, newest first.
func (s *Store) List() ([]*raft.SnapshotMeta, error) {
	metas, err := s.files.List()
	if err != nil {
		return nil, fmt.Errorf("list snapshots: %w", err)
	}
	return metas, nil
}

// Open verifies a snapshot and returns its bytes as they are stored: compressed, for NewReader or
// for a follower. They can be read to their end also when newer snapshots have replaced this one
// meanwhile.
func (s *Store) Open(id string) (*raft.SnapshotMeta, io.ReadCloser, error) {
	_, index, _ := indexOf(id)
	closed := s.onOpen(index)
	meta, err := s.verify(id)
	if err != nil {
		closed()
		return nil, nil, s.counted(err)
	}
	f, err := os.Open(filepath.Join(s.dir, id, stateFile))
	if err != nil {
		closed()
		return nil, nil, fmt.Errorf("open snapshot %s: %w", id, err)
	}
	return meta, &opened{File: f, closed: closed}, nil
}

// opened is a snapshot's file while it's read.
type opened struct {
	*os.File
	closed func()
}

func (o *opened) Close() error {
	defer o.closed()
	return o.File.Close()
}

// OpenReader returns the content of a snapshot, decompressed, which is verified as it is read:
// io.EOF comes only after all of it was found whole. For reading it without taking it over as the
// state; a restore needs Open.
func (s *Store) OpenReader(id string) (*raft.SnapshotMeta, io.ReadCloser, error) {
	meta, err := s.examine(id)
	if err != nil {
		return nil, nil, s.counted(err)
	}
	f, err := os.Open(filepath.Join(s.dir, id, stateFile))
	if err != nil {
		return nil, nil, fmt.Errorf("open snapshot %s: %w", id, err)
	}
	r := NewReader(f)
	r.id, r.path = id, filepath.Join(s.dir, id)
	return &meta.SnapshotMeta, struct {
		io.Reader
		io.Closer
	}{r, f}, nil
}

// Oldest returns the oldest snapshot that a log beginning with entry logFirst continues, nil when
// there is none: it and the log are together all that is known of the past.
func (s *Store) Oldest(logFirst uint64) (*raft.SnapshotMeta, error) {
	metas, err := s.List()
	if err != nil {
		return nil, err
	}
	for i := len(metas) - 1; i >= 0; i-- {
		if metas[i].Index+1 >= logFirst {
			return metas[i], nil
		}
	}
	return nil, nil
}

func (s *Store) counted(err error) error {
	var c *Corrupt
	if errors.As(err, &c) {
		s.metrics.corrupt.Inc()
	}
	return err
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("open folder to sync it: %w", err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return fmt.Errorf("sync folder %s: %w", dir, err)
	}
	return nil
}
