package log

import (
	"errors"
	"os"
	"syscall"
)

// allocate sets blocks aside, beyond the file's end too; nothing where the file system has no such thing.
func allocate(f *os.File, from, length int64) error {
	err := syscall.Fallocate(int(f.Fd()), 0, from, length)
	if errors.Is(err, syscall.EOPNOTSUPP) || errors.Is(err, syscall.ENOSYS) {
		return nil
	}
	return err
}
