//go:build linux

package segment

import (
	"bytes"
	"os"
	"slices"
	"testing"

	"github.com/hashicorp/raft"
	"golang.org/x/sys/unix"
)

// wantFilled checks that the last segment has its full size, and that zeros behind its last entry
// have been written, as far as the file system tells. For ext4 what has been read counts as
// written, too.
func wantFilled(t *testing.T, l *Log) {
	t.Helper()
	info, err := l.active.f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() != l.active.capacity {
		t.Fatalf("the segment has %d bytes, want %d", info.Size(), l.active.capacity)
	}
	_, end := l.active.span()
	hole, err := unix.Seek(int(l.active.f.Fd()), 0, unix.SEEK_HOLE)
	if err != nil {
		t.Fatal(err)
	}
	if want := min((end+fillBytes-1)/fillBytes*fillBytes, l.active.capacity); hole < want {
		t.Fatalf("only %d bytes have been written, want %d: the last entry ends at %d", hole, want, end)
	}
}

// wantZeros checks that the last segment has nothing but zeros behind its last entry.
func wantZeros(t *testing.T, l *Log) {
	t.Helper()
	_, end := l.active.span()
	content, err := os.ReadFile(l.active.path)
	if err != nil {
		t.Fatal(err)
	}
	if !isZero(content[end:]) {
		t.Fatalf("the segment is not zero from byte %d on", end)
	}
}

// wantAll is wantEntries for many bytes.
func wantAll(t *testing.T, l *Log, want []*raft.Log) {
	t.Helper()
	got, err := readAll(l)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.EqualFunc(got, want, func(a, b *raft.Log) bool { return a.Index == b.Index && bytes.Equal(a.Data, b.Data) }) {
		t.Fatal("the log does not have the entries that were appended")
	}
}

// TestSegmentsAreFilledAhead checks that the zeros ahead of the frames replace none of them, and are
// there after a crash and in a segment that replaces another one's end.
func TestSegmentsAreFilledAhead(t *testing.T) {
	dir := t.TempDir()
	open := func() *Log {
		l, err := Open(Config{Dir: dir, Capacity: 5*fillBytes/2 + 8, Logger: quiet()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		return l
	}
	l := open()
	var all []*raft.Log
	appended := func(n, size int) {
		t.Helper()
		more := entriesOf(1, uint64(len(all)+1), n, size)
		mustAppend(t, l, more)
		all = append(all, more...)
		wantFilled(t, l)
	}
	for range 40 { // some segments
		appended(1, 10)
		appended(3, 20_000)
	}
	appended(1, fillBytes)
	appended(1, 4*fillBytes) // a segment of its own
	appended(2, 10)
	wantAll(t, l, all)
	wantZeros(t, l)
	dir = crashed(t, dir)
	l = open()
	wantAll(t, l, all)
	for range 10 {
		appended(1, 30_000)
	}
	all = all[:len(all)-5]
	if err := l.Truncate(uint64(len(all) + 1)); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		appended(1, 30_000)
	}
	wantZeros(t, l)
	wantAll(t, l, all)
}
