package disk

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// The places of a node's files below its data directory, as documented in raftstore/log and
// raftstore/snapshot.
const (
	logDir        = "raft/log"
	snapshotsDir  = "raft/snapshots"
	snapshotState = "state.bin"
	snapshotMeta  = "meta.json"
)

// tornPages is the number of pages at the end of a log that TearLog may damage.
const tornPages = 8

// ErrNothingToDamage reports that a node does not have the file, or that it is empty.
var ErrNothingToDamage = errors.New("there is nothing to damage")

// The functions below damage the data directory of a node that has ended, at places chosen with r.
// They return a short description of the damage for a report.

// FlipLog flips one bit of an entry of the Raft log.
func FlipLog(r *rand.Rand, dataDir string) (string, error) {
	all, err := segments(dataDir)
	if err != nil {
		return "", err
	}
	s := all[r.IntN(len(all))]
	return edit(s.path, func(f *os.File) (string, error) { return flip(r, f, s.frames[r.IntN(len(s.frames))]) })
}

// TruncateLog removes the end of the Raft log: at least one byte and at most half of the entries in
// its newest file.
func TruncateLog(r *rand.Rand, dataDir string) (string, error) {
	all, err := segments(dataDir)
	if err != nil {
		return "", err
	}
	s := all[len(all)-1]
	return edit(s.path, func(f *os.File) (string, error) {
		end := s.frames[len(s.frames)-1].end
		size := end - 1 - r.Int64N((end-segmentBlock+1)/2)
		return fmt.Sprintf("%s: cut off at byte %d of %d in use", filepath.Base(f.Name()), size, end), f.Truncate(size)
	})
}

// TearLog replaces some sectors near the end of the Raft log by zeros, as writes that did not reach
// the disk leave them. It leaves the last append alone: no node can know that it was acknowledged.
func TearLog(r *rand.Rand, dataDir string) (string, error) {
	all, err := segments(dataDir)
	if err != nil {
		return "", err
	}
	s := all[len(all)-1]
	frames := s.frames[:s.last]
	if len(frames) == 0 && len(all) > 1 {
		s = all[len(all)-2]
		frames = s.frames
	}
	if len(frames) == 0 {
		return "", fmt.Errorf("%s: %w", s.path, ErrNothingToDamage)
	}
	return edit(s.path, func(f *os.File) (string, error) {
		end := frames[len(frames)-1].end
		begin := max(segmentBlock, end-tornPages*pageBytes)
		at := begin + r.Int64N(end-begin)
		to := min(at+(1+r.Int64N(tornPages))*sectorBytes, end)
		_, err = f.WriteAt(make([]byte, to-at), at)
		return fmt.Sprintf("%s: %d bytes from byte %d on are zeros", filepath.Base(f.Name()), to-at, at), err
	})
}

// FlipSnapshot flips one bit of the newest snapshot: of its state or of its metadata.
func FlipSnapshot(r *rand.Rand, dataDir string) (string, error) {
	dir, err := newestSnapshot(dataDir)
	if err != nil {
		return "", err
	}
	file := snapshotState
	if r.IntN(4) == 0 {
		file = snapshotMeta
	}
	return edit(filepath.Join(dir, file), func(f *os.File) (string, error) {
		info, err := f.Stat()
		if err != nil {
			return "", err
		}
		if info.Size() == 0 {
			return "", fmt.Errorf("%s: %w", f.Name(), ErrNothingToDamage)
		}
		return flip(r, f, span{0, info.Size()})
	})
}

// newestSnapshot returns the folder of the newest complete snapshot.
func newestSnapshot(dataDir string) (string, error) {
	metas, err := filepath.Glob(filepath.Join(dataDir, snapshotsDir, "*", snapshotMeta))
	if err != nil {
		return "", err
	}
	var newest string
	var latest os.FileInfo
	for _, meta := range metas {
		dir := filepath.Dir(meta)
		if filepath.Ext(dir) == ".tmp" { // it never became one
			continue
		}
		info, err := os.Stat(meta)
		if err != nil {
			return "", err
		}
		if latest == nil || info.ModTime().After(latest.ModTime()) {
			newest, latest = dir, info
		}
	}
	if latest == nil {
		return "", fmt.Errorf("snapshots of %s: %w", dataDir, ErrNothingToDamage)
	}
	return newest, nil
}

// Empty deletes the contents of a data directory, but not the directory.
func Empty(dataDir string) (string, error) {
	entries, err := os.ReadDir(dataDir)
	if err != nil {
		return "", err
	}
	for _, entry := range entries {
		if err := os.RemoveAll(filepath.Join(dataDir, entry.Name())); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%d files and directories deleted", len(entries)), nil
}

// edit changes a file and syncs it, so that a later power cut doesn't undo the change.
func edit(path string, do func(*os.File) (string, error)) (what string, err error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("%s: %w", path, ErrNothingToDamage)
	}
	if err != nil {
		return "", err
	}
	what, err = do(f)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return "", fmt.Errorf("damage %s: %w", path, err)
	}
	return what, nil
}

func flip(r *rand.Rand, f *os.File, in span) (string, error) {
	at, bit := in.off+r.Int64N(in.end-in.off), r.IntN(8)
	one := make([]byte, 1)
	if _, err := f.ReadAt(one, at); err != nil {
		return "", err
	}
	one[0] ^= 1 << bit
	_, err := f.WriteAt(one, at)
	return fmt.Sprintf("%s: bit %d of byte %d turned over", filepath.Base(f.Name()), bit, at), err
}
