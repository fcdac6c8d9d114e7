package schedule

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"quorate/cmd/quorate/datadir"
	"quorate/raftstore/backup"
)

const (
	prefix, suffix = "quorate-", ".backup"
	// stamp is the format of the scheduled time in a file's name. Names sort by time.
	stamp = "20060102T150405Z"
)

// directory holds the backups of one cluster, and possibly other files, which it leaves alone.
type directory struct {
	path    string
	cluster string
}

// fileName returns the name of the backup of a scheduled time.
func (d directory) fileName(scheduled time.Time) string {
	return prefix + d.cluster + "-" + scheduled.UTC().Format(stamp) + suffix
}

// scheduled returns the scheduled time of a file of this cluster.
func (d directory) scheduled(name string) (t time.Time, ok bool) {
	middle, ok := strings.CutSuffix(name, suffix)
	if !ok {
		return time.Time{}, false
	}
	text, ok := strings.CutPrefix(middle, prefix+d.cluster+"-")
	if !ok {
		return time.Time{}, false
	}
	t, err := time.Parse(stamp, text)
	return t, err == nil
}

// check returns an error for the operator unless the directory exists. Nothing creates it, because
// a directory that is missing may be one whose file system is not mounted.
func (d directory) check() error {
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

// existing verifies the file of a scheduled time that a former leader may have left, and returns
// its header and size. The error is fs.ErrNotExist without a file, and *backup.Damaged if the file
// is not a backup of this cluster.
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

// create writes, syncs and verifies the file of a scheduled time, and gives it its name after
// confirm has returned nil. It replaces a damaged file of the name.
func (d directory) create(scheduled time.Time, file func(*os.File) *pacedFile, write func(*pacedFile) error, confirm func() error) (h backup.Header, size int64, err error) {
	err = datadir.WriteStream(filepath.Join(d.path, d.fileName(scheduled)), 0o600, func(f *os.File) error {
		paced := file(f)
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

// prune removes the backups beyond the newest keep, and those that are older than maxAge unless it
// is 0. It never removes the newest one.
func (d directory) prune(keep int, maxAge time.Duration, now time.Time) error {
	entries, err := os.ReadDir(d.path)
	if err != nil {
		return err
	}
	var old []string
	kept := 0
	for i := len(entries) - 1; i >= 0; i-- { // by name, and so the newest first
		name := entries[i].Name()
		scheduled, ours := d.scheduled(name)
		if !ours || !entries[i].Type().IsRegular() {
			continue
		}
		if expired := maxAge > 0 && now.Sub(scheduled) > maxAge; kept > 0 && (expired || kept >= keep) {
			old = append(old, filepath.Join(d.path, name))
			continue
		}
		kept++
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
