//go:build !linux

package diskio

import (
	"errors"
	"os"
)

// Datasync syncs the content of a file.
func Datasync(f *os.File) error { return f.Sync() }

// WriteOut has the kernel write a part of a file to disk, and waits for it.
func WriteOut(f *os.File, _, _ int64) error { return f.Sync() }

// Allocate sets the size of a file.
func Allocate(f *os.File, size int64) error { return f.Truncate(size) }

// ReplaceDir gives the folder fresh the name of another one, which it removes if there is one.
func ReplaceDir(fresh, name string) error {
	return errors.Join(os.RemoveAll(name), os.Rename(fresh, name))
}
