// Package durable keeps small JSON documents in files. A power failure leaves either the old or the
// new document.
package durable

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Write replaces the file by value as JSON, and returns when it is on the disk.
func Write(path string, value any) error {
	data, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return fmt.Errorf("encode %s: %w", path, err)
	}
	return WriteBytes(path, append(data, '\n'))
}

// WriteBytes replaces the file by data, mode 0600, and returns when it is on the disk.
func WriteBytes(path string, data []byte) error {
	temporary := path + ".new"
	f, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	_, err = f.Write(data)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", path, err), os.Remove(temporary))
	}
	// gofail: var memberFileBeforeRename struct{}
	if err := os.Rename(temporary, path); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	// gofail: var memberFileAfterRename struct{}
	return syncDir(filepath.Dir(path))
}

// Read fills value from the file; false when there is no such file. Its errors are for the
// operator.
func Read(path string, value any) (bool, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if err := json.Unmarshal(data, value); err != nil {
		return false, fmt.Errorf("%s is damaged (%w): remove this node from the cluster and start it with an empty data directory, or restore a backup",
			path, err)
	}
	return true, nil
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
