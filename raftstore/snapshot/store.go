package snapshot

import (
	"encoding/binary"
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

	"quorate/raftstore/log/diskio"
)

const (
	// DefaultRetain is the number of snapshots kept by default.
	DefaultRetain = 2

	// These are the names that FileSnapshotStore uses.
	snapshotsDir = "snapshots"
	metaFile     = "meta.json"
	stateFile    = "state.bin"
	tmpSuffix    = ".tmp"

	// damagedDir, beside snapshotsDir, holds up to damagedRetain damaged snapshots.
	damagedDir    = "snapshots-damaged"
	damagedRetain = 2
)

var _ raft.SnapshotStore = (*Store)(nil)

// Config configures a Store.
type Config struct {
	Dir    string // parent of the folder of snapshots; must exist
	Retain int    // number of snapshots to keep; 0 means DefaultRetain
	// OnOpen is called with the index of each snapshot that Open opens, before the snapshot is
	// read. The function that it returns is called when the snapshot is closed. In between, Raft
	// may be sending the snapshot to a follower, which then needs the log entries after it. May be
	// nil.
	OnOpen     func(index uint64) (closed func())
	Logger     *slog.Logger          // required
	Registerer prometheus.Registerer // nil: metrics are counted, but not published
}

// Store implements raft.SnapshotStore on disk.
type Store struct {
	dir, damaged string
	logger       *slog.Logger
	metrics      *metrics
	files        *raft.FileSnapshotStore
	onOpen       func(index uint64) (closed func())
	partials     partials

	mu       sync.Mutex
	verified fileVersion // the state file whose checksum was verified last
}

// New creates the folder for snapshots, and removes unfinished ones that a crash has left, except
// what has arrived of a snapshot that another node was sending.
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
	// FileSnapshotStore logs only what it also returns as errors.
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
	s.partials.dir = filepath.Join(cfg.Dir, partialDir)
	if err := errors.Join(s.removeStale(), s.partials.load()); err != nil {
		return nil, fmt.Errorf("open snapshots in %s: %w", cfg.Dir, err)
	}
	// A process whose sync failed may have left names that the disk does not have.
	if err := errors.Join(diskio.SyncDir(s.dir), diskio.SyncDir(cfg.Dir)); err != nil {
		return nil, fmt.Errorf("open snapshots in %s: %w", cfg.Dir, err)
	}
	s.metrics = newMetrics(cfg.Registerer, s)
	return s, nil
}

// Close unregisters the metrics. Open snapshots stay open.
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

// Create starts a snapshot, which exists once the sink's Close has returned nil.
func (s *Store) Create(version raft.SnapshotVersion, index, term uint64, configuration raft.Configuration,
	configurationIndex uint64, trans raft.Transport,
) (raft.SnapshotSink, error) {
	inner, err := s.files.Create(version, index, term, configuration, configurationIndex, trans)
	if err != nil {
		s.metrics.failures.Inc()
		// FileSnapshotStore has created the folder, but does not return its name.
		return nil, errors.Join(fmt.Errorf("create snapshot of index %d: %w", index, err), s.removeUnfinished(term, index))
	}
	return &sink{SnapshotSink: inner, store: s, dir: filepath.Join(s.dir, inner.ID()+tmpSuffix), start: time.Now()}, nil
}

// removeUnfinished removes the folders of a snapshot that could not be created.
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

// Open verifies a snapshot and returns its bytes as stored: compressed, for NewReader or for a
// follower. The caller can read them to the end even after newer snapshots have replaced this one.
// The reader is a Reading.
func (s *Store) Open(id string) (*raft.SnapshotMeta, io.ReadCloser, error) {
	_, index, _ := indexOf(id)
	closed := s.onOpen(index)
	meta, err := s.verify(id)
	if err != nil {
		closed()
		return nil, nil, s.counted(err)
	}
	content := Content{Index: meta.Index, Term: meta.Term, Size: meta.Size, Checksum: binary.BigEndian.Uint64(meta.CRC)}
	f, err := os.Open(filepath.Join(s.dir, id, stateFile))
	if err != nil {
		closed()
		return nil, nil, fmt.Errorf("open snapshot %s: %w", id, err)
	}
	return &meta.SnapshotMeta, &openSnapshot{File: f, content: content, closed: closed}, nil
}

// Reading is an open snapshot, which can also be read from any offset.
type Reading interface {
	io.ReadCloser
	io.ReaderAt
	Content() Content
}

var _ Reading = (*openSnapshot)(nil)

// openSnapshot is the open state file of a snapshot. Close reports the end to Config.OnOpen's
// function.
type openSnapshot struct {
	*os.File
	content Content
	closed  func()
}

// Content implements Reading.
func (o *openSnapshot) Content() Content { return o.content }

func (o *openSnapshot) Close() error {
	defer o.closed()
	return o.File.Close()
}

// OpenReader returns the decompressed content of a snapshot, and verifies it while it is read:
// io.EOF means that all of it is undamaged. It is for readers of history and offline tools. A
// restore must use Open, which verifies the whole snapshot before it returns the first byte.
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

// KeepNewest verifies the newest snapshot, and then removes all others, for a disk that is short of
// space. If the newest is damaged, it removes nothing.
func (s *Store) KeepNewest() error {
	metas, err := s.List()
	if err != nil || len(metas) == 0 {
		return err
	}
	if _, err := s.verify(metas[0].ID); err != nil {
		return s.counted(err)
	}
	for _, m := range metas[1:] {
		dir := filepath.Join(s.dir, m.ID)
		// A crash in between leaves what New removes, and not a part of a snapshot.
		if err := os.Rename(dir, dir+tmpSuffix); err != nil {
			return fmt.Errorf("remove snapshot %s: %w", m.ID, err)
		}
		if err := os.RemoveAll(dir + tmpSuffix); err != nil {
			return fmt.Errorf("remove snapshot %s: %w", m.ID, err)
		}
		s.logger.Info("removed an older snapshot, because the disk is short of space", "id", m.ID, "bytes", m.Size)
	}
	return nil
}

// Oldest returns the oldest snapshot that a log beginning with entry logFirst continues, nil if
// there is none. The two together are all that can be read of history.
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
