package segment

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	suffix         = ".segment"
	sequenceDigits = 16
	// pointDistance is the least number of bytes between two points.
	pointDistance = 16 << 10
)

// point says where the frame of an entry begins.
type point struct {
	index  uint64
	offset int64
}

// hole is a range of damaged entries, including first and last.
type hole struct {
	first, last uint64
	reason      string
}

// file is one segment. All its methods are safe for concurrent use.
type file struct {
	block
	path     string
	f        *os.File
	finished bool // nothing is written to it any more; under the control of the Log

	mu      sync.RWMutex
	last    uint64  // index of the last entry that counts, base-1 if there is none
	end     int64   // where the frame of that entry ends
	nanos   int64   // time of that entry, noTime if unknown
	points  []point // of some frames, in order; the first frame and the first after each hole have one
	holes   []hole  // in order
	indexed bool    // points and holes are complete
	next    point   // where the last read ended
}

func nameOf(sequence uint64) string { return fmt.Sprintf("%0*x%s", sequenceDigits, sequence, suffix) }

// sequenceOf returns the number of the segment called name.
func sequenceOf(name string) (uint64, bool) {
	digits, is := strings.CutSuffix(name, suffix)
	if !is || len(digits) != sequenceDigits {
		return 0, false
	}
	sequence, err := strconv.ParseUint(digits, 16, 64)
	return sequence, err == nil
}

// openFile opens a segment and reads its first block. Until its last entry is known, it has none.
func openFile(dir string, sequence uint64, flag int) (s *file, err error) {
	path := filepath.Join(dir, nameOf(sequence))
	f, err := os.OpenFile(path, flag, 0)
	if err != nil {
		return nil, err
	}
	s = &file{path: path, f: f, end: blockBytes, nanos: noTime}
	content := make([]byte, blockBytes)
	n, err := f.ReadAt(content, 0)
	if n < blockBytes && !isEOF(err) {
		return nil, errors.Join(fmt.Errorf("read %s: %w", path, err), f.Close())
	}
	if s.block, err = decodeBlock(content[:n], path, sequence); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	s.last = s.base - 1
	return s, nil
}

// span returns the index of the last entry, and where it ends.
func (s *file) span() (last uint64, end int64) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.last, s.end
}

// seal sets the last entry of a segment that the next one continues.
func (s *file) seal(last uint64) error {
	info, err := s.f.Stat()
	if err != nil {
		return fmt.Errorf("stat %s: %w", s.path, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last, s.end, s.finished = last, info.Size(), true
	return nil
}

// added records frames that have been written and synced.
func (s *file) added(frames []point, last uint64, end, nanos int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range frames {
		s.addPoint(p)
	}
	s.last, s.end, s.nanos = last, end, nanos
}

// addPoint records where a frame begins, unless that is near the last point. The caller holds mu.
func (s *file) addPoint(p point) {
	if n := len(s.points); n == 0 || p.offset-s.points[n-1].offset >= pointDistance {
		s.points = append(s.points, p)
	}
}

// cut makes the entry before index the last one, if there are later ones.
func (s *file) cut(index uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last >= index {
		s.last, s.nanos = index-1, noTime
	}
}

// newest returns the time of the last entry, zero if it is unknown.
func (s *file) newest() time.Time {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return timeOf(s.nanos)
}

// find returns the last point that is not after an entry, or an error if the entry is damaged. The
// segment must be indexed and have the entry.
func (s *file) find(index uint64) (point, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, h := range s.holes {
		if index >= h.first && index <= h.last {
			return point{}, &Damage{Index: index, Path: s.path, Reason: h.reason}
		}
	}
	i, found := slices.BinarySearchFunc(s.points, index, func(p point, index uint64) int { return cmp.Compare(p.index, index) })
	if !found {
		i--
	}
	return s.points[i], nil
}
