package schedule

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"quorate/cmd/quorate/datadir"
	"quorate/raftstore/backup"
)

// directory is a destination in a file system. Other files in it are left alone.
type directory struct {
	names
	path string
	// needed returns how many bytes of the directory's disk must stay free.
	needed func() (int64, error)
}

// check implements destination. Nothing creates the directory, because one that is missing may be
// one whose file system is not mounted.
func (d directory) check(context.Context) error {
	info, err := os.Stat(d.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("--backup-dir %s does not exist: create it, or mount its file system: %w", d.path, fs.ErrNotExist)
	case err != nil:
		return fmt.Errorf("--backup-dir: %w", err)
	case !info.IsDir():
		return fmt.Errorf("--backup-dir %s is no directory: %w", d.path, fs.ErrNotExist)
	}
	return nil
}

// existing implements destination.
func (d directory) existing(ctx context.Context, scheduled time.Time, pace *pacer) (backup.Header, int64, error) {
	f, err := os.Open(filepath.Join(d.path, d.fileName(scheduled)))
	if err != nil {
		return backup.Header{}, 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return backup.Header{}, 0, err
	}
	h, err := backup.Verify(&pacedReader{ctx, f, pace})
	if err == nil && h.ClusterID != d.cluster {
		err = &backup.Damaged{Reason: "is of another cluster"}
	}
	return h, info.Size(), err
}

// create implements destination. It writes and syncs the file, and reads it back from the disk,
// before it gives the file its name.
func (d directory) create(ctx context.Context, scheduled time.Time, pace *pacer, write func(io.Writer) error, confirm func() error) (h backup.Header, size int64, err error) {
	if err := d.removeUnfinished(); err != nil {
		return backup.Header{}, 0, err
	}
	err = datadir.WriteStream(filepath.Join(d.path, d.fileName(scheduled)), 0o600, func(f *os.File) error {
		paced := &pacedFile{ctx: ctx, file: f, pacer: pace, needed: d.needed}
		if err := write(paced); err != nil {
			return err
		}
		from, err := paced.rewound()
		if err != nil {
			return err
		}
		if h, err = backup.Verify(from); err != nil {
			return err
		}
		size = paced.written
		return confirm()
	})
	return h, size, err
}

// removeUnfinished removes temporary files, which writers of this cluster left that were killed. A
// former leader that still writes one fails when it renames it.
func (d directory) removeUnfinished() error {
	left, err := filepath.Glob(filepath.Join(d.path, "."+prefix+d.cluster+"-*"+suffix+"-*"))
	if err != nil {
		return err
	}
	return remove(left)
}

// prune implements destination.
func (d directory) prune(_ context.Context, keep int, maxAge time.Duration, now time.Time) error {
	entries, err := os.ReadDir(d.path)
	if err != nil {
		return err
	}
	var files []string
	for _, entry := range entries {
		if entry.Type().IsRegular() {
			files = append(files, entry.Name())
		}
	}
	var old []string
	for _, name := range d.expired(files, keep, maxAge, now) {
		old = append(old, filepath.Join(d.path, name))
	}
	return remove(old)
}

// remove removes files that another node may have removed already.
func remove(paths []string) error {
	var errs []error
	for _, path := range paths {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
