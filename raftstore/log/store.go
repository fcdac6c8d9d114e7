package log

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"

	"quorate/raftstore/log/segment"
	"quorate/raftstore/log/stable"
)

var (
	_ raft.LogStore          = (*Store)(nil)
	_ raft.StableStore       = (*Store)(nil)
	_ raft.MonotonicLogStore = (*Store)(nil)
)

// Store is an open log. See the package comment.
type Store struct {
	cfg      Config
	logger   *slog.Logger
	cache    *cache
	ahead    readAhead
	watch    *watchdog
	metrics  *metrics
	segments *segment.Log
	stable   *stable.File
	remove   string // a temporary folder that Close removes, "" if there is none

	writing       sync.Mutex // held by the one writer: append, delete, set, reset
	closed        atomic.Bool
	doubt         error  // under writing: if not nil, every write fails with it: ErrInDoubt or ErrReadOnly
	voteTerm      []byte // under writing: term of a vote whose candidate is not stored yet, or nil
	truncatedLast uint64 // under writing: last entry that Raft removed and has not replaced yet

	holds   holds
	written atomic.Int64 // see Written
	others  []uint64     // see Others
	recent  recent       // times of the newest appends
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

func (s *Store) span() span {
	first, last := s.segments.Span()
	return span{first, last}
}

// Close closes the log. It first marks the end of the log, so that the next Open notices if the last
// entries are lost until then.
func (s *Store) Close() error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.closed.Swap(true) {
		return nil
	}
	s.watch.stop()
	s.metrics.unregister()
	s.cache.clear()
	s.ahead.clear()
	if err := errors.Join(s.segments.Close(), s.stable.Close(), removeFolder(s.remove)); err != nil {
		return fmt.Errorf("close log %s: %w", s.cfg.Dir, err)
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
func (s *Store) FirstIndex() (uint64, error) { return s.span().first, nil }

// LastIndex returns the newest stored index, 0 if there is none.
func (s *Store) LastIndex() (uint64, error) { return s.span().last, nil }

// GetLog reads one entry: from memory if it is recent, or if it was read ahead for a reader that
// reads in order.
func (s *Store) GetLog(index uint64, entry *raft.Log) error {
	if s.closed.Load() {
		return ErrClosed
	}
	if have := s.span(); index < have.first || index > have.last || have.empty() {
		return raft.ErrLogNotFound
	}
	if s.cache.get(index, entry) {
		s.metrics.cacheHits.Inc()
		return nil
	}
	miss, ok := s.ahead.get(index, entry)
	if ok {
		s.metrics.aheadHits.Inc()
		return nil
	}
	s.metrics.cacheMisses.Inc()
	records, err := s.segments.ReadInto(miss.into, index, miss.limit)
	if errors.Is(err, segment.ErrRemoved) {
		return raft.ErrLogNotFound
	}
	if err != nil {
		return s.counted(s.asCorrupt(err))
	}
	if len(records) == 0 { // it has just been removed
		return raft.ErrLogNotFound
	}
	records[0].Into(entry)
	s.ahead.put(index, records, miss)
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
	if err := s.writable(); err != nil {
		return fmt.Errorf("append to log %s: %w", s.cfg.Dir, err)
	}

	first := entries[0].Index
	have := s.span()
	if err := appendable(have, entries); err != nil {
		return fmt.Errorf("append to log %s: %w", s.cfg.Dir, err)
	}
	if !have.empty() && first > have.last+1 {
		s.logger.Warn("log ends before the entries to append, removing it", "first", have.first, "last", have.last, "index", first)
		if err := s.reset(); err != nil {
			return err
		}
	}
	// gofail: var logBeforeSync struct{}
	if err := s.failed(s.segments.Append(entries)); err != nil {
		s.ahead.clear() // reads may have found entries of the append, which has removed them again
		if first <= s.truncatedLast {
			err = s.stopWrites(err) // Raft still assumes the removed last entry: it refuses all appends, and may base votes on it
		}
		return fmt.Errorf("append to log %s: %w", s.cfg.Dir, err)
	}
	s.truncatedLast = 0
	// gofail: var logAfterSync struct{}
	s.cache.add(entries)
	s.written.Add(footprintOf(entries))
	end := time.Now()
	s.recent.add(end, end.Sub(start))
	s.metrics.appended(entries, end.Sub(start))
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

// writable returns why the store accepts no writes, nil if it does. The caller holds writing.
func (s *Store) writable() error {
	if s.closed.Load() {
		return ErrClosed
	}
	return s.doubt
}

// asCorrupt returns the error to report for one of a read: a *Corrupt if it is about damage.
func (s *Store) asCorrupt(err error) error {
	var d *segment.Damage
	if errors.As(err, &d) {
		return &Corrupt{Index: d.Index, Path: d.Path, Reason: d.Reason}
	}
	return err
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
	s.logger.Error("log write has stalled; check the disk", "operation", op, "path", s.cfg.Dir, "seconds", took.Seconds())
	s.cfg.OnStall(took)
}
