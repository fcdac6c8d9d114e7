package log

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/hashicorp/raft"
	dto "github.com/prometheus/client_model/go"

	"quorate/raftstore/log/segment"
)

// readsFromDisk returns how often GetLog has read from disk.
func readsFromDisk(t *testing.T, s *Store) int {
	t.Helper()
	var m dto.Metric
	if err := s.metrics.cacheMisses.Write(&m); err != nil {
		t.Fatal(err)
	}
	return int(m.GetCounter().GetValue())
}

// uncached returns a log that keeps no entries of appends in memory.
func uncached(t testing.TB) *Store {
	return open(t, pathOf(t), func(c *Config) { c.CacheEntries = 1 })
}

func TestEntriesAreReadAhead(t *testing.T) {
	const count, size = 2000, 300
	read := func(t *testing.T, s *Store, index uint64) {
		t.Helper()
		var got raft.Log
		if err := s.GetLog(index, &got); err != nil || got.Index != index || !bytes.Equal(got.Data, content(index, size)) {
			t.Fatalf("entry %d: %v, index %d, %.20q", index, err, got.Index, got.Data)
		}
	}
	t.Run("for readers in order", func(t *testing.T) {
		s := uncached(t)
		fill(t, s, 1, count, size)
		for i := uint64(1); i < count/2; i++ {
			for reader := range uint64(aheadReaders) {
				read(t, s, i+reader*count/(2*aheadReaders))
			}
		}
		// 64 KiB in a file, so that a read returns some 170 of these entries.
		if reads := readsFromDisk(t, s); reads > count/2*aheadReaders/100 {
			t.Errorf("%d reads from disk for %d entries", reads, count/2*aheadReaders)
		}
	})
	t.Run("not for others", func(t *testing.T) {
		s := uncached(t)
		fill(t, s, 1, count, size)
		for range 1000 {
			read(t, s, 1+rand.Uint64N(count/2-1)*2) // never two in order
		}
		for i := range s.ahead.readers {
			if r := &s.ahead.readers[i]; len(r.records) > 0 || r.array != nil {
				t.Fatalf("%d entries were read ahead of %d", len(r.records), r.next)
			}
		}
	})
	t.Run("and kept only until they are read", func(t *testing.T) {
		s := uncached(t)
		fill(t, s, 1, count, size)
		for i := uint64(1); i < count; i++ {
			read(t, s, i)
			for _, r := range s.ahead.readers {
				if len(r.records) > 0 {
					continue
				}
				for _, record := range r.array {
					if record.Data != nil {
						t.Fatalf("after entry %d, entry %d is still in memory", i, record.Index)
					}
				}
			}
		}
	})
}

// TestReadsMatchTheLogThroughRemovals reads in order and at random while suffixes are removed and
// replaced, and compares with what was stored last.
func TestReadsMatchTheLogThroughRemovals(t *testing.T) {
	s := uncached(t)
	var stored []*raft.Log // the entry of index i at i-1
	positions := make([]uint64, 3)
	check := func(index uint64) {
		t.Helper()
		var got raft.Log
		err := s.GetLog(index, &got)
		if index == 0 || index > uint64(len(stored)) {
			if !errors.Is(err, raft.ErrLogNotFound) {
				t.Fatalf("entry %d of %d: %v", index, len(stored), err)
			}
			return
		}
		want := stored[index-1]
		if err != nil || got.Index != index || got.Term != want.Term || !bytes.Equal(got.Data, want.Data) {
			t.Fatalf("entry %d is of term %d and has %.20q, want %d and %.20q (%v)", index, got.Term, got.Data, want.Term, want.Data, err)
		}
	}
	appendSome := func(term uint64) {
		added := entries(uint64(len(stored))+1, 1+rand.IntN(400), 50+rand.IntN(300))
		for _, e := range added {
			e.Term = term
		}
		store(t, s, added)
		stored = append(stored, added...)
	}
	for term := uint64(1); term <= 200; term++ {
		appendSome(term)
		for range rand.IntN(300) {
			reader := &positions[rand.IntN(len(positions))]
			*reader++
			check(*reader)
			if *reader > uint64(len(stored)) || rand.IntN(200) == 0 {
				*reader = rand.Uint64N(uint64(len(stored)) + 1)
			}
		}
		check(rand.Uint64N(uint64(len(stored)) + 2))
		from := 1 + rand.IntN(len(stored))
		if rand.IntN(20) > 0 {
			from = max(from, len(stored)-300)
		}
		deleteRange(t, s, uint64(from), uint64(len(stored)))
		stored = stored[:from-1]
	}
}

// TestReadThatOverlapsARemovalIsNotKept reads from disk, as GetLog does, while the entries are
// replaced.
func TestReadThatOverlapsARemovalIsNotKept(t *testing.T) {
	s := uncached(t)
	fill(t, s, 1, 100, 20)
	for _, index := range []uint64{10, 11} {
		if err := s.GetLog(index, new(raft.Log)); err != nil {
			t.Fatal(err)
		}
	}
	s.ahead.readers[0].records = nil // as if all of them had been read
	m, ok := s.ahead.get(12, new(raft.Log))
	if ok || m.limit != chunkEntries {
		t.Fatalf("the read after entry 11 is of %d entries", m.limit)
	}
	old, err := s.segments.Read(12, m.limit)
	if err != nil {
		t.Fatal(err)
	}
	deleteRange(t, s, 12, 100)
	replaced := entries(12, 50, 20)
	for _, e := range replaced {
		e.Term = 4
	}
	store(t, s, replaced)
	s.ahead.put(12, old, m)
	var got raft.Log
	if err := s.GetLog(13, &got); err != nil || got.Term != 4 {
		t.Errorf("entry 13 is of term %d, which was removed (%v)", got.Term, err)
	}
}

// TestReadThatOverlapsAFailedAppendIsNotKept reads from disk while an append goes on that stores its
// first entries, and then removes them because it can't begin another file.
func TestReadThatOverlapsAFailedAppendIsNotKept(t *testing.T) {
	path := pathOf(t)
	s := open(t, path, func(c *Config) { c.CacheEntries = 1 })
	fill(t, s, 1, 100, 100)
	if err := s.GetLog(10, new(raft.Log)); err != nil {
		t.Fatal(err)
	}
	m, _ := s.ahead.get(11, new(raft.Log))
	read, err := s.segments.Read(11, m.limit)
	if err != nil {
		t.Fatal(err)
	}
	inTheWay := filepath.Join(path, fmt.Sprintf("%016x.segment", 2))
	if err := os.MkdirAll(filepath.Join(inTheWay, "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	failing := entries(101, 400, 1000) // more than a file
	if err := s.StoreLogs(failing); err == nil || errors.Is(err, ErrInDoubt) {
		t.Fatalf("the append ended with %v", err)
	}
	wantSpan(t, s, 1, 100)
	s.ahead.put(11, append(read, segment.Record{Index: 101, Term: failing[0].Term, Data: failing[0].Data}), m)
	if err := os.RemoveAll(inTheWay); err != nil {
		t.Fatal(err)
	}
	replaced := entries(101, 50, 100)
	for _, e := range replaced {
		e.Term = 4
	}
	store(t, s, replaced)
	var got raft.Log
	for index := uint64(12); index <= 101; index++ {
		if err := s.GetLog(index, &got); err != nil || got.Index != index {
			t.Fatalf("entry %d: %v, index %d", index, err, got.Index)
		}
	}
	if got.Term != 4 {
		t.Errorf("entry 101 is of term %d, whose append failed", got.Term)
	}
}

// TestLeaderReadsAhead reads as a leader does for a follower: before each request it asks for the
// entry before those that it sends, again.
func TestLeaderReadsAhead(t *testing.T) {
	const count, request = 3000, 20
	s := uncached(t)
	fill(t, s, 1, count, 300)
	for index := uint64(1); index < count; index++ {
		if index%request == 0 {
			if err := s.GetLog(index-1, new(raft.Log)); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.GetLog(index, new(raft.Log)); err != nil {
			t.Fatal(err)
		}
	}
	if reads, most := readsFromDisk(t, s), count/request+count/100; reads > most {
		t.Errorf("%d reads from disk, want at most %d", reads, most)
	}
	readers := 0
	for _, r := range s.ahead.readers {
		if r.next != 0 {
			readers++
		}
	}
	if readers != 1 {
		t.Errorf("%d readers are followed, want the one", readers)
	}
}

// TestLargeEntriesAreReadAlone checks that an entry does not keep memory that is much larger.
func TestLargeEntriesAreReadAlone(t *testing.T) {
	const size = 130 << 10
	s := open(t, pathOf(t), func(c *Config) { c.CacheEntries, c.SegmentBytes = 1, 1<<20 })
	fill(t, s, 1, 50, size)
	var got [40]raft.Log
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range got {
		if err := s.GetLog(uint64(i+1), &got[i]); err != nil || !bytes.Equal(got[i].Data, content(uint64(i+1), size)) {
			t.Fatal(i, err)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if kept := int64(after.HeapAlloc) - int64(before.HeapAlloc); kept > int64(len(got))*size*5/4 {
		t.Errorf("%d entries of %d bytes keep %d bytes in memory", len(got), size, kept)
	}
	runtime.KeepAlive(&got)
}

// TestConcurrentReadersReadAhead has more readers than are followed, beside appends and trims.
func TestConcurrentReadersReadAhead(t *testing.T) {
	const count, size = 3000, 100
	s := open(t, pathOf(t), func(c *Config) { c.CacheEntries, c.MaxBytes = 1, 1 })
	fill(t, s, 1, count, size)
	var readers sync.WaitGroup
	for range 2 * aheadReaders {
		readers.Go(func() {
			var got raft.Log
			for index := uint64(count / 4); index <= count; index++ {
				if err := s.GetLog(index, &got); err != nil || got.Index != index || !bytes.Equal(got.Data, content(index, size)) {
					t.Errorf("entry %d: %v, index %d, %.20q", index, err, got.Index, got.Data)
					return
				}
			}
		})
	}
	fill(t, s, count+1, count+500, size)
	deleteRange(t, s, 1, count/4)
	readers.Wait()
}

func TestVerifyFindsWhatIsNoCommand(t *testing.T) {
	s := open(t, pathOf(t))
	all := entries(1, 2000, 100)
	for index, kind := range map[uint64]raft.LogType{5: raft.LogConfiguration, 6: raft.LogNoop, 1200: raft.LogConfiguration, 2000: raft.LogBarrier} {
		all[index-1].Type = kind
	}
	store(t, s, all)
	for from, want := range map[uint64][]uint64{1: {5, 6, 1200, 2000}, 6: {6, 1200, 2000}, 1201: {2000}} {
		if err := s.Verify(t.Context(), from); err != nil {
			t.Fatal(err)
		}
		if got := s.Others(); !slices.Equal(got, want) {
			t.Errorf("from %d: %v, want %v", from, got, want)
		}
	}
	if err := s.Verify(t.Context(), 2001); err != nil || len(s.Others()) > 0 {
		t.Errorf("after the last entry: %v, %v", s.Others(), err)
	}
}
