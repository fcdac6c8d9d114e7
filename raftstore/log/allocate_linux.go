package log

import (
	"errors"
	"os"
	"syscall"
)

// allocate reserves disk blocks for length bytes of the file from offset from, also beyond its end.
// It does nothing if the file system does not support it.
func allocate(f *os.File, from, length int64) error {
	err := syscall.Fallocate(int(f.Fd()), 0, from, length)
	if errors.Is(err, syscall.EOPNOTSUPP) || errors.Is(err, syscall.ENOSYS) {
		return nil
	}
	return err
}
