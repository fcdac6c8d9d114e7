package datadir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Write makes or replaces a file so that a reader, or a crash, meets the old content or the new one, never a part.
func (d *Dir) Write(name string, content []byte, mode os.FileMode) error {
	return WriteFile(d.Path(name), content, mode)
}

// WriteFile is Write for a file anywhere.
func WriteFile(path string, content []byte, mode os.FileMode) error {
	return WriteStream(path, mode, func(f *os.File) error {
		_, err := f.Write(content)
		return err
	})
}

// WriteStream is WriteFile for content that fill writes, and may read back. The file gets its name only when fill returned nil and
// all is on the disk; nothing is left of it otherwise.
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

// syncDir makes a rename survive a power failure.
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
