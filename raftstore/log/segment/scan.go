package segment

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// scanner reads the frames of a whole segment.
type scanner struct {
	file    *file
	content []byte // from the first frame on
	limit   uint64 // last entry that counts, 0 if unknown
	next    uint64 // index of the next entry
	at      int    // where its frame belongs
	began   int    // where the append begins to which the last good frame belongs

	previous Record // the last good one
	points   []point
	holes    []hole
	end      int64 // in the file, of the last good frame
	closed   bool  // the last frame is that of a log that was closed
	fresh    bool  // the next frame follows a hole, or is the first
}

// scan reads the frames of a segment up to entry limit, and calls each for those that are not
// damaged. A limit of 0 means all.
func (s *file) scan(limit uint64, each func(*Record)) (*scanner, error) {
	info, err := s.f.Stat()
	if err != nil {
		return nil, fmt.Errorf("stat %s: %w", s.path, err)
	}
	c := &scanner{file: s, content: make([]byte, max(info.Size()-blockBytes, 0)), limit: limit, next: s.base, end: blockBytes, fresh: true}
	if _, err := s.f.ReadAt(c.content, blockBytes); err != nil && !isEOF(err) {
		return nil, fmt.Errorf("read %s: %w", s.path, err)
	}
	for c.limit == 0 || c.next <= c.limit {
		rec, size, err := parseFrame(c.content[c.at:])
		switch {
		case err == nil && rec.isClosing():
			c.closed = true
			return c, nil
		case err == nil && rec.Index == c.next:
			c.accept(&rec, size)
			each(&rec)
		default:
			if again := c.skip(reasonOf(err, rec.Index)); !again {
				return c, nil
			}
		}
	}
	return c, nil
}

func isEOF(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }

func reasonOf(err error, found uint64) string {
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("is damaged: entry %d is stored in its place", found)
}

// accept records a good frame.
func (c *scanner) accept(rec *Record, size int64) {
	offset := blockBytes + int64(c.at)
	if n := len(c.points); c.fresh || offset-c.points[n-1].offset >= pointDistance {
		c.points = append(c.points, point{rec.Index, offset})
	}
	if rec.batch != c.previous.batch {
		c.began = c.at
	}
	c.previous, c.fresh = *rec, false
	c.next, c.at, c.end = rec.Index+1, c.at+int(size), offset+size
}

// skip finds the good frame after a bad one, and records the hole. It returns false at the end of
// the segment: where there is no good frame, or only ones that belong to an append that a crash has
// interrupted.
func (c *scanner) skip(reason string) bool {
	index, at := c.resync(0)
	switch {
	case at >= 0 && (c.limit > 0 || !c.torn() || c.followed()):
		c.holes = append(c.holes, hole{c.next, index - 1, reason})
		c.next, c.at, c.fresh = index, at, true
		return true
	case c.limit > 0:
		c.holes = append(c.holes, hole{c.next, c.limit, reason})
	}
	return false
}

// followed reports whether there was another append after the one to which the frame at c.at
// belongs. That one was then complete.
func (c *scanner) followed() bool {
	batch := c.previous.batch
	if c.previous.left == 0 {
		batch++
	}
	_, at := c.resync(batch + 1)
	return at >= 0
}

// resync returns the first good frame after c.at that is of a later entry and at least of the given
// append: its index and where it is, or -1.
func (c *scanner) resync(batch uint32) (index uint64, at int) {
	for at := c.at + frameAlign; at+headerBytes <= len(c.content); at += frameAlign {
		b := c.content[at:]
		index := binary.LittleEndian.Uint64(b[8:])
		if b[headerBytes-1] != headerMark || index <= c.next || c.limit > 0 && index > c.limit {
			continue
		}
		if rec, _, err := parseFrame(b); err == nil && !rec.isClosing() && rec.batch >= batch {
			return index, at
		}
	}
	return 0, -1
}

// torn reports whether the bytes at c.at may be the beginning of an append that a crash has
// interrupted. The file was zero there before. A process that was killed has written the first bytes
// and not the last ones; after a power failure any sector may be missing.
func (c *scanner) torn() bool {
	if int64(len(c.content))+blockBytes != c.file.capacity {
		return false // the segment was closed, or cut short
	}
	b := c.content[c.at:]
	if len(b) < headerBytes || b[headerBytes-1] == 0 {
		return true
	}
	size := min(sizeOf(b), int64(len(b)))
	if b[size-1] == 0 {
		return true
	}
	for from := int64(0); from < size; {
		sector := from + blockBytes - (int64(c.at)+from)%blockBytes
		if isZero(b[from:min(sector, size)]) {
			return true
		}
		from = sector
	}
	return false
}

func isZero(b []byte) bool { return len(bytes.TrimLeft(b, "\x00")) == 0 }

// index reads the frames of a segment whose last entry is known, unless it has done so before, and
// calls each for those that are not damaged.
func (s *file) index(each func(*Record)) error {
	last, _ := s.span()
	c, err := s.scan(last, each)
	if err != nil {
		return err
	}
	if c.next <= last && (len(c.holes) == 0 || c.holes[len(c.holes)-1].last < last) {
		c.holes = append(c.holes, hole{c.next, last, "is missing"})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.points {
		if p.index > last { // appended meanwhile
			c.points = append(c.points, p)
		}
	}
	s.points, s.holes, s.indexed = c.points, c.holes, true
	return nil
}

// openLast reads the frames of the last segment, whose last entry is not known. It reports damage at
// the end of the log, which would otherwise look as if the entries had never been appended. It
// returns the bytes of the last append and where they are, none if the log was closed after it.
func (s *file) openLast() (last []byte, offset int64, err error) {
	c, err := s.scan(0, func(*Record) {})
	if err != nil {
		return nil, 0, err
	}
	rest := c.content[c.at:]
	switch size := int64(len(c.content)) + blockBytes; {
	case c.closed:
	case size != s.capacity:
		return nil, 0, &Damage{Index: c.next, Path: s.path, Reason: fmt.Sprintf("is missing: the file is cut short or damaged, at byte %d of %d", c.end, size)}
	case !isZero(rest[:min(headerBytes, len(rest))]) && !c.torn():
		return nil, 0, &Damage{Index: c.next, Path: s.path, Reason: "is damaged"}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last, s.end, s.points, s.holes, s.indexed = c.next-1, c.end, c.points, c.holes, true
	s.finished = c.closed
	if c.closed {
		return nil, 0, nil
	}
	return c.content[c.began : c.end-blockBytes], blockBytes + int64(c.began), nil
}
