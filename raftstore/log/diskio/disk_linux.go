package diskio

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Datasync syncs the content of a file, but not its times.
func Datasync(f *os.File) error {
	for {
		if err := syscall.Fdatasync(int(f.Fd())); !errors.Is(err, syscall.EINTR) {
			return os.NewSyscallError("fdatasync", err)
		}
	}
}

// WriteOut has the kernel write a part of a file to disk, and waits for it. Unlike Datasync it
// writes no metadata, so it does not make the part survive a loss of power. Without support of the
// kernel or of the file system it syncs the file.
func WriteOut(f *os.File, offset, size int64) error {
	const all = unix.SYNC_FILE_RANGE_WAIT_BEFORE | unix.SYNC_FILE_RANGE_WRITE | unix.SYNC_FILE_RANGE_WAIT_AFTER
	for {
		err := unix.SyncFileRange(int(f.Fd()), offset, size, all)
		switch {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.ENOSYS), errors.Is(err, syscall.EOPNOTSUPP), errors.Is(err, syscall.EINVAL):
			return Datasync(f)
		default:
			return os.NewSyscallError("sync_file_range", err)
		}
	}
}

// Allocate sets the size of a file and reserves disk blocks for it. Without support of the file
// system it sets only the size.
func Allocate(f *os.File, size int64) error {
	err := syscall.Fallocate(int(f.Fd()), 0, 0, size)
	if errors.Is(err, syscall.EOPNOTSUPP) || errors.Is(err, syscall.ENOSYS) {
		return f.Truncate(size)
	}
	return os.NewSyscallError("fallocate", err)
}

// ReplaceDir gives the folder fresh the name of another one, which it removes if there is one.
// Unless the file system can't exchange two folders, the name always has one of them.
func ReplaceDir(fresh, name string) error {
	err := unix.Renameat2(unix.AT_FDCWD, fresh, unix.AT_FDCWD, name, unix.RENAME_EXCHANGE)
	switch {
	case err == nil:
		return os.RemoveAll(fresh)
	case errors.Is(err, unix.ENOENT):
		return os.Rename(fresh, name)
	case errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOSYS):
		return errors.Join(os.RemoveAll(name), os.Rename(fresh, name))
	default:
		return os.NewSyscallError("renameat2", err)
	}
}
