package diskguard

import (
	"strings"
	"syscall"
	"testing"
)

// TestBlocksOfSharedFolders: a file system that likes to be read by the MiB has blocks of 4 KiB.
func TestBlocksOfSharedFolders(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		stat syscall.Statfs_t
		want uint64
	}{
		{syscall.Statfs_t{Bsize: 1 << 20, Frsize: 4096}, 4096},
		{syscall.Statfs_t{Bsize: 4096, Frsize: 4096}, 4096},
		{syscall.Statfs_t{Bsize: 4096}, 4096}, // of old kernels
	} {
		if got := blockSize(&c.stat); got != c.want {
			t.Errorf("%d, want %d", got, c.want)
		}
	}
}

// TestReasonOfTheAlarm: with a quota, what is free says nothing.
func TestReasonOfTheAlarm(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		disk measurement
		want string
	}{
		{measurement{free: 10 << 30, need: 256 << 20, denied: true}, "10240 MiB left, but gives none"},
		{measurement{free: 1 << 20, need: 256 << 20, denied: true}, "1 MiB left, less than the reserve of 256 MiB"},
		{measurement{free: 100 << 20, need: 256 << 20}, "100 MiB left, less than the reserve of 256 MiB"},
	} {
		if got := c.disk.message("data"); !strings.Contains(got, c.want) {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}
