package log

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/raft"
)

func TestStoreKeepsEntries(t *testing.T) {
	at := time.Date(2024, 2, 29, 12, 0, 0, 123456789, time.UTC)
	kinds := []*raft.Log{
		{Index: 1, Term: 1, Type: raft.LogConfiguration, Data: []byte("servers")},
		{Index: 2, Term: 1, Type: raft.LogNoop, AppendedAt: at},
		{Index: 3, Term: 200, Type: raft.LogCommand, Data: content(3, 70_000), AppendedAt: at.Add(time.Hour)},
		{Index: 4, Term: 70_000, Type: raft.LogBarrier, Data: []byte{}, AppendedAt: at},
		{Index: 5, Term: 1 << 40, Type: raft.LogCommand, Data: content(5, 300), Extensions: []byte("another's"), AppendedAt: at},
		{Index: 6, Term: 1 << 40, Type: raft.LogCommand, Data: content(6, 31), AppendedAt: at},
	}
	path := pathOf(t)
	s := open(t, path)
	wantSpan(t, s, 0, 0)
	if err := s.GetLog(0, new(raft.Log)); !errors.Is(err, raft.ErrLogNotFound) {
		t.Fatalf("entry 0 of an empty log: %v", err)
	}
	store(t, s, kinds[:2])
	store(t, s, kinds[2:])
	check := func(t *testing.T, s *Store) {
		t.Helper()
		wantSpan(t, s, 1, 6)
		for _, want := range kinds {
			var got raft.Log
			if err := s.GetLog(want.Index, &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(*want, got); diff != "" {
				t.Errorf("entry %d (-want +got):\n%s", want.Index, diff)
			}
		}
		if err := s.GetLog(7, new(raft.Log)); !errors.Is(err, raft.ErrLogNotFound) {
			t.Errorf("entry after the last: %v", err)
		}
	}
	t.Run("from memory", func(t *testing.T) { check(t, s) })
	t.Run("from disk", func(t *testing.T) { s.cache.clear(); check(t, s) })
	t.Run("after a crash", func(t *testing.T) { check(t, open(t, crashed(t, path))) })
	t.Run("after a restart", func(t *testing.T) {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		check(t, open(t, path))
	})
}

func TestStoreRefusesEntriesOutOfOrder(t *testing.T) {
	s := open(t, pathOf(t))
	fill(t, s, 1, 10, 20)
	for name, batch := range map[string][]*raft.Log{
		"stored already": entries(10, 1, 20),
		"index 0":        entries(0, 1, 20),
		"a gap inside":   append(entries(11, 1, 20), entries(13, 1, 20)...),
	} {
		t.Run(name, func(t *testing.T) {
			if err := s.StoreLogs(batch); err == nil {
				t.Fatal("stored")
			}
			wantContent(t, s, 1, 10, 20)
		})
	}
	if err := s.StoreLogs(nil); err != nil {
		t.Fatal(err)
	}
}

func TestStoreLogsRemovesEntriesBeforeGap(t *testing.T) {
	path := pathOf(t)
	s := open(t, path)
	fill(t, s, 1, 10, 20)
	store(t, s, entries(500, 3, 20))
	wantContent(t, s, 500, 502, 20)
	wantContent(t, open(t, crashed(t, path)), 500, 502, 20)
}

func TestStableState(t *testing.T) {
	path := pathOf(t)
	s := open(t, path)
	if _, err := s.Get([]byte("none")); !errors.Is(err, ErrKeyNotFound) || err.Error() != "not found" {
		t.Fatalf("key not set: %v", err) // NewRaft compares the text
	}
	if err := errors.Join(s.SetUint64([]byte("LastVoteTerm"), 9), s.Set([]byte("LastVoteCand"), []byte("n2")), s.SetUint64([]byte("CurrentTerm"), 9)); err != nil {
		t.Fatal(err)
	}
	fill(t, s, 1, 3, 20)
	check := func(t *testing.T, s *Store) {
		t.Helper()
		if v, err := s.Get([]byte("LastVoteCand")); err != nil || string(v) != "n2" {
			t.Errorf("vote %q, %v", v, err)
		}
		if v, err := s.GetUint64([]byte("CurrentTerm")); err != nil || v != 9 {
			t.Errorf("term %d, %v", v, err)
		}
	}
	check(t, s)
	if err := s.DeleteRange(1, 3); err != nil {
		t.Fatal(err)
	}
	check(t, s) // the removal of the whole log keeps it
	check(t, open(t, crashed(t, path)))
	if _, err := s.GetUint64([]byte("LastVoteCand")); err == nil {
		t.Error("GetUint64 accepted a value that is not a number")
	}
}

func TestOpenRefusesAFileInUse(t *testing.T) {
	path := pathOf(t)
	s := open(t, path)
	fill(t, s, 1, 5, 20)
	_, err := Open(Config{Dir: path, Logger: quiet(), LockTimeout: 60 * time.Millisecond})
	if !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "\n") {
		t.Fatalf("second open: %v", err)
	}
	if err := s.DeleteRange(1, 5); err != nil { // the log stays locked
		t.Fatal(err)
	}
	if _, err := Open(Config{Dir: path, Logger: quiet(), LockTimeout: 60 * time.Millisecond}); !errors.Is(err, ErrLocked) {
		t.Fatalf("second open after removal of all: %v", err)
	}
}

func TestOpenRefusesBadConfig(t *testing.T) {
	for name, cfg := range map[string]Config{
		"no folder":      {Logger: quiet()},
		"no logger":      {Dir: pathOf(t)},
		"negative limit": {Dir: pathOf(t), Logger: quiet(), MaxAge: -1},
	} {
		if s, err := Open(cfg); err == nil {
			t.Errorf("%s: opened", name)
			_ = s.Close()
		}
	}
}

func TestClosedStoreReturnsErrClosed(t *testing.T) {
	s := open(t, pathOf(t))
	fill(t, s, 1, 3, 20)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"append": s.StoreLog(entries(4, 1, 20)[0]),
		"get":    s.GetLog(1, new(raft.Log)),
		"set":    s.Set([]byte("k"), nil),
		"delete": s.DeleteRange(1, 3),
		"cut":    s.DeleteRange(2, 3),
		"close":  s.Close(),
	} {
		if want := name != "close"; errors.Is(err, ErrClosed) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCacheIsBounded(t *testing.T) {
	s := open(t, pathOf(t), func(c *Config) { c.CacheBytes, c.CacheEntries = 10_000, 30 })
	sizes := func() (int, int) { return s.cache.size() }
	fill(t, s, 1, 100, 20)
	if n, _ := sizes(); n != 30 {
		t.Errorf("%d small entries cached, want 30", n)
	}
	store(t, s, entries(101, 20, 2000))
	if n, b := sizes(); n == 0 || b > 10_000 {
		t.Errorf("%d entries of %d bytes cached, bound is 10000", n, b)
	}
	store(t, s, entries(121, 1, 20_000)) // larger than the cache
	if _, b := sizes(); b != 0 {
		t.Errorf("%d bytes cached after an entry over the bound", b)
	}
	store(t, s, entries(122, 1, 20))
	if n, _ := sizes(); n != 1 {
		t.Errorf("%d entries cached, want the one after", n)
	}
	var got raft.Log
	for i := uint64(1); i <= 122; i++ {
		if err := s.GetLog(i, &got); err != nil || got.Index != i {
			t.Fatalf("entry %d: %v, %d", i, err, got.Index)
		}
	}
}

// Open returns an error for a term and vote that the disk has changed, or lost.
func TestDamagedStableValueIsFound(t *testing.T) {
	path := pathOf(t)
	s := open(t, path)
	castVote(t, s, 7, "n2")
	fill(t, s, 1, 3, 20)
	for what, change := range map[string]func(name string) error{
		"changed": func(name string) error {
			b, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			return os.WriteFile(name, bytes.ReplaceAll(b, []byte("n2"), []byte("n3")), 0o600)
		},
		"cut short": func(name string) error { return os.Truncate(name, 100) },
		"removed":   os.Remove,
	} {
		copied := crashed(t, path)
		if err := change(filepath.Join(copied, stableFile)); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(Config{Dir: copied, Logger: quiet()}); !isCorrupt(err) || !strings.Contains(err.Error(), copied) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func isCorrupt(err error) bool {
	_, is := errors.AsType[*Corrupt](err)
	return is
}
