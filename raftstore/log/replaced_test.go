package log

import (
	"syscall"
	"testing"
)

// TestReplacedLogHasSpaceSetAside replaces a file that is larger than the reserved space. Allocate
// must then reserve space in the new file.
func TestReplacedLogHasSpaceSetAside(t *testing.T) {
	fresh := open(t, pathOf(t))
	if err := fresh.Allocate(); err != nil {
		t.Fatal(err)
	}
	path := pathOf(t)
	s := open(t, path)
	fill(t, s, 1, 1000, 10_000)
	if err := s.Allocate(); err != nil {
		t.Fatal(err)
	}
	deleteRange(t, s, 1, 1000)
	if err := s.Allocate(); err != nil {
		t.Fatal(err)
	}
	if got, want := blocksOf(t, path), blocksOf(t, fresh.cfg.Path); got < want {
		t.Errorf("the replacement takes %d KiB on disk, a new log %d KiB", got/2, want/2)
	}
}

// blocksOf returns the disk space of a file in units of 512 bytes.
func blocksOf(t *testing.T, path string) int64 {
	t.Helper()
	var stat syscall.Stat_t
	if err := syscall.Stat(path, &stat); err != nil {
		t.Fatal(err)
	}
	return stat.Blocks
}
