package log

import (
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"
	"go.etcd.io/bbolt"
)

// maxSpareBuffer bounds the encoding buffer kept between appends.
const maxSpareBuffer = 4 << 20

var (
	_ raft.LogStore          = (*Store)(nil)
	_ raft.StableStore       = (*Store)(nil)
	_ raft.MonotonicLogStore = (*Store)(nil)
)

// Store is an open log. See the package comment.
type Store struct {
	cfg     Config
	logger  *slog.Logger
	cache   *cache
	watch   *watchdog
	metrics *metrics
	span    atomic.Pointer[span] // the indexes in the file, as of the last commit

	writing       sync.Mutex // held by the one writer: append, delete, set, reset
	buf           []byte     // under writing: encoded entries of one append
	closed        bool       // under writing and mu
	doubt         error      // under writing: if not nil, every write fails with it; see ErrInDoubt
	voteTerm      []byte     // under writing: term of a vote whose candidate is not stored yet, or nil
	truncatedLast uint64     // under writing: last entry that Raft removed and has not replaced yet

	holds     holds
	closing   sync.WaitGroup // of files that reset has replaced
	allocated atomic.Int64   // the end of the blocks reserved by Allocate
	written   atomic.Int64   // see Written

	mu sync.RWMutex // read-locked for one bolt transaction; locked to replace db
	db *bbolt.DB
}

// span is the range of stored indexes, including first and last; both are 0 if it is empty.
type span struct{ first, last uint64 }

func (s span) empty() bool { return s.last == 0 }

func (s span) len() uint64 {
	if s.empty() {
		return 0
	}
	return s.last - s.first + 1
}

// Open opens or creates the log file. It checks the structure of a file that was not closed
// properly, for which it reads all of it. Entries are checked when they are read, or by Verify.
func Open(cfg Config) (*Store, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	db, err := openFile(cfg)
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	s := &Store{
		cfg:    cfg,
		logger: cfg.Logger.With("component", "raftstore/log"),
		cache:  newCache(cfg.CacheEntries, cfg.CacheBytes),
		db:     db,
	}
	if err := s.load(); err != nil {
		return nil, errors.Join(fmt.Errorf("open log: %w", err), db.Close())
	}
	s.metrics = newMetrics(cfg.Registerer, s)
	s.watch = newWatchdog(cfg.StallLimit, s.stalled)
	return s, nil
}

// load creates the buckets and reads the range of indexes in the file.
func (s *Store) load() error {
	var found span
	err := recoverCorrupt(s.cfg.Path, func() error {
		return s.db.Update(func(tx *bbolt.Tx) error {
			logs, err := tx.CreateBucketIfNotExists(logsBucket())
			if err != nil {
				return fmt.Errorf("make bucket: %w", err)
			}
			if _, err := tx.CreateBucketIfNotExists(confBucket()); err != nil {
				return fmt.Errorf("make bucket: %w", err)
			}
			found, err = s.spanOf(logs)
			return err
		})
	})
	s.span.Store(&found)
	return err
}

func (s *Store) spanOf(logs *bbolt.Bucket) (span, error) {
	c := logs.Cursor()
	first, _ := c.First()
	last, _ := c.Last()
	if first == nil {
		return span{}, nil
	}
	if len(first) != keyBytes || len(last) != keyBytes {
		return span{}, &Corrupt{Path: s.cfg.Path, Reason: "a key is not an index"}
	}
	return span{first: binary.BigEndian.Uint64(first), last: binary.BigEndian.Uint64(last)}, nil
}

// Close closes the file. It first stores bolt's list of free pages, so that the next Open need not
// scan the file.
func (s *Store) Close() error {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	s.closing.Wait()
	s.watch.stop()
	s.metrics.unregister()
	s.cache.clear()
	err := recoverCorrupt(s.cfg.Path, func() error {
		if s.db.IsReadOnly() || s.doubt != nil {
			return nil
		}
		s.db.NoFreelistSync = false
		return s.db.Update(func(*bbolt.Tx) error { return nil })
	})
	if OutOfSpace(err) {
		s.logger.Warn("no space to store the list of free pages; the next start will read the whole log", "path", s.cfg.Path, "error", err)
		err = nil
	}
	if err = errors.Join(err, s.db.Close()); err != nil {
		return fmt.Errorf("close log %s: %w", s.cfg.Path, err)
	}
	return nil
}

// IsMonotonic returns true, because the log has no gaps. Raft then removes the whole old log when
// it installs a snapshot. If it kept the old log, a follower whose last entries conflict with the
// leader's would refuse every later append, even after a restart (hashicorp/raft#697; see also
// Config.OnReset).
func (s *Store) IsMonotonic() bool { return true }

// FirstIndex returns the oldest stored index, 0 if there is none. It may be older than the first
// entry that Raft asked to keep.
func (s *Store) FirstIndex() (uint64, error) { return s.span.Load().first, nil }

// LastIndex returns the newest stored index, 0 if there is none.
func (s *Store) LastIndex() (uint64, error) { return s.span.Load().last, nil }

// GetLog reads one entry, from memory if it is recent.
func (s *Store) GetLog(index uint64, entry *raft.Log) error {
	if have := s.span.Load(); index < have.first || index > have.last || have.empty() {
		return raft.ErrLogNotFound
	}
	if s.cache.get(index, entry) {
		s.metrics.cacheHits.Inc()
		return nil
	}
	s.metrics.cacheMisses.Inc()
	var value []byte
	err := s.view(func(tx *bbolt.Tx) error {
		key := indexKey(index)
		stored := tx.Bucket(logsBucket()).Get(key[:])
		if stored == nil {
			return raft.ErrLogNotFound
		}
		value = append(make([]byte, 0, len(stored)), stored...) // bolt's memory is valid only within the transaction
		return nil
	})
	if err != nil {
		return err
	}
	rec, err := parseRecord(value, index)
	if err == nil {
		err = rec.into(entry)
	}
	if err != nil {
		return s.corrupt(index, err.Error())
	}
	return nil
}

// StoreLog appends one entry.
func (s *Store) StoreLog(entry *raft.Log) error { return s.StoreLogs([]*raft.Log{entry}) }

// StoreLogs appends entries and syncs them. Their indexes must be consecutive, and greater than the
// last stored one. A gap before them means that Raft has installed a snapshot and failed to remove
// the old log. StoreLogs then removes all stored entries first, because watches would skip the
// changes in a gap. If an append fails after DeleteRange removed entries at its indexes, the error
// is ErrInDoubt.
func (s *Store) StoreLogs(entries []*raft.Log) error {
	if len(entries) == 0 {
		return nil
	}
	start := time.Now()
	defer s.watch.begin("append").end()
	s.writing.Lock()
	defer s.writing.Unlock()

	first, last := entries[0].Index, entries[len(entries)-1].Index
	have := *s.span.Load()
	if err := appendable(have, entries); err != nil {
		return fmt.Errorf("append to log %s: %w", s.cfg.Path, err)
	}
	if !have.empty() && first > have.last+1 {
		s.logger.Warn("log ends before the entries to append, removing it", "first", have.first, "last", have.last, "index", first)
		if err := s.reset(); err != nil {
			return err
		}
		have = span{}
	}
	// gofail: var breakSkipSync struct{}
	// s.db.NoSync = true; defer func() { s.db.NoSync = false }()

	// gofail: var breakAckBeforeSync struct{}
	// return s.putLate(have, entries)

	// gofail: var logBeforeSync struct{}
	if err := s.put(entries); err != nil {
		if first <= s.truncatedLast {
			err = s.stopWrites(err) // Raft still assumes the removed last entry: it refuses all appends, and may base votes on it
		}
		return fmt.Errorf("append to log %s: %w", s.cfg.Path, err)
	}
	s.truncatedLast = 0
	// gofail: var logAfterSync struct{}
	if have.empty() {
		have.first = first
	}
	s.cache.add(entries)
	s.span.Store(&span{first: have.first, last: last})
	s.written.Add(footprintOf(entries))
	s.metrics.appended(entries, time.Since(start))
	return nil
}

// appendable checks that entries may follow the last stored one.
func appendable(have span, entries []*raft.Log) error {
	first := entries[0].Index
	if first == 0 || first == math.MaxUint64 {
		return fmt.Errorf("index %d is not valid", first)
	}
	if first <= have.last {
		return fmt.Errorf("entry %d is stored already (last is %d)", first, have.last)
	}
	for i, e := range entries {
		if e.Index != first+uint64(i) {
			return fmt.Errorf("entry %d follows %d", e.Index, first+uint64(i)-1)
		}
	}
	return nil
}

func (s *Store) put(entries []*raft.Log) error {
	size := 0
	for _, e := range entries {
		size += len(e.Data) + len(e.Extensions) + recordOverhead
	}
	if cap(s.buf) < size {
		s.buf = make([]byte, 0, size) // must not be reallocated while bolt has slices of it
	}
	buf := s.buf[:0]
	if cap(s.buf) > maxSpareBuffer {
		s.buf = nil
	}
	return s.update(func(tx *bbolt.Tx) error {
		logs := tx.Bucket(logsBucket())
		logs.FillPercent = 1 // entries are only appended
		for _, e := range entries {
			from := len(buf)
			buf = appendRecord(buf, e)
			key := indexKey(e.Index)
			if err := logs.Put(key[:], buf[from:len(buf):len(buf)]); err != nil {
				return fmt.Errorf("put entry %d: %w", e.Index, err)
			}
		}
		return nil
	})
}

// view runs fn in a read transaction. fn must be short, because bolt can't reuse pages that are
// freed while it runs.
func (s *Store) view(fn func(*bbolt.Tx) error) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return ErrClosed
	}
	return s.counted(recoverCorrupt(s.cfg.Path, func() error { return s.db.View(fn) }))
}

// update runs fn in a write transaction and syncs it. The caller holds writing.
func (s *Store) update(fn func(*bbolt.Tx) error) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return ErrClosed
	}
	if s.doubt != nil {
		return s.doubt
	}
	id := 0
	err := recoverCorrupt(s.cfg.Path, func() error {
		return s.db.Update(func(tx *bbolt.Tx) error {
			id = tx.ID()
			return fn(tx)
		})
	})
	return s.counted(s.writeError(err, id))
}

// corrupt returns and counts the error for a damaged entry.
func (s *Store) corrupt(index uint64, reason string) error {
	return s.counted(&Corrupt{Index: index, Path: s.cfg.Path, Reason: reason})
}

// counted returns err, and counts it if it reports damage.
func (s *Store) counted(err error) error {
	var c *Corrupt
	if errors.As(err, &c) && s.metrics != nil {
		s.metrics.corrupt.Inc()
	}
	return err
}

// stalled logs and counts a write that takes too long and calls Config.OnStall.
func (s *Store) stalled(op string, took time.Duration) {
	s.metrics.stalled.Inc()
	s.logger.Error("log write has stalled; check the disk", "operation", op, "path", s.cfg.Path, "seconds", took.Seconds())
	s.cfg.OnStall(took)
}

// syncDir syncs a directory, which makes new and renamed files in it durable.
func syncDir(dir string) error {
	d, err := os.Open(filepath.Clean(dir))
	if err != nil {
		return fmt.Errorf("open folder to sync it: %w", err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return fmt.Errorf("sync folder %s: %w", dir, err)
	}
	return nil
}
