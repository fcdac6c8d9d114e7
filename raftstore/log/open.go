package log

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

const (
	// replacementSuffix is the suffix of the file that createFile and reset write and then rename
	// to the log's name.
	replacementSuffix = ".new"
	minMmapBytes      = 64 << 20
	readAheadBytes    = 1 << 20
)

// minFileBytes is the size of bolt's two meta pages, without which a file can't be checked.
func minFileBytes() int64 { return 2 * int64(os.Getpagesize()) }

// openFile opens the bolt file at cfg.Path. If the file was not closed properly, openFile checks
// its structure first.
//
// It opens the file with NoFreelistSync, which makes appends several times faster after many
// deletions: bolt does not write its list of free pages with each commit. If the file has no list,
// bolt builds one when it opens the file, by walking all pages in use. On a damaged file that walk
// panics in a goroutine of bolt's, where openFile cannot recover. If the file is not in the page
// cache, the walk takes minutes for a few GiB. So Close writes the list, and after a crash openFile
// reads the file sequentially into the page cache, which is twenty times faster than a walk from
// disk, and walks it with its own checks, which return an error for a damaged page.
func openFile(cfg Config) (*bbolt.DB, error) {
	info, err := os.Stat(cfg.Path)
	switch {
	case err == nil && info.Size() > 0 && info.Size() < minFileBytes():
		return nil, &Corrupt{Path: cfg.Path, Reason: fmt.Sprintf("is cut short: %d bytes", info.Size())}
	case err == nil && info.Size() > 0:
		if err := prepare(cfg); err != nil {
			return nil, err
		}
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("stat log file: %w", err)
	default:
		if err := createFile(cfg); err != nil {
			return nil, fmt.Errorf("create log: %w", err)
		}
	}
	db, err := openBolt(cfg.Path, cfg, bbolt.Options{NoFreelistSync: true})
	if err != nil {
		return nil, err
	}
	// A crash in reset left it. Under the lock no other process can be using it.
	if err := os.Remove(cfg.Path + replacementSuffix); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, errors.Join(fmt.Errorf("remove stale file: %w", err), db.Close())
	}
	if err := syncDir(filepath.Dir(cfg.Path)); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// createFile creates an empty log file atomically. bolt writes the first pages of a file in place,
// so a full disk or a crash could leave only a part of them, which would look like a truncated log.
// The caller ensures that no other process creates the file at the same time.
func createFile(cfg Config) error {
	path := cfg.Path + replacementSuffix
	if err := removeIfThere(path); err != nil {
		return err
	}
	db, err := openBolt(path, cfg, bbolt.Options{NoFreelistSync: true})
	if err == nil {
		err = db.Close()
	}
	if err == nil {
		err = os.Rename(path, cfg.Path)
	}
	if err != nil {
		return errors.Join(err, removeIfThere(path))
	}
	return nil
}

// openBolt calls bbolt.Open with this package's settings and returns this package's errors.
func openBolt(path string, cfg Config, options bbolt.Options) (db *bbolt.DB, err error) {
	options.Timeout = cfg.LockTimeout
	options.FreelistType = bbolt.FreelistMapType
	if !options.ReadOnly {
		// This reserves address space only. To grow the map later, bolt would wait for all readers
		// and block new ones while an append holds its lock.
		options.InitialMmapSize = int(max(minMmapBytes, cfg.MaxBytes+cfg.MaxBytes/4))
	}
	var file *os.File // closed, which releases its lock, if bolt panics
	options.OpenFile = func(name string, flag int, mode os.FileMode) (*os.File, error) {
		f, err := os.OpenFile(name, flag, mode)
		file = f
		return f, err
	}
	err = recoverCorrupt(path, func() error {
		db, err = bbolt.Open(path, 0o600, &options)
		return err
	})
	var damage *Corrupt
	switch {
	case err == nil:
		return db, nil
	case errors.As(err, &damage):
		// bolt's mapping of the file remains and would keep the lock.
		return nil, errors.Join(err, syscall.Flock(int(file.Fd()), syscall.LOCK_UN), file.Close())
	case errors.Is(err, bolterrors.ErrTimeout):
		return nil, fmt.Errorf("%s: %w", path, ErrLocked)
	case errors.Is(err, bolterrors.ErrInvalid), errors.Is(err, bolterrors.ErrChecksum), errors.Is(err, bolterrors.ErrVersionMismatch):
		return nil, &Corrupt{Path: path, Reason: fmt.Sprintf("is not a log file, or its beginning is damaged (%v)", err)}
	default:
		return nil, fmt.Errorf("%s: %w", path, err)
	}
}

// prepare checks an existing file, and has bolt store a list of free pages if the file has none.
func prepare(cfg Config) error {
	clean, err := inspect(cfg)
	if err != nil || clean {
		return err
	}
	// Opened with these options, bolt stores the list that it builds. After the file is closed and
	// opened again, no page of it stays mapped and resident.
	db, err := openBolt(cfg.Path, cfg, bbolt.Options{})
	if err != nil {
		return err
	}
	return db.Close()
}

// inspect checks the file under a shared lock. clean reports whether it was closed properly.
func inspect(cfg Config) (clean bool, err error) {
	db, err := openBolt(cfg.Path, cfg, bbolt.Options{ReadOnly: true})
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	err = recoverCorrupt(cfg.Path, func() error {
		clean, err = checkStructure(cfg.Path, db.Info().PageSize)
		return err
	})
	return clean, err
}

// readAhead brings the file into the page cache.
func readAhead(f *os.File) error {
	_, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{f}, make([]byte, readAheadBytes))
	if err != nil {
		return fmt.Errorf("read log file: %w", err)
	}
	return nil
}
