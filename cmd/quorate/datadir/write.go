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
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, cause(err))
	}
	err = fill(temp, content, mode)
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err == nil {
		err = syncDir(filepath.Dir(path))
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", path, cause(err)), removeIfThere(temp.Name()))
	}
	return nil
}

func fill(f *os.File, content []byte, mode os.FileMode) error {
	_, err := f.Write(content)
	if err == nil {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
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
