package log

import (
	"fmt"

	"github.com/hashicorp/raft"
	"go.etcd.io/bbolt"
)

const (
	// reclaimKeepBytes is about what Reclaim keeps of the log before the snapshot, so that a
	// follower that is a few entries behind needs no snapshot.
	reclaimKeepBytes = 1 << 20
	// minShrinkBytes is the number of free bytes from which replacing the file is worthwhile.
	minShrinkBytes = 1 << 20
	// maxShrinkBytes bounds the bytes that Reclaim copies to a new file, and so how long appends
	// wait for it: 0.3 s on a disk that writes 100 MB a second.
	maxShrinkBytes = 32 << 20
)

// footprintPage is bolt's usual page size. An entry takes whole pages, if it does not fit into one.
const footprintPage = 4 << 10

// entryFootprint covers a record's other fields, and bolt's own for it.
const entryFootprint = 256

// Footprint returns at least the bytes by which an entry with n bytes of data makes the file grow,
// apart from pages that the next entries reuse.
func Footprint(n int) int64 { return int64(n + min(n, footprintPage) + entryFootprint) }

func footprintOf(entries []*raft.Log) (bytes int64) {
	for _, e := range entries {
		bytes += Footprint(len(e.Data) + len(e.Extensions))
	}
	return bytes
}

// Written returns the footprints of all entries appended since Open, and of those that Verify has
// read. It only rises.
func (s *Store) Written() int64 { return s.written.Load() }

// FileBytes returns the size of the file, without what Allocate has reserved; 0 for a closed log.
func (s *Store) FileBytes() int64 {
	_, file, err := s.usage()
	if err != nil {
		return 0
	}
	return file
}

// usage returns the number of used bytes of the file, and its size without reserved blocks.
func (s *Store) usage() (used, file int64, err error) {
	err = s.view(func(tx *bbolt.Tx) error {
		stats := tx.DB().Stats()
		file = tx.Size()
		used = file - int64(stats.FreePageN+stats.PendingPageN)*int64(tx.DB().Info().PageSize)
		return nil
	})
	return used, file, err
}

// Reclaim makes the file small, for a disk that is short of space. It removes the entries before
// index, which must be that of a snapshot, except for about the last reclaimKeepBytes of them and
// those of holds, whatever MaxBytes and MaxAge are. It then gives the freed space back to the file
// system, by copying the rest to a new file, unless there is too much of it.
func (s *Store) Reclaim(index uint64) error {
	if have := *s.span.Load(); !have.empty() && min(index, have.last) > have.first {
		if err := s.trim(min(index, have.last)-1, reclaimKeepBytes); err != nil {
			return err
		}
	}
	old, err := s.shrink()
	if old != nil {
		s.closeReplaced(old)
	}
	if err != nil {
		return fmt.Errorf("make log %s smaller: %w", s.cfg.Path, err)
	}
	return s.Allocate()
}

// shrink replaces the file by a copy without free pages, and returns the old file's database, nil
// if it did nothing.
func (s *Store) shrink() (old *bbolt.DB, err error) {
	defer s.watch.begin("shrink").end()
	s.writing.Lock()
	defer s.writing.Unlock()
	used, file, err := s.usage()
	if err != nil || file-used < minShrinkBytes || used > maxShrinkBytes {
		return nil, err
	}
	old, err = s.replaceFile(s.copyAll, func() {})
	if err == nil {
		s.metrics.shrunk.Inc()
		s.logger.Info("log file made smaller", "path", s.cfg.Path, "from", file, "to", s.FileBytes())
	}
	return old, err
}

// copyAll copies the stable values and all entries to a new file and syncs it.
func (s *Store) copyAll(to *bbolt.DB) error {
	if err := s.copyStable(to); err != nil {
		return err
	}
	return s.view(func(from *bbolt.Tx) error {
		return to.Update(func(tx *bbolt.Tx) error {
			logs := tx.Bucket(logsBucket())
			logs.FillPercent = 1 // entries are only appended
			return from.Bucket(logsBucket()).ForEach(logs.Put)
		})
	})
}
