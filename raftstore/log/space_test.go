package log

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quorate/raftstore/log/segment"
	"quorate/raftstore/smalldisk"
)

// TestFullDisk fills the disk at different points of a log's life. Stored entries remain, also after a
// crash, failed ones are absent, and the log accepts entries again once there is space.
func TestFullDisk(t *testing.T) {
	const size = 900
	for seed := range uint64(4) {
		disk := smalldisk.New(t, 12<<20)
		path := disk.Dir + "/log"
		random := rand.New(rand.NewPCG(seed, 1))
		s := open(t, path)
		next := uint64(1)
		for range 4 {
			disk.Fill(random.Int64N(2 << 20))
			batch := 1 + random.IntN(200)
			next = appendUntilFull(t, s, next, batch, size)
			wantContent(t, s, 1, next-1, size)

			after := open(t, crashed(t, path))
			last, _ := after.LastIndex()
			if last < next-1 || last >= next+uint64(batch) { // it may have the first ones of the append that failed
				t.Errorf("after a crash the log ends with %d, want %d", last, next-1)
			}
			wantContent(t, after, 1, last, size)

			disk.Clear()
			store(t, s, entries(next, 10, size))
			next += 10
		}
		wantContent(t, s, 1, next-1, size)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		wantContent(t, open(t, path), 1, next-1, size)
	}
}

// appendUntilFull returns the index of the first entry that was not stored.
func appendUntilFull(t *testing.T, s *Store, next uint64, batch, size int) uint64 {
	t.Helper()
	for {
		err := s.StoreLogs(entries(next, batch, size))
		if OutOfSpace(err) {
			return next
		}
		if err != nil {
			t.Fatal(err)
		}
		next += uint64(batch)
	}
}

func TestFailedWritesAreReported(t *testing.T) {
	disk := smalldisk.New(t, 8<<20)
	var reported []error
	s := open(t, disk.Dir+"/log", func(c *Config) { c.OnError = func(err error) { reported = append(reported, err) } })
	disk.Fill(0)
	appendUntilFull(t, s, 1, 100, 900)
	if len(reported) != 1 || !OutOfSpace(reported[0]) || errors.Is(reported[0], ErrInDoubt) {
		t.Errorf("reported %v", reported)
	}
}

// A write in doubt is reported as such, and to OnError.
func TestWriteInDoubt(t *testing.T) {
	var reported error
	s := open(t, pathOf(t), func(c *Config) { c.OnError = func(err error) { reported = err } })
	store(t, s, entries(1, 3, 10))
	failure := errors.New("input/output error")
	if err := s.failed(fmt.Errorf("%w: %w", segment.ErrInDoubt, failure)); !errors.Is(err, ErrInDoubt) || !errors.Is(err, failure) || !errors.Is(reported, ErrInDoubt) {
		t.Errorf("%v, reported %v", err, reported)
	}
	if err := s.failed(failure); errors.Is(err, ErrInDoubt) || !errors.Is(err, failure) || errors.Is(reported, ErrInDoubt) {
		t.Errorf("one that certainly failed: %v, reported %v", err, reported)
	}
}

// Entries still fit into a full disk for a while, because their space was reserved.
func TestAllocatedSpace(t *testing.T) {
	disk := smalldisk.New(t, 24<<20)
	s := open(t, disk.Dir+"/log", func(c *Config) { c.SegmentBytes = 4 << 20 })
	store(t, s, entries(1, 10, 900))
	if err := s.Allocate(); err != nil {
		t.Fatal(err)
	}
	disk.Fill(0)
	fill(t, s, 11, 2010, 900) // half of the reserved space
	for next := uint64(2011); ; next++ {
		if err := s.Allocate(); OutOfSpace(err) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		store(t, s, entries(next, 1, 900))
	}
	disk.Clear()
	if err := s.Allocate(); err != nil {
		t.Error(err)
	}
}

// Close must not write either.
func TestNoWritesAfterErrInDoubt(t *testing.T) {
	path := pathOf(t)
	s := open(t, path)
	store(t, s, entries(1, 3, 10))
	if err := s.failed(segment.ErrInDoubt); !errors.Is(err, ErrInDoubt) {
		t.Fatal(err)
	}
	before := contentOf(t, path)
	for what, err := range map[string]error{
		"append":   s.StoreLogs(entries(4, 1, 10)),
		"leap":     s.StoreLogs(entries(9, 1, 10)),
		"set":      s.SetUint64([]byte(CurrentTerm), 9),
		"truncate": s.DeleteRange(3, 3),
		"reset":    s.DeleteRange(1, 3),
	} {
		if !errors.Is(err, ErrInDoubt) {
			t.Errorf("%s: %v", what, err)
		}
	}
	wantContent(t, s, 1, 3, 10)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, contentOf(t, path)); diff != "" {
		t.Errorf("the files have changed:\n%s", diff)
	}
}

// contentOf returns the content of the files in a folder by their names.
func contentOf(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	found, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]byte{}
	for _, entry := range found {
		if all[entry.Name()], err = os.ReadFile(filepath.Join(dir, entry.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// An append that fails after a truncation leaves Raft with a last entry that the log no longer has,
// whether the truncation removed one entry or many.
func TestAppendFailsAfterTruncation(t *testing.T) {
	for _, low := range []uint64{280, 300} {
		t.Run(fmt.Sprint("from ", low), func(t *testing.T) { appendAfterTruncation(t, low, 300) })
	}
}

func appendAfterTruncation(t *testing.T, low, last uint64) {
	disk := smalldisk.New(t, 12<<20)
	path := disk.Dir + "/log"
	var reported error
	s := open(t, path, func(c *Config) { c.OnError = func(err error) { reported = err } })
	fill(t, s, 1, last, 900)
	deleteRange(t, s, 290, last) // leaves pages for the next one
	store(t, s, entries(290, 11, 900))
	disk.Fill(0)
	deleteRange(t, s, low, last)
	err := s.StoreLogs(entries(low, 10, 1<<20))
	if !OutOfSpace(err) || !errors.Is(err, ErrInDoubt) || !errors.Is(reported, ErrInDoubt) {
		t.Fatalf("failed with %v, reported %v", err, reported)
	}
	disk.Clear()
	if err := s.StoreLogs(entries(last+1, 1, 10)); !errors.Is(err, ErrInDoubt) {
		t.Errorf("the entry that Raft sends next: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again := open(t, path)
	now, _ := again.LastIndex()
	if now < low-1 || now > last {
		t.Errorf("after a restart the log ends with %d", now)
	}
	wantContent(t, again, 1, now, 900)
	deleteRange(t, again, low, last)
	store(t, again, entries(low, 1, 900))
	wantContent(t, open(t, crashed(t, path)), 1, low, 900)
}

// A failed append is in doubt if it was to replace conflicting entries, and not if a snapshot
// replaced them.
func TestAppendFailsAfterReset(t *testing.T) {
	for name, c := range map[string]struct {
		next    uint64
		inDoubt bool
	}{"all_conflict": {1, true}, "a_snapshot": {11, false}} {
		t.Run(name, func(t *testing.T) {
			disk := smalldisk.New(t, 12<<20)
			s := open(t, disk.Dir+"/log")
			store(t, s, entries(1, 10, 900))
			deleteRange(t, s, 1, 10)
			disk.Fill(0)
			err := s.StoreLogs(entries(c.next, 10, 1<<20))
			if !OutOfSpace(err) || errors.Is(err, ErrInDoubt) != c.inDoubt {
				t.Errorf("failed with %v", err)
			}
			disk.Clear()
		})
	}
}
