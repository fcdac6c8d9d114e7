package segment

import (
	"errors"
	"time"

	"quorate/raftstore/log/diskio"
)

// Truncate removes the entries from index on. After a crash before the next append, some of them may
// be there again.
func (l *Log) Truncate(index uint64) error {
	if l.doubt != nil {
		return l.doubt
	}
	if err := l.dropFrom(index); err != nil {
		return err
	}
	l.mu.RLock()
	defer l.mu.RUnlock()
	if n := len(l.files); n > 0 {
		l.files[n-1].cut(index)
		l.full = true // a new segment replaces what the file has from there on
	}
	return nil
}

// Reset removes all entries.
func (l *Log) Reset() error {
	if l.doubt != nil {
		return l.doubt
	}
	if err := l.record(nil); err != nil {
		return err
	}
	if err := l.dropOldest(len(l.files)); err != nil {
		return err
	}
	return diskio.SyncDir(l.cfg.Dir)
}

// dropOldest removes the first segments, oldest first, so that those that are left have no gap if a
// crash interrupts it. It frees the disk space outside of mu, which takes a while.
func (l *Log) dropOldest(count int) error {
	for range count {
		l.mu.Lock()
		s := l.files[0]
		l.files = l.files[1:]
		if s == l.active {
			l.active = nil
		}
		l.mu.Unlock()
		if err := l.drop(s); err != nil {
			return err
		}
	}
	return nil
}

// Oldest describes the oldest segment.
type Oldest struct {
	Last   uint64    // index of its last entry
	Bytes  int64     // that DropOldest frees
	Newest time.Time // when its last entry was appended, or a later one; zero if unknown
}

// Oldest returns the oldest segment, unless it is the only one.
func (l *Log) Oldest() (Oldest, bool) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if len(l.files) < 2 {
		return Oldest{}, false
	}
	s := l.files[0]
	last, end := s.span()
	o := Oldest{Last: last, Bytes: end}
	if at := s.newest(); !at.IsZero() {
		o.Newest = at
	} else if rec, err := l.files[1].readFirst(); err == nil {
		o.Newest = rec.Time()
	}
	return o, true
}

// DropOldest removes the oldest segment, which must not be the only one.
func (l *Log) DropOldest() error {
	if l.doubt != nil {
		return l.doubt
	}
	if len(l.files) < 2 {
		return errors.New("remove the oldest segment: it is the only one")
	}
	return l.dropOldest(1)
}
