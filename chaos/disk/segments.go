package disk

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// What is read here of the segments of a log, whose format raftstore/log documents.
const (
	segmentPattern = "*.segment"
	segmentBlock   = 512 // before the first frame
	frameHeader    = 48
	frameMark      = 0xa5 // the last byte of the header of a frame
	frameAlign     = 8
)

// span is a range of bytes.
type span struct{ off, end int64 }

// segment is a file of a log.
type segment struct {
	path   string
	frames []span // of the entries, in order
	last   int    // the first of frames that belongs to the last append
}

// segments returns the files of a node's log that have entries, oldest first.
func segments(dataDir string) (all []segment, err error) {
	paths, err := filepath.Glob(filepath.Join(dataDir, logDir, segmentPattern))
	if err != nil {
		return nil, err
	}
	slices.Sort(paths)
	for _, path := range paths {
		s, err := readSegment(path)
		if err != nil {
			return nil, err
		}
		if len(s.frames) > 0 {
			all = append(all, s)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dataDir, logDir), ErrNothingToDamage)
	}
	return all, nil
}

func readSegment(path string) (segment, error) {
	s := segment{path: path}
	b, err := os.ReadFile(path)
	if err != nil {
		return s, err
	}
	var number uint32
	for at := segmentBlock; at+frameHeader <= len(b) && b[at+frameHeader-1] == frameMark; {
		size := frameHeader + int(binary.LittleEndian.Uint32(b[at+4:])) + int(binary.LittleEndian.Uint16(b[at+40:]))
		size = size/frameAlign*frameAlign + frameAlign
		if index := binary.LittleEndian.Uint64(b[at+8:]); index == 0 || at+size > len(b) {
			break // the log was closed here
		}
		if n := binary.LittleEndian.Uint32(b[at+32:]); n != number {
			number, s.last = n, len(s.frames)
		}
		s.frames = append(s.frames, span{int64(at), int64(at + size)})
		at += size
	}
	return s, nil
}
