package smalldisk

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Disk is a mounted file system. Its methods must not be called concurrently.
type Disk struct {
	// Dir is an empty directory on the disk.
	Dir string

	t    testing.TB
	root string
}

// New mounts a file system of the given size and unmounts it when the test ends. It skips the test
// if the process may not mount.
func New(t testing.TB, bytes int64) *Disk {
	t.Helper()
	d := &Disk{t: t, root: t.TempDir()}
	d.Dir = filepath.Join(d.root, "data")
	err := syscall.Mount("tmpfs", d.root, "tmpfs", 0, fmt.Sprintf("size=%d", bytes))
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) {
		t.Skip("mounting a small file system needs root")
	}
	if err != nil {
		t.Fatalf("mount a small file system: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(d.root, syscall.MNT_DETACH); err != nil {
			t.Errorf("unmount the small file system: %v", err)
		}
	})
	if err := os.Mkdir(d.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return d
}

// Free returns the number of free bytes.
func (d *Disk) Free() int64 {
	d.t.Helper()
	var stat syscall.Statfs_t
	if err := syscall.Statfs(d.root, &stat); err != nil {
		d.t.Fatal(err)
	}
	return int64(stat.Bavail) * stat.Bsize
}

// Fill writes a file until at most left bytes are free, as another program would. It can be called
// again.
func (d *Disk) Fill(left int64) {
	d.t.Helper()
	f, err := os.OpenFile(d.ballast(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		d.t.Fatal(err)
	}
	defer f.Close()
	for free := d.Free(); free > left; free = d.Free() {
		_, err := f.Write(make([]byte, min(free-left, 1<<20)))
		if errors.Is(err, syscall.ENOSPC) {
			return
		}
		if err != nil {
			d.t.Fatal(err)
		}
	}
}

// Clear removes what Fill wrote.
func (d *Disk) Clear() {
	d.t.Helper()
	if err := os.Remove(d.ballast()); err != nil {
		d.t.Fatal(err)
	}
}

func (d *Disk) ballast() string { return filepath.Join(d.root, "ballast") }
