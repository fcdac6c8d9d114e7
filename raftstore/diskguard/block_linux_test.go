package diskguard

import (
	"strings"
	"syscall"
	"testing"
)

// A file system that prefers reads of 1 MiB has blocks of 4 KiB.
func TestBlockSizeOfSharedFolders(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		stat syscall.Statfs_t
		want uint64
	}{
		{syscall.Statfs_t{Bsize: 1 << 20, Frsize: 4096}, 4096},
		{syscall.Statfs_t{Bsize: 4096, Frsize: 4096}, 4096},
		{syscall.Statfs_t{Bsize: 4096}, 4096}, // old kernels set no Frsize
	} {
		if got := blockSize(&c.stat); got != c.want {
			t.Errorf("%d, want %d", got, c.want)
		}
	}
}

// With a quota, the free space of the disk does not tell how much the node may use.
func TestMessageOfSpaceAlarm(t *testing.T) {
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
