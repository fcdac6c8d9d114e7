package log

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/hashicorp/raft"

	"quorate/raftstore/log/segment"
)

// chunkEntries bounds the entries that are read at once.
const chunkEntries = 1024

// Read calls fn for each command entry after position after and up to upTo, in order, at most limit
// of them (0 means no limit). It returns the position from which a later Read continues: fn has
// been called for every command up to it. If the log has been trimmed past after, before or during
// the read, or is empty, Read returns *Truncated.
//
// fn may block. Its data does not change afterwards, but shares memory with neighboring entries, so
// callers that retain it should copy it.
func (s *Store) Read(ctx context.Context, after, upTo uint64, limit int, fn func(index uint64, data []byte) error) (uint64, error) {
	if limit <= 0 {
		limit = int(^uint(0) >> 1)
	}
	for after < upTo && limit > 0 {
		if err := ctx.Err(); err != nil {
			return after, err
		}
		records, err := s.chunk(after, min(upTo-after, uint64(limit), chunkEntries))
		if err != nil {
			return after, err
		}
		if len(records) == 0 {
			break // the log ends before upTo
		}
		for i := range records {
			rec := &records[i]
			if rec.Kind == raft.LogCommand {
				if limit == 0 {
					return after, nil
				}
				limit--
				if err := fn(rec.Index, rec.Data); err != nil {
					return after, err
				}
			}
			after = rec.Index
		}
	}
	return after, nil
}

// chunk reads entries after a position, at most limit. It returns none if the log ends there.
func (s *Store) chunk(after, limit uint64) ([]segment.Record, error) {
	if s.closed.Load() {
		return nil, ErrClosed
	}
	records, err := s.segments.Read(after+1, int(limit))
	if !errors.Is(err, segment.ErrRemoved) {
		return records, s.counted(s.asCorrupt(err))
	}
	switch have := s.span(); {
	case s.closed.Load():
		return nil, ErrClosed
	case have.empty(): // a snapshot replaced the log
		return nil, &Truncated{After: after}
	case after+1 < have.first:
		return nil, &Truncated{After: after, First: have.first}
	default:
		return nil, nil
	}
}

// Verify reads and checks all entries from index from to the last. Raft panics on an entry that it
// can't read, so callers verify the entries after the newest snapshot before they start Raft. If
// from is below the log's first entry, the gap is damage, because the state at from-1 can't be
// updated without these entries. A log that is empty, or that ends before from, passes. The
// verified entries count as written (Written).
func (s *Store) Verify(ctx context.Context, from uint64) error {
	s.others = nil
	have := s.span()
	from = max(from, 1)
	if have.empty() || from > have.last {
		return nil
	}
	if from < have.first {
		return s.counted(&Corrupt{Index: from, Path: s.cfg.Dir, Reason: fmt.Sprintf("is missing, the log begins with %d", have.first)})
	}
	var mu sync.Mutex
	var others []uint64
	err := s.segments.Check(ctx, from, func(rec *segment.Record) {
		s.written.Add(Footprint(len(rec.Data) + len(rec.Extensions)))
		if rec.Kind != raft.LogCommand {
			mu.Lock()
			defer mu.Unlock()
			others = append(others, rec.Index)
		}
	})
	slices.Sort(others)
	s.others = others
	return s.counted(s.asCorrupt(err))
}

// Others returns the indexes of the entries that Verify has read and that are no commands, in
// ascending order. It must not be called while Verify runs.
func (s *Store) Others() []uint64 { return s.others }

// Align removes the whole log if it does not fit the newest snapshot, taken at index and term, and
// reports whether it did. It must be called before Raft starts. The log does not fit if it ends
// before the snapshot, or if its entry at index has another term, as after a crash between the
// installation of a snapshot and the removal of the old log. Align returns a *Corrupt if the log
// has no term although there is a snapshot: such a log has lost this node's votes and the entries
// that it acknowledged.
func (s *Store) Align(index, term uint64) (bool, error) {
	have := s.span()
	switch in, err := s.GetUint64([]byte(CurrentTerm)); {
	case errors.Is(err, ErrKeyNotFound), err == nil && in == 0:
		return false, &Corrupt{Path: s.cfg.Dir, Reason: "is empty, though a snapshot is there: it was removed or replaced"}
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
