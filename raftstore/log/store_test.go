package log

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/go-msgpack/v2/codec"
	"github.com/hashicorp/raft"
	raftboltdb "github.com/hashicorp/raft-boltdb/v2"
	"go.etcd.io/bbolt"
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

func TestStoreIsInTheFormatOfRaftBoltdb(t *testing.T) {
	path := pathOf(t)
	s := open(t, path)
	want := entries(1, 50, 1331)
	store(t, s, want)
	if err := s.SetUint64([]byte("CurrentTerm"), 7); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	theirs, err := raftboltdb.New(raftboltdb.Options{Path: path, BoltOptions: &bbolt.Options{Timeout: time.Second}})
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.Close()
	if term, err := theirs.GetUint64([]byte("CurrentTerm")); err != nil || term != 7 {
		t.Fatalf("term %d, %v", term, err)
	}
	for _, e := range want {
		var got raft.Log
		if err := theirs.GetLog(e.Index, &got); err != nil {
			t.Fatal(err)
		}
		if !got.AppendedAt.Equal(e.AppendedAt) || len(got.Extensions) != sealBytes {
			t.Fatalf("entry %d: time %v, seal %x", e.Index, got.AppendedAt, got.Extensions)
		}
		// The record equals what raft-boltdb would write for an entry with the checksum in
		// Extensions.
		var encoded bytes.Buffer
		var handle codec.MsgpackHandle
		handle.TimeNotBuiltin = true
		sealed := *e
		sealed.Extensions = got.Extensions
		if err := codec.NewEncoder(&encoded, &handle).Encode(&sealed); err != nil {
			t.Fatal(err)
		}
		if ours := appendRecord(nil, e); !bytes.Equal(ours, encoded.Bytes()) {
			t.Fatalf("entry %d is\n%x, raft-boltdb writes\n%x", e.Index, ours, encoded.Bytes())
		}
	}
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
	_, err := Open(Config{Path: path, Logger: quiet(), LockTimeout: 60 * time.Millisecond})
	if !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "\n") {
		t.Fatalf("second open: %v", err)
	}
	if err := s.DeleteRange(1, 5); err != nil { // makes a new file, which must be locked as well
		t.Fatal(err)
	}
	if _, err := Open(Config{Path: path, Logger: quiet(), LockTimeout: 60 * time.Millisecond}); !errors.Is(err, ErrLocked) {
		t.Fatalf("second open after removal of all: %v", err)
	}
}

func TestOpenRefusesBadConfig(t *testing.T) {
	for name, cfg := range map[string]Config{
		"no path":        {Logger: quiet()},
		"no logger":      {Path: pathOf(t)},
		"negative limit": {Path: pathOf(t), Logger: quiet(), MaxAge: -1},
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
		if err := s.GetLog(i, &got); err != nil || binary.BigEndian.Uint64(indexKeyOf(got)) != i {
			t.Fatalf("entry %d: %v, %d", i, err, got.Index)
		}
	}
}

func indexKeyOf(l raft.Log) []byte {
	k := indexKey(l.Index)
	return k[:]
}

// Get returns an error for a term or vote that the disk has changed, and accepts a value that
// another program stored without a checksum.
func TestDamagedStableValueIsFound(t *testing.T) {
	s := open(t, pathOf(t))
	put := func(key, value string) {
		t.Helper()
		if err := s.db.Update(func(tx *bbolt.Tx) error { return tx.Bucket(confBucket()).Put([]byte(key), []byte(value)) }); err != nil {
			t.Fatal(err)
		}
	}
	put(CurrentTerm, "\x00\x00\x00\x00\x00\x00\x00\x07")
	if v, err := s.GetUint64([]byte(CurrentTerm)); err != nil || v != 7 {
		t.Errorf("term %d, %v", v, err)
	}
	err := errors.Join(s.SetUint64([]byte(CurrentTerm), 9), s.SetUint64([]byte(LastVoteTerm), 9), s.Set([]byte(LastVoteCand), []byte("n2")))
	if err != nil {
		t.Fatal(err)
	}
	put(CurrentTerm, "\x00\x00\x00\x00\x00\x00\x00\x0b")
	put(LastVoteCand, "n3")
	if v, err := s.GetUint64([]byte(CurrentTerm)); !isCorrupt(err) {
		t.Errorf("term %d, %v", v, err)
	}
	if v, err := s.Get([]byte(LastVoteCand)); !isCorrupt(err) {
		t.Errorf("vote %s, %v", v, err)
	}
	if err := s.db.Update(func(tx *bbolt.Tx) error { return tx.Bucket(confBucket()).Delete([]byte(CurrentTerm)) }); err != nil {
		t.Fatal(err)
	}
	if v, err := s.GetUint64([]byte(CurrentTerm)); !isCorrupt(err) {
		t.Errorf("a term whose key is damaged: got %d, %v", v, err)
	}
}

func isCorrupt(err error) bool {
	_, is := errors.AsType[*Corrupt](err)
	return is
}
