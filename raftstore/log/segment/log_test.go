package segment

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/raft"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

const testCapacity = 16 << 10

// openIn opens a log with small segments, which the test's end closes.
func openIn(t testing.TB, dir string) *Log {
	t.Helper()
	l, err := Open(Config{Dir: dir, Capacity: testCapacity, Logger: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// entriesOf returns n entries of size bytes and of a term, the first at index from.
func entriesOf(term, from uint64, n, size int) []*raft.Log {
	out := make([]*raft.Log, n)
	for i := range out {
		index := from + uint64(i)
		piece := fmt.Appendf(nil, "<%d:%d>", term, index)
		out[i] = &raft.Log{
			Index: index, Term: term, Type: raft.LogCommand, Data: bytes.Repeat(piece, size/len(piece)+1)[:size],
			AppendedAt: time.Unix(1_700_000_000, int64(index)).UTC(),
		}
	}
	return out
}

func mustAppend(t testing.TB, l *Log, entries []*raft.Log) {
	t.Helper()
	if err := l.Append(entries); err != nil {
		t.Fatal(err)
	}
}

// readAll returns all entries of the log.
func readAll(l *Log) (all []*raft.Log, err error) {
	first, last := l.Span()
	for index := first; index > 0 && index <= last; {
		records, err := l.Read(index, 1000)
		if err != nil {
			return all, err
		}
		for i := range records {
			e := new(raft.Log)
			records[i].Into(e)
			all = append(all, e)
		}
		index += uint64(len(records))
	}
	return all, nil
}

// wantEntries checks that the log has just these entries, however it is read.
func wantEntries(t testing.TB, l *Log, want []*raft.Log) {
	t.Helper()
	got, err := readAll(l)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
	for _, w := range want {
		one, err := l.Read(w.Index, 1)
		if err != nil || len(one) != 1 || one[0].Index != w.Index {
			t.Fatalf("entry %d: %v, %v", w.Index, one, err)
		}
	}
	if len(want) > 0 {
		if err := l.Check(t.Context(), want[0].Index, func(*Record) {}); err != nil {
			t.Fatal(err)
		}
	}
}

// crashed returns a copy of a folder, as a crash of the process would leave it now.
func crashed(t testing.TB, dir string) string {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}

// segmentsIn returns the paths of the segments, oldest first.
func segmentsIn(t testing.TB, dir string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "*"+suffix))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestEntriesOfAllKinds(t *testing.T) {
	t.Parallel()
	at := time.Date(2024, 2, 29, 12, 0, 0, 123456789, time.UTC)
	all := []*raft.Log{
		{Index: 7, Term: 1, Type: raft.LogConfiguration, Data: []byte("servers")},
		{Index: 8, Term: 1, Type: raft.LogNoop, AppendedAt: at},
		{Index: 9, Term: 200, Type: raft.LogCommand, Data: bytes.Repeat([]byte("x"), 2*testCapacity), AppendedAt: at.Add(time.Hour)},
		{Index: 10, Term: 70_000, Type: raft.LogBarrier, Data: []byte{}, AppendedAt: at},
		{Index: 11, Term: 1 << 60, Type: raft.LogCommand, Data: bytes.Repeat([]byte{0}, 5000), Extensions: []byte("another's"), AppendedAt: at},
	}
	dir := t.TempDir()
	l := openIn(t, dir)
	if first, last := l.Span(); first != 0 || last != 0 {
		t.Fatalf("an empty log has %d to %d", first, last)
	}
	mustAppend(t, l, all[:2])
	mustAppend(t, l, all[2:])
	wantEntries(t, l, all)
	wantEntries(t, openIn(t, crashed(t, dir)), all)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	wantEntries(t, openIn(t, dir), all)
}

func TestReadOutsideOfTheLog(t *testing.T) {
	t.Parallel()
	l := openIn(t, t.TempDir())
	if _, err := l.Read(1, 1); !errors.Is(err, ErrRemoved) {
		t.Errorf("an empty log: %v", err)
	}
	mustAppend(t, l, entriesOf(1, 100, 50, 1000))
	for _, index := range []uint64{1, 99, 150} {
		if _, err := l.Read(index, 1); !errors.Is(err, ErrRemoved) {
			t.Errorf("entry %d: %v", index, err)
		}
	}
	if records, err := l.Read(140, 100); err != nil || len(records) == 0 || len(records) > 10 {
		t.Errorf("%d entries from 140 on, %v", len(records), err)
	}
}

func TestAppendRefusesGaps(t *testing.T) {
	t.Parallel()
	l := openIn(t, t.TempDir())
	mustAppend(t, l, entriesOf(1, 1, 5, 10))
	for _, index := range []uint64{1, 5, 7} {
		if err := l.Append(entriesOf(1, index, 1, 10)); err == nil {
			t.Errorf("stored entry %d after 5", index)
		}
	}
	wantEntries(t, l, entriesOf(1, 1, 5, 10))
}

// A segment takes entries up to its capacity, and a larger append is spread over several.
func TestSegmentsAreBounded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := openIn(t, dir)
	all := entriesOf(1, 1, 100, 1000)
	mustAppend(t, l, all[:5])
	mustAppend(t, l, all[5:])
	wantEntries(t, l, all)
	files := segmentsIn(t, dir)
	if len(files) < 7 || len(files) > 8 {
		t.Errorf("100 KB are in %d segments of 16 KiB", len(files))
	}
	for i, path := range files {
		info, err := os.Stat(path)
		if err != nil || info.Size() > testCapacity || i == len(files)-1 && info.Size() != testCapacity {
			t.Errorf("segment %d of %d has %d bytes (%v)", i, len(files), info.Size(), err)
		}
	}
}

func TestRemoval(t *testing.T) {
	t.Parallel()
	old := entriesOf(1, 1, 100, 1000)
	for _, index := range []uint64{1, 2, 15, 16, 17, 50, 100, 101} {
		t.Run(fmt.Sprintf("truncate from %d on", index), func(t *testing.T) {
			dir := t.TempDir()
			l := openIn(t, dir)
			mustAppend(t, l, old)
			if err := l.Truncate(index); err != nil {
				t.Fatal(err)
			}
			want := old[:index-1]
			if len(want) == 0 {
				want = nil
			}
			wantEntries(t, l, want)
			mustAppend(t, l, entriesOf(2, index, 3, 700))
			want = append(want[:len(want):len(want)], entriesOf(2, index, 3, 700)...)
			wantEntries(t, l, want)
			wantEntries(t, openIn(t, crashed(t, dir)), want)
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			again := openIn(t, dir)
			mustAppend(t, again, entriesOf(2, index+3, 3, 700))
			wantEntries(t, again, append(want, entriesOf(2, index+3, 3, 700)...))
		})
	}
	t.Run("all", func(t *testing.T) {
		dir := t.TempDir()
		l := openIn(t, dir)
		mustAppend(t, l, old)
		if err := l.Reset(); err != nil {
			t.Fatal(err)
		}
		wantEntries(t, l, nil)
		wantEntries(t, openIn(t, crashed(t, dir)), nil)
		mustAppend(t, l, entriesOf(3, 5000, 3, 10))
		wantEntries(t, openIn(t, crashed(t, dir)), entriesOf(3, 5000, 3, 10))
	})
	t.Run("the oldest", func(t *testing.T) {
		dir := t.TempDir()
		l := openIn(t, dir)
		mustAppend(t, l, old)
		used, _ := l.Bytes()
		for range 3 {
			o, ok := l.Oldest()
			if !ok || !o.Newest.Equal(old[o.Last-1].AppendedAt) {
				t.Fatalf("the oldest segment ends with %d of %s", o.Last, o.Newest)
			}
			if err := l.DropOldest(); err != nil {
				t.Fatal(err)
			}
			used -= o.Bytes
			if first, _ := l.Span(); first != o.Last+1 {
				t.Errorf("the log begins with %d, want %d", first, o.Last+1)
			}
		}
		if left, _ := l.Bytes(); left != used {
			t.Errorf("%d bytes are left, want %d", left, used)
		}
		first, _ := l.Span()
		again := openIn(t, crashed(t, dir))
		wantEntries(t, again, old[first-1:])
		if o, ok := again.Oldest(); !ok || o.Newest.Before(old[o.Last-1].AppendedAt) {
			t.Errorf("after a restart the oldest segment ends with %d of %s", o.Last, o.Newest)
		}
		if err := l.DropOldest(); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("not the only one", func(t *testing.T) {
		l := openIn(t, t.TempDir())
		mustAppend(t, l, old[:5])
		if _, ok := l.Oldest(); ok || l.DropOldest() == nil {
			t.Error("the only segment may be removed")
		}
		l.full = true
		mustAppend(t, l, old[5:6])
		if err := l.DropOldest(); err != nil {
			t.Fatal(err)
		}
		wantEntries(t, l, old[5:6])
	})
}

// A segment ends when it has spanned enough time, whatever its size.
func TestSegmentsAreBoundedInTime(t *testing.T) {
	t.Parallel()
	l := openIn(t, t.TempDir())
	l.cfg.Span = time.Hour
	all := entriesOf(1, 1, 6, 10)
	all[0].AppendedAt = time.Time{} // as in the entry of a bootstrap
	for i, hours := range map[int]time.Duration{1: 0, 2: 1, 3: 1, 4: 2, 5: 0} {
		all[i].AppendedAt = all[i].AppendedAt.Add(hours * (time.Hour + time.Minute))
	}
	for _, e := range all {
		mustAppend(t, l, []*raft.Log{e})
	}
	wantEntries(t, l, all)
	var begins []uint64
	for _, s := range l.files {
		begins = append(begins, s.base)
	}
	if diff := cmp.Diff([]uint64{1, 3, 5}, begins); diff != "" {
		t.Error(diff)
	}
}

func TestReadOnlyChangesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := openIn(t, dir)
	mustAppend(t, l, entriesOf(1, 1, 30, 1000))
	if err := l.Reserve(); err != nil {
		t.Fatal(err)
	}
	dir = crashed(t, dir)
	before := contentOf(t, dir)
	r, err := Open(Config{Dir: dir, Capacity: testCapacity, ReadOnly: true, Logger: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	wantEntries(t, r, entriesOf(1, 1, 30, 1000))
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, contentOf(t, dir)); diff != "" {
		t.Error(diff)
	}
}

func contentOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[e.Name()] = string(b)
	}
	return all
}
