package segment

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	// chunkBytes bounds what one Read reads, unless its first entry is larger.
	chunkBytes = 256 << 10
	// oneBytes is what it reads for one entry, which usually fits.
	oneBytes = 4 << 10
	// timeEntries is the number of entries in which FirstTime looks for a time: those of a bootstrap
	// have none.
	timeEntries = 8
	// indexers is the number of segments that Check reads at the same time.
	indexers = 4
)

// Read returns the entries from index on, in order: at least one, and at most limit of them and as
// many as fit into some hundred KiB. It returns ErrRemoved if the log does not have the entry, and
// *Damage if the entry is damaged.
func (l *Log) Read(index uint64, limit int) ([]Record, error) { return l.ReadInto(nil, index, limit) }

// ReadInto is Read, and uses the array of into if it is large enough.
func (l *Log) ReadInto(into []Record, index uint64, limit int) ([]Record, error) {
	s := l.fileWith(index)
	if s == nil {
		return nil, ErrRemoved
	}
	records, err := s.read(into[:0], index, limit)
	if errors.Is(err, os.ErrClosed) {
		return nil, ErrRemoved
	}
	return records, err
}

// fileWith returns the segment that has an entry, nil if there is none.
func (l *Log) fileWith(index uint64) *file {
	l.mu.RLock()
	defer l.mu.RUnlock()
	for i := len(l.files) - 1; i >= 0; i-- {
		s := l.files[i]
		if last, _ := s.span(); index > last {
			return nil
		}
		if index >= s.base {
			return s
		}
	}
	return nil
}

// read is ReadInto for a segment that has the entry.
func (s *file) read(into []Record, index uint64, limit int) ([]Record, error) {
	for damaged := false; ; damaged = true {
		from, err := s.locate(index)
		if err != nil {
			return nil, err
		}
		records, err := s.readFrom(into, from, index, limit)
		var d *Damage
		if !errors.As(err, &d) || damaged {
			return records, err
		}
		// Damage since the segment was indexed. The entry may be a later one.
		if err := s.index(func(*Record) {}); err != nil {
			return nil, err
		}
	}
}

// locate returns a point at or before an entry, from which all frames up to the entry are good.
func (s *file) locate(index uint64) (point, error) {
	s.mu.RLock()
	indexed, next := s.indexed, s.next
	s.mu.RUnlock()
	if next.index == index && indexed {
		return next, nil
	}
	if !indexed {
		if err := s.index(func(*Record) {}); err != nil {
			return point{}, err
		}
	}
	return s.find(index)
}

// readFrom reads the frames from a point on, and appends the entries from index on to records,
// which are empty.
func (s *file) readFrom(records []Record, from point, index uint64, limit int) ([]Record, error) {
	last, end := s.span()
	chunk := int64(chunkBytes)
	if limit == 1 {
		chunk = oneBytes
	}
	buf, at := make([]byte, min(chunk, end-from.offset)), 0
	if _, err := s.f.ReadAt(buf, from.offset); err != nil && !isEOF(err) {
		return nil, fmt.Errorf("read %s: %w", s.path, err)
	}
	next := from
	for next.index <= last && len(records) < limit {
		rec, size, err := parseFrame(buf[at:])
		switch {
		case errors.Is(err, errCut) && len(records) > 0:
			s.continueAt(next)
			return records, nil
		case errors.Is(err, errCut) && next.offset+size <= end && size > int64(len(buf)-at):
			buf, at = make([]byte, max(size, min(chunk, end-next.offset))), 0
			if _, err := s.f.ReadAt(buf, next.offset); err != nil && !isEOF(err) {
				return nil, fmt.Errorf("read %s: %w", s.path, err)
			}
			continue
		case err == nil && rec.Index == next.index:
			if rec.Index >= index {
				records = append(records, rec)
			}
		case len(records) > 0:
			return records, nil
		default:
			return nil, &Damage{Index: next.index, Path: s.path, Reason: reasonOf(err, rec.Index)}
		}
		at, next = at+int(size), point{next.index + 1, next.offset + size}
	}
	s.continueAt(next)
	return records, nil
}

// continueAt records where the last read ended, since the next one often continues it.
func (s *file) continueAt(next point) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next = next
}

// readFirst reads the first entry.
func (s *file) readFirst() (Record, error) {
	records, err := s.readFrom(nil, point{s.base, blockBytes}, s.base, 1)
	if err == nil && len(records) == 0 {
		err = ErrRemoved
	}
	if err != nil {
		return Record{}, err
	}
	return records[0], nil
}

// FirstTime returns when the oldest entry that has a time was appended, of the first few; zero if none
// has one.
func (l *Log) FirstTime() (at time.Time, err error) {
	first, _ := l.Span()
	if first == 0 {
		return at, nil
	}
	records, err := l.Read(first, timeEntries)
	if err != nil {
		return at, err
	}
	for i := range records {
		if at = records[i].Time(); !at.IsZero() {
			break
		}
	}
	return at, nil
}

// Check reads all entries from index on and calls each for them, possibly at the same time and not
// in order. It returns a *Damage for the first one that is damaged. The log must have the entry.
func (l *Log) Check(ctx context.Context, index uint64, each func(*Record)) error {
	l.mu.RLock()
	files := append([]*file{}, l.files...)
	l.mu.RUnlock()
	found := make([]error, len(files))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(indexers)
	for i, s := range files {
		if last, _ := s.span(); last < index {
			continue
		}
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			found[i] = s.check(index, each)
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for _, err := range found {
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *file) check(index uint64, each func(*Record)) error {
	err := s.index(func(rec *Record) {
		if rec.Index >= index {
			each(rec)
		}
	})
	if err != nil {
		return err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, h := range s.holes {
		if h.last >= index {
			return &Damage{Index: max(index, h.first), Path: s.path, Reason: h.reason}
		}
	}
	return nil
}
