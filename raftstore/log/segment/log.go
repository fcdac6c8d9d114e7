package segment

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"quorate/raftstore/log/diskio"
)

// Config configures a Log.
type Config struct {
	Dir string // must exist
	// Capacity is the size in bytes of a segment, which it exceeds only for a single larger entry.
	Capacity int64
	// Span bounds the time between the first and the last entry of a segment, so that old entries
	// can be removed although there are few. 0: no bound.
	Span     time.Duration
	ReadOnly bool
	// Newest is the number that Record was last called with, 0 if it never was. Record stores the
	// number of the newest segment, so that the next Open notices if that segment is missing. nil:
	// nothing is recorded.
	Newest uint64
	Record func(sequence uint64) error
	Logger *slog.Logger
}

// Log is an open log. See the package comment.
type Log struct {
	cfg      Config
	sequence uint64 // of the newest segment
	full     bool   // the next append begins a new segment
	filled   int64  // where the active segment begins to have what nobody has written, 0 if unknown
	batch    uint32 // number of the last append to the active segment
	began    int64  // time of the first entry of the active segment, noTime if it has none
	buf      []byte // of the last append
	doubt    error  // if not nil, all changes fail with it: ErrInDoubt or errReadOnly

	// datasync syncs the content of a file; tests replace it.
	datasync func(*os.File) error

	mu     sync.RWMutex // locked to change the fields below
	files  []*file      // oldest first; each continues the one before
	active *file        // the last one, if it takes appends
	spare  *os.File     // allocated by Reserve
}

// Open opens the log in a folder. It reads the last segment whole, and the first block of the
// others. Unless ReadOnly is set, it removes what a crash has left, and syncs what a process may
// have written without a sync.
func Open(cfg Config) (*Log, error) {
	l := &Log{cfg: cfg, datasync: diskio.Datasync}
	if cfg.ReadOnly {
		l.doubt = errReadOnly
	}
	sequences, err := l.list()
	if err != nil {
		return nil, err
	}
	if cfg.Newest > 0 && !slices.Contains(sequences, cfg.Newest) {
		return nil, &Damage{Path: filepath.Join(cfg.Dir, nameOf(cfg.Newest)), Reason: "is missing: it was removed"}
	}
	if err := l.open(sequences); err != nil {
		return nil, errors.Join(err, l.closeFiles())
	}
	return l, nil
}

// list returns the numbers of the segments in the folder, whose names it syncs, as a process whose
// sync failed did not. It removes an unused spare segment.
func (l *Log) list() (sequences []uint64, err error) {
	entries, err := os.ReadDir(l.cfg.Dir)
	if err != nil {
		return nil, fmt.Errorf("list segments: %w", err)
	}
	for _, entry := range entries {
		if sequence, is := sequenceOf(entry.Name()); is {
			sequences = append(sequences, sequence)
		}
	}
	if l.cfg.ReadOnly {
		return sequences, nil
	}
	if err := os.Remove(l.sparePath()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("remove spare segment: %w", err)
	}
	return sequences, diskio.SyncDir(l.cfg.Dir)
}

// open opens the segments, in the order of their numbers, without those that a later one replaces.
func (l *Log) open(sequences []uint64) error {
	slices.Sort(sequences)
	flag := os.O_RDWR
	if l.cfg.ReadOnly {
		flag = os.O_RDONLY
	}
	for _, sequence := range sequences {
		s, err := openFile(l.cfg.Dir, sequence, flag)
		if err != nil {
			return err
		}
		l.sequence = sequence
		if err := l.dropFrom(s.base); err != nil {
			return errors.Join(err, s.f.Close())
		}
		if n := len(l.files); n > 0 {
			if err := l.files[n-1].seal(s.base - 1); err != nil {
				return errors.Join(err, s.f.Close())
			}
		}
		l.files = append(l.files, s)
	}
	if len(l.files) == 0 {
		return nil
	}
	last := l.files[len(l.files)-1]
	entries, offset, err := last.openLast()
	if err != nil {
		return err
	}
	if err := l.rewrite(last, entries, offset); err != nil {
		return err
	}
	return l.dropFrom(last.last + 1) // the segment is empty, or nothing is dropped
}

// rewrite makes the last append of a segment durable. The process that wrote it may have ended
// because the sync failed. Then reads return what the disk does not have, and another sync does not
// write it, because the system takes it for written.
func (l *Log) rewrite(s *file, entries []byte, offset int64) error {
	if l.cfg.ReadOnly || len(entries) == 0 {
		return nil
	}
	if _, err := s.f.WriteAt(entries, offset); err != nil {
		return fmt.Errorf("rewrite the last entries of %s: %w", s.path, err)
	}
	if err := l.datasync(s.f); err != nil {
		return fmt.Errorf("sync %s: %w", s.path, err)
	}
	return nil
}

// dropFrom removes the segments whose base is at least index, newest first, so that those that are
// left have no gap if a crash interrupts it. The caller does not hold mu.
func (l *Log) dropFrom(index uint64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for n := len(l.files); n > 0 && l.files[n-1].base >= index; n = len(l.files) {
		s := l.files[n-1]
		l.files, l.active = l.files[:n-1], nil
		if err := l.record(l.files); err != nil {
			return err
		}
		if err := l.drop(s); err != nil {
			return err
		}
	}
	return nil
}

// record records which of the segments is the newest.
func (l *Log) record(files []*file) error {
	if l.cfg.Record == nil || l.cfg.ReadOnly {
		return nil
	}
	newest := uint64(0)
	if n := len(files); n > 0 {
		newest = files[n-1].sequence
	}
	if err := l.cfg.Record(newest); err != nil {
		return fmt.Errorf("record the newest segment: %w", err)
	}
	return nil
}

// drop removes the file of a segment that is no longer listed. A read of it that is under way fails.
func (l *Log) drop(s *file) error {
	if !l.cfg.ReadOnly {
		if err := os.Remove(s.path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("remove segment: %w", err)
		}
	}
	return s.f.Close()
}

// Close marks the end of the log, so that a later loss of its last entries is noticed, and closes
// the files.
func (l *Log) Close() error {
	var err error
	if l.doubt == nil {
		err = l.finishLast()
	}
	return errors.Join(err, l.closeFiles())
}

// finishLast writes the closing frame after the last entry of the last segment, and gives the space
// beyond it back to the file system. A segment without space for that frame stays as it is.
func (l *Log) finishLast() error {
	if len(l.files) == 0 {
		return nil
	}
	s := l.files[len(l.files)-1]
	_, end := s.span()
	frame := appendClosing(nil)
	if s.finished || end+int64(len(frame)) > s.capacity {
		return nil
	}
	_, err := s.f.WriteAt(frame, end)
	if err == nil {
		err = l.datasync(s.f) // before the size changes: a segment without the frame would look cut short
	}
	if err == nil {
		err = s.f.Truncate(end + int64(len(frame)))
	}
	if err != nil {
		return fmt.Errorf("finish %s: %w", s.path, err)
	}
	s.finished = true
	return nil
}

func (l *Log) closeFiles() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var errs []error
	for _, s := range l.files {
		errs = append(errs, s.f.Close())
	}
	if l.spare != nil {
		errs = append(errs, l.spare.Close(), os.Remove(l.sparePath()))
	}
	l.files, l.active, l.spare = nil, nil, nil
	return errors.Join(errs...)
}

// Span returns the indexes of the first and last entry; both are 0 if the log is empty.
func (l *Log) Span() (first, last uint64) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if len(l.files) == 0 {
		return 0, 0
	}
	first = l.files[0].base
	if last, _ = l.files[len(l.files)-1].span(); last < first {
		return 0, 0
	}
	return first, last
}

// Bytes returns the number of bytes that the entries take, and that of their files, which includes
// what is allocated for further entries.
func (l *Log) Bytes() (used, allocated int64) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	for _, s := range l.files {
		_, end := s.span()
		used += end
		if s == l.active {
			end = max(end, s.capacity)
		}
		allocated += end
	}
	if l.spare != nil {
		allocated += l.cfg.Capacity
	}
	return used, allocated
}

func (l *Log) sparePath() string { return filepath.Join(l.cfg.Dir, "spare.tmp") }
