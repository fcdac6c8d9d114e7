package logsink

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

const (
	// stampLayout is the form of the time in the name of a rotated file; the names sort by time.
	stampLayout = "20060102T150405.000000000Z"
	fileMode    = 0o600
)

// FileConfig holds the settings of a file. All fields but Removed are required.
type FileConfig struct {
	Path string
	// MaxBytes is the size at which the file is rotated, MaxAge the time after its first line.
	MaxBytes int64
	MaxAge   time.Duration
	// MaxFiles is how many rotated files are kept; the oldest are removed.
	MaxFiles int
	// Removed, if not nil, counts the rotated files that are removed.
	Removed prometheus.Counter
}

// File is a file that lines are appended to. It is rotated to PATH.TIME, in UTC. If its path is
// that of something else than a regular file, such as a pipe or a device, File only writes to it.
type File struct {
	cfg     FileConfig
	file    *os.File // nil after a rotation that failed half-way
	size    int64
	begun   time.Time // when the first line was written, or before
	rotated []rotated // oldest first
	plain   bool      // no regular file
	// remaining is how many bytes the files may still grow by.
	remaining atomic.Int64
}

type rotated struct {
	path  string
	bytes int64
}

// OpenFile opens or creates a file, for its owner only, and removes rotated files beyond MaxFiles.
func OpenFile(cfg FileConfig) (*File, error) {
	f := &File{cfg: cfg}
	if err := f.open(); err != nil {
		return nil, err
	}
	if f.plain {
		return f, nil
	}
	if err := f.findRotated(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func (f *File) open() error {
	file, err := os.OpenFile(f.cfg.Path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, fileMode)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		return errors.Join(err, file.Close())
	}
	f.file, f.size, f.begun, f.plain = file, info.Size(), info.ModTime(), !info.Mode().IsRegular()
	return nil
}

// findRotated lists the files of earlier rotations. The newest was rotated when the present file
// was begun.
func (f *File) findRotated() error {
	paths, err := filepath.Glob(escape(f.cfg.Path) + ".*Z")
	if err != nil {
		return fmt.Errorf("find rotated files: %w", err)
	}
	slices.Sort(paths)
	for _, path := range paths {
		at, err := time.Parse(stampLayout, strings.TrimPrefix(path, f.cfg.Path+"."))
		if err != nil {
			continue // not one of ours
		}
		info, err := os.Stat(path)
		if err != nil {
			return fmt.Errorf("measure a rotated file: %w", err)
		}
		f.rotated = append(f.rotated, rotated{path, info.Size()})
		f.begun = at
	}
	return f.prune()
}

// escape quotes what has a meaning in a pattern.
func escape(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// Deliver appends a batch, after a rotation if one is due. After an error the file holds no part of
// the batch.
func (f *File) Deliver(_ context.Context, batch []byte) error {
	if f.file == nil {
		if err := f.open(); err != nil {
			return err
		}
	}
	if f.plain {
		_, err := f.file.Write(batch)
		return err
	}
	if f.due(int64(len(batch))) {
		if err := f.rotate(); err != nil {
			return err
		}
	}
	if f.size == 0 {
		f.begun = time.Now()
	}
	if _, err := f.file.Write(batch); err != nil {
		return errors.Join(err, f.file.Truncate(f.size))
	}
	f.size += int64(len(batch))
	f.account()
	return nil
}

// due reports whether the file must be rotated before it grows by so many bytes.
func (f *File) due(bytes int64) bool {
	return f.size > 0 && (f.size+bytes > f.cfg.MaxBytes || time.Since(f.begun) > f.cfg.MaxAge)
}

// rotate renames the file and begins another one, unless somebody else has emptied it. Without the
// rename, lines are dropped rather than written beyond the bound.
func (f *File) rotate() error {
	info, err := f.file.Stat()
	if err != nil {
		return fmt.Errorf("measure the file: %w", err)
	}
	if info.Size() == 0 {
		f.size = 0
		return nil
	}
	path := f.cfg.Path + "." + time.Now().UTC().Format(stampLayout)
	switch err := os.Rename(f.cfg.Path, path); {
	case err == nil:
		f.rotated = append(f.rotated, rotated{path, info.Size()})
	case !errors.Is(err, os.ErrNotExist): // else somebody has moved the file
		return fmt.Errorf("rotate the file: %w", err)
	}
	closed := f.file.Close()
	f.file = nil
	if err := errors.Join(closed, f.prune(), f.open()); err != nil {
		return fmt.Errorf("rotate the file: %w", err)
	}
	return nil
}

// prune removes the oldest rotated files beyond MaxFiles.
func (f *File) prune() error {
	for len(f.rotated) > f.cfg.MaxFiles {
		if err := os.Remove(f.rotated[0].path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("remove a rotated file: %w", err)
		}
		f.rotated = f.rotated[1:]
		if f.cfg.Removed != nil {
			f.cfg.Removed.Inc()
		}
	}
	f.account()
	return nil
}

// account updates what Remaining returns.
func (f *File) account() {
	used := f.size
	for _, r := range f.rotated {
		used += r.bytes
	}
	f.remaining.Store(max(0, int64(f.cfg.MaxFiles+1)*f.cfg.MaxBytes-used))
}

// Remaining returns how many bytes the file and its rotated files may still grow by. It is safe for
// concurrent use.
func (f *File) Remaining() int64 { return f.remaining.Load() }

// Path returns the path of the file that lines are appended to.
func (f *File) Path() string { return f.cfg.Path }

// Close closes the file.
func (f *File) Close() error {
	if f.file == nil {
		return nil
	}
	err := f.file.Close()
	f.file = nil
	return err
}
