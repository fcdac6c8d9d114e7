package log

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

func pathOf(t testing.TB) string { return filepath.Join(t.TempDir(), "log") }

// segmentBytes is the size of a file of the log in tests: small, so that they have several.
const segmentBytes = 64 << 10

// open opens a log that the test's end closes, with small files.
func open(t testing.TB, path string, change ...func(*Config)) *Store {
	t.Helper()
	cfg := Config{Dir: path, Logger: quiet(), MaxBytes: 64 << 20, SegmentBytes: segmentBytes}
	for _, c := range change {
		c(&cfg)
	}
	s, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// entries returns n entries of size bytes, the first at index from. The content differs with the
// index.
func entries(from uint64, n, size int) []*raft.Log {
	out := make([]*raft.Log, n)
	for i := range out {
		index := from + uint64(i)
		out[i] = &raft.Log{
			Index: index, Term: 3, Type: raft.LogCommand, Data: content(index, size),
			AppendedAt: time.Unix(1_700_000_000, int64(index)).UTC(),
		}
	}
	return out
}

func content(index uint64, size int) []byte {
	piece := fmt.Appendf(nil, "<%d>", index)
	return bytes.Repeat(piece, size/len(piece)+1)[:size]
}

func store(t testing.TB, s *Store, entries []*raft.Log) {
	t.Helper()
	if err := s.StoreLogs(entries); err != nil {
		t.Fatal(err)
	}
}

// fill appends entries from..to in batches.
func fill(t testing.TB, s *Store, from, to uint64, size int) {
	t.Helper()
	for ; from <= to; from += 100 {
		store(t, s, entries(from, int(min(100, to-from+1)), size))
	}
}

func wantSpan(t testing.TB, s *Store, first, last uint64) {
	t.Helper()
	gotFirst, _ := s.FirstIndex()
	gotLast, _ := s.LastIndex()
	if gotFirst != first || gotLast != last {
		t.Fatalf("log holds %d to %d, want %d to %d", gotFirst, gotLast, first, last)
	}
}

// wantContent checks that the entries from first to last can be read, first through the cache and
// then from disk alone.
func wantContent(t testing.TB, s *Store, first, last uint64, size int) {
	t.Helper()
	wantSpan(t, s, first, last)
	for i := first; i <= last; i++ {
		var got raft.Log
		if err := s.GetLog(i, &got); err != nil {
			t.Fatal(err)
		}
		if got.Index != i || !bytes.Equal(got.Data, content(i, size)) {
			t.Fatalf("entry %d has index %d and %.20q", i, got.Index, got.Data)
		}
	}
	if err := s.Verify(t.Context(), first); err != nil {
		t.Fatal(err)
	}
}

// wantTrimmed checks that the log begins at or before an entry, by less than the size of a file, and
// that all entries from its first to last can be read.
func wantTrimmed(t testing.TB, s *Store, first, last uint64, size int) {
	t.Helper()
	begins, _ := s.FirstIndex()
	if begins > first || first-begins > segmentBytes/uint64(Footprint(size)) {
		t.Fatalf("log begins with %d, want %d or somewhat less", begins, first)
	}
	wantContent(t, s, begins, last, size)
}

// crashed returns a copy of the folder of an open log, as a crash of the process would leave it now.
func crashed(t testing.TB, path string) string {
	t.Helper()
	to := pathOf(t)
	if err := os.CopyFS(to, os.DirFS(path)); err != nil {
		t.Fatal(err)
	}
	return to
}
