// Package diskio has the operations on files and folders that a log needs and package os lacks.
package diskio

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// SyncDir syncs a folder, which makes new, renamed and removed files in it durable.
func SyncDir(dir string) error {
	d, err := os.Open(filepath.Clean(dir))
	if err != nil {
		return fmt.Errorf("open folder to sync it: %w", err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return fmt.Errorf("sync folder %s: %w", dir, err)
	}
	return nil
}
