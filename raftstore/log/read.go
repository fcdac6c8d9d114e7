package log

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/hashicorp/raft"
	"go.etcd.io/bbolt"
	"golang.org/x/sync/errgroup"
)

const (
	// chunkBytes and chunkEntries bound the entries read in one bolt transaction, which then takes
	// a few hundred microseconds.
	chunkBytes   = 256 << 10
	chunkEntries = 1024
	// typicalEntryBytes is the approximate size of an entry, so that a short read allocates less
	// than a whole chunk.
	typicalEntryBytes = 2 << 10
	// verifyReaders is the number of concurrent readers of Verify. From a cold disk, bolt reads
	// pages one by one.
	verifyReaders = 4
)

// Read calls fn for each command entry after position after and up to upTo, in order, at most limit
// of them (0 means no limit). It returns the position from which a later Read continues: fn has
// been called for every command up to it. If the log has been trimmed past after, before or during
// the read, or is empty, Read returns *Truncated.
//
// fn runs outside of any transaction and may block. Its data does not change afterwards, but shares
// memory with neighboring entries, so callers that retain it should copy it.
func (s *Store) Read(ctx context.Context, after, upTo uint64, limit int, fn func(index uint64, data []byte) error) (uint64, error) {
	if limit <= 0 {
		limit = int(^uint(0) >> 1)
	}
	for after < upTo && limit > 0 {
		if err := ctx.Err(); err != nil {
			return after, err
		}
		records, err := s.chunk(after, min(upTo, after+uint64(limit)))
		if err != nil {
			return after, err
		}
		if len(records) == 0 {
			if s.span.Load().empty() { // a snapshot replaced the log
				return after, &Truncated{After: after}
			}
			break // the log ends before upTo
		}
		for _, rec := range records {
			if rec.kind == raft.LogCommand {
				if limit == 0 {
					return after, nil
				}
				limit--
				if err := fn(rec.index, rec.data); err != nil {
					return after, err
				}
			}
			after = rec.index
		}
	}
	return after, nil
}

// chunk copies entries after a position in one transaction.
func (s *Store) chunk(after, upTo uint64) ([]record, error) {
	slab := make([]byte, 0, min(chunkBytes, (upTo-after)*typicalEntryBytes))
	var ends []int
	err := s.view(func(tx *bbolt.Tx) error {
		return s.scan(tx, after, upTo, func(_ uint64, value []byte) bool {
			if len(slab)+len(value) > chunkBytes && len(ends) > 0 {
				return false
			}
			slab = append(slab, value...)
			ends = append(ends, len(slab))
			return len(ends) < chunkEntries
		})
	})
	if err != nil {
		return nil, err
	}
	records := make([]record, len(ends))
	from := 0
	for i, to := range ends {
		index := after + 1 + uint64(i)
		if records[i], err = parseRecord(slab[from:to:to], index); err != nil {
			return nil, s.corrupt(index, err.Error())
		}
		from = to
	}
	return records, nil
}

// scan calls fn for the stored entries after a position until fn returns false. It returns
// *Truncated if the first of them was trimmed, and *Corrupt if one is missing.
func (s *Store) scan(tx *bbolt.Tx, after, upTo uint64, fn func(index uint64, value []byte) bool) error {
	next := after + 1
	key := indexKey(next)
	c := tx.Bucket(logsBucket()).Cursor()
	for k, v := c.Seek(key[:]); k != nil && next <= upTo; k, v = c.Next() {
		if len(k) != keyBytes {
			return &Corrupt{Index: next, Path: s.cfg.Path, Reason: "is damaged: a key is not an index"}
		}
		if found := binary.BigEndian.Uint64(k); found != next {
			return s.missing(c, after, next, found)
		}
		if !fn(next, v) {
			return nil
		}
		next++
	}
	return nil
}

func (s *Store) missing(c *bbolt.Cursor, after, want, found uint64) error {
	if first, _ := c.First(); len(first) == keyBytes && want == after+1 && binary.BigEndian.Uint64(first) > want {
		return &Truncated{After: after, First: binary.BigEndian.Uint64(first)}
	}
	return &Corrupt{Index: want, Path: s.cfg.Path, Reason: fmt.Sprintf("is missing, the next one is %d", found)}
}

// Verify reads and checks all entries from index from to the last. Raft panics on an entry that it
// can't read, so callers verify the entries after the newest snapshot before they start Raft. If
// from is below the log's first entry, the gap is damage, because the state at from-1 can't be
// updated without these entries. A log that is empty, or that ends before from, passes. The
// verified entries count as written (Written).
func (s *Store) Verify(ctx context.Context, from uint64) error {
	have := *s.span.Load()
	from = max(from, 1)
	if have.empty() || from > have.last {
		return nil
	}
	if from < have.first {
		return s.corrupt(from, fmt.Sprintf("is missing, the log begins with %d", have.first))
	}
	group, ctx := errgroup.WithContext(ctx)
	step := (have.last-from)/verifyReaders + 1
	for low := from; low <= have.last; low += step {
		group.Go(func() error { return s.verify(ctx, low, min(low+step-1, have.last)) })
	}
	return group.Wait()
}

// verify checks the entries from low to high.
func (s *Store) verify(ctx context.Context, low, high uint64) error {
	for low <= high {
		if err := ctx.Err(); err != nil {
			return err
		}
		var damage error
		size, start := 0, low
		err := s.view(func(tx *bbolt.Tx) error {
			return s.scan(tx, low-1, high, func(index uint64, value []byte) bool {
				if _, err := parseRecord(value, index); err != nil {
					damage = s.corrupt(index, err.Error())
					return false
				}
				low = index + 1
				size += len(value)
				s.written.Add(Footprint(len(value)))
				return size < chunkBytes
			})
		})
		if err == nil {
			err = damage
		}
		if err != nil {
			return err
		}
		if low == start {
			return s.corrupt(low, "is missing")
		}
	}
	return nil
}

// Align removes the whole log if it does not fit the newest snapshot, taken at index and term, and
// reports whether it did. It must be called before Raft starts. The log does not fit if it ends
// before the snapshot, or if its entry at index has another term, as after a crash between the
// installation of a snapshot and the removal of the old log. Align returns a *Corrupt if the log
// has no term although there is a snapshot: such a log has lost this node's votes and the entries
// that it acknowledged.
func (s *Store) Align(index, term uint64) (bool, error) {
	have := *s.span.Load()
	switch in, err := s.GetUint64([]byte(CurrentTerm)); {
	case errors.Is(err, ErrKeyNotFound), err == nil && in == 0:
		return false, &Corrupt{Path: s.cfg.Path, Reason: "is empty, though a snapshot is there: it was removed or replaced"}
	case err != nil:
		return false, err
	}
	if have.empty() || index < have.first {
		return false, nil
	}
	if index <= have.last {
		var entry raft.Log
		if err := s.GetLog(index, &entry); err != nil {
			return false, fmt.Errorf("compare log with snapshot: %w", err)
		}
		if entry.Term == term {
			return false, nil
		}
	}
	s.logger.Warn("log does not fit the newest snapshot, removing it", "first", have.first, "last", have.last, "index", index, "term", term)
	return true, s.truncate(have.first)
}
