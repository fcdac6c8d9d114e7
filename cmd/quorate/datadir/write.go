package datadir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Write creates or replaces a file atomically: readers, and a restart after a crash, find the old
// content or the new one.
func (d *Dir) Write(name string, content []byte, mode os.FileMode) error {
	return WriteFile(d.Path(name), content, mode)
}

// WriteFile is Write for a file outside of a data directory.
func WriteFile(path string, content []byte, mode os.FileMode) error {
	return WriteStream(path, mode, func(f *os.File) error {
		_, err := f.Write(content)
		return err
	})
}

// WriteStream is WriteFile for content that fill writes, and may read back. The file gets its name
// only after fill has returned nil and the content is synced; otherwise it is removed.
func WriteStream(path string, mode os.FileMode, fill func(f *os.File) error) error {
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, cause(err))
	}
	err = fill(temp)
	if err == nil {
		err = temp.Chmod(mode)
	}
	if err == nil {
		err = temp.Sync()
	}
	err = errors.Join(err, temp.Close())
	if err == nil {
		// gofail: var dataFileBeforeRename struct{}
		err = os.Rename(temp.Name(), path)
		// gofail: var dataFileAfterRename struct{}
	}
	if err == nil {
		err = syncDir(filepath.Dir(path))
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", path, cause(err)), removeIfThere(temp.Name()))
	}
	return nil
}

// syncDir syncs a directory, so that a rename in it survives a power failure.
func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		return err
	}
	return nil
}
