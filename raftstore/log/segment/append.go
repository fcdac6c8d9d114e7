package segment

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"syscall"

	"github.com/hashicorp/raft"

	"quorate/raftstore/log/diskio"
)

// Append writes entries and syncs them. The indexes must be consecutive and continue the log, or be
// any if the log is empty. If Append fails, the log has none of the entries, unless the error is
// ErrInDoubt; but after a crash before the next append it may have the first ones.
func (l *Log) Append(entries []*raft.Log) error {
	if l.doubt != nil {
		return l.doubt
	}
	for _, e := range entries {
		if err := checkEntry(e); err != nil {
			return err
		}
	}
	first := entries[0].Index
	if err := l.continues(first); err != nil {
		return err
	}
	for len(entries) > 0 {
		fit, size := l.fit(entries)
		var err error
		if fit == 0 {
			err = l.begin(entries[0].Index, bytesOf(entries[0]))
		} else {
			err = l.write(entries[:fit], size)
			entries = entries[fit:]
		}
		if err != nil {
			return l.undo(first, err)
		}
	}
	return nil
}

// continues returns an error if an entry cannot be the next one. It removes a segment that an
// earlier append has begun for another entry, without success.
func (l *Log) continues(index uint64) error {
	_, last := l.Span()
	switch {
	case last > 0 && index != last+1:
		return fmt.Errorf("entry %d does not follow %d", index, last)
	case last == 0 && l.active != nil && l.active.base != index:
		return l.dropFrom(0)
	}
	return nil
}

// fit returns how many entries fit into the active segment, and how many bytes they take.
func (l *Log) fit(entries []*raft.Log) (count int, size int64) {
	if l.active == nil || l.full || l.batch == math.MaxUint32 || l.spans(entries[0]) {
		return 0, 0
	}
	_, end := l.active.span()
	for _, e := range entries {
		n := bytesOf(e)
		if end+size+n > l.active.capacity {
			break
		}
		size += n
		count++
	}
	return count, size
}

// spans reports whether an entry is too much younger than the first one of the active segment.
func (l *Log) spans(entry *raft.Log) bool {
	nanos := nanosOf(entry.AppendedAt)
	return l.cfg.Span > 0 && l.began != noTime && nanos != noTime && nanos-l.began > int64(l.cfg.Span)
}

// write appends entries to the active segment in one write, maybe with zeros behind them, and syncs
// it.
func (l *Log) write(entries []*raft.Log, size int64) error {
	s := l.active
	_, end := s.span()
	upTo := l.fillTo(end + size)
	if int64(cap(l.buf)) < upTo-end {
		l.buf = make([]byte, 0, upTo-end)
	}
	buf := l.buf[:0]
	if cap(l.buf) > maxSpareBuffer {
		l.buf = nil
	}
	l.batch++
	points := make([]point, 0, 1+size/pointDistance)
	for i, e := range entries {
		offset := end + int64(len(buf))
		if n := len(points); n == 0 || offset-points[n-1].offset >= pointDistance {
			points = append(points, point{e.Index, offset})
		}
		buf = appendFrame(buf, e, l.batch, uint32(len(entries)-1-i))
	}
	buf = append(buf, make([]byte, upTo-end-size)...)
	// gofail: var breakAckBeforeSync struct{}
	// return l.writeLate(s, buf[:size], points, entries[len(entries)-1], end)

	// gofail: var breakSkipSync struct{}
	// l.datasync = func(*os.File) error { return nil }

	if _, err := s.f.WriteAt(buf, end); err != nil {
		l.full = true // what it may have left after the end is replaced by the next segment
		return fmt.Errorf("write %s: %w", s.path, err)
	}
	if err := l.datasync(s.f); err != nil {
		return l.stop(fmt.Errorf("sync %s: %w", s.path, err))
	}
	l.filled = max(l.filled, upTo)
	if l.began == noTime {
		l.began = nanosOf(entries[0].AppendedAt)
	}
	last := entries[len(entries)-1]
	s.added(points, last.Index, end+size, nanosOf(last.AppendedAt))
	return nil
}

// fillBytes is how much of a segment is filled with zeros at a time, ahead of the frames. Where the
// file system has reserved blocks and nobody has written them, each sync also has to write to the
// file system's journal that they are in use now, and waits there for other files.
const fillBytes = 256 << 10

// fillTo returns where the zeros are to end that follow frames which end at an offset of the active
// segment: there, if so much has been filled before.
func (l *Log) fillTo(end int64) int64 {
	if end <= l.filled {
		return end
	}
	return min((end/fillBytes+1)*fillBytes, l.active.capacity)
}

// maxSpareBuffer bounds the buffer kept between appends.
const maxSpareBuffer = 4 << 20

// stop makes the log refuse all further changes, because the disk may have a change that memory does
// not have.
func (l *Log) stop(cause error) error {
	l.doubt = fmt.Errorf("%w: %w", ErrInDoubt, cause)
	return l.doubt
}

// Stop makes the log refuse all further changes, with err.
func (l *Log) Stop(err error) { l.doubt = err }

// undo removes the entries from index on after an append that failed, and returns the error to
// report.
func (l *Log) undo(index uint64, cause error) error {
	if _, last := l.Span(); l.doubt != nil || last < index {
		return cause
	}
	if err := l.Truncate(index); err != nil {
		return l.stop(errors.Join(cause, err))
	}
	return cause
}

// begin begins a new segment, whose first entry will be index and take size bytes.
func (l *Log) begin(index uint64, size int64) error {
	f, capacity, err := l.takeSpare(blockBytes + size)
	if err != nil {
		return err
	}
	s := &file{
		block: block{sequence: l.sequence + 1, base: index, capacity: capacity},
		f:     f, last: index - 1, end: blockBytes, nanos: noTime, indexed: true,
	}
	s.path = filepath.Join(l.cfg.Dir, nameOf(s.sequence))
	_, err = f.WriteAt(s.encode(), 0)
	if err == nil {
		err = f.Sync()
	}
	// gofail: var segmentBeforeRename struct{}
	if err == nil {
		err = os.Rename(l.sparePath(), s.path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("begin segment: %w", err), f.Close(), os.Remove(l.sparePath()))
	}
	// gofail: var segmentAfterRename struct{}
	l.sequence++
	err = diskio.SyncDir(l.cfg.Dir)
	if err == nil {
		err = l.record([]*file{s})
	}
	if err != nil {
		return l.stop(errors.Join(err, f.Close())) // the segment may be there after a crash, and would end the one before
	}
	if err := l.finishLast(); err != nil { // it only keeps the space that it does not use
		l.cfg.Logger.Warn("could not shorten a full segment of the log", "error", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.files, l.active, l.full, l.filled, l.batch, l.began = append(l.files, s), s, false, 0, 0, noTime
	return nil
}

// Reserve allocates the next segment, so that appends have space for some time even if other files
// fill the disk. It does nothing if it has been called before and that segment is not in use.
func (l *Log) Reserve() error {
	if l.doubt != nil {
		return l.doubt
	}
	if l.spare != nil {
		return nil
	}
	f, err := l.create(l.cfg.Capacity)
	l.setSpare(f)
	return err
}

func (l *Log) setSpare(f *os.File) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.spare = f
}

// takeSpare returns an allocated file at sparePath, of at least the given size, and its size. A disk
// that is nearly full gets a smaller segment than usual.
func (l *Log) takeSpare(least int64) (f *os.File, capacity int64, err error) {
	capacity = max(l.cfg.Capacity, least)
	if f = l.spare; f != nil {
		l.setSpare(nil)
		if capacity == l.cfg.Capacity {
			return f, capacity, nil
		}
		if err := f.Close(); err != nil {
			return nil, 0, fmt.Errorf("close spare segment: %w", err)
		}
	}
	for {
		f, err = l.create(capacity)
		if !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT) || capacity == least {
			return f, capacity, err
		}
		capacity = max(capacity/2, least)
	}
}

// create creates and allocates a file of the given size at sparePath.
func (l *Log) create(capacity int64) (*os.File, error) {
	f, err := os.OpenFile(l.sparePath(), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("create segment: %w", err)
	}
	if err := diskio.Allocate(f, capacity); err != nil {
		return nil, errors.Join(fmt.Errorf("allocate segment: %w", err), f.Close(), os.Remove(l.sparePath()))
	}
	return f, nil
}
