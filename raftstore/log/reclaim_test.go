package log

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"quorate/raftstore/smalldisk"
)

// castVote stores a term and a vote.
func castVote(t *testing.T, s *Store, term uint64, candidate string) {
	t.Helper()
	for _, err := range []error{
		s.SetUint64([]byte(CurrentTerm), term), s.SetUint64([]byte(LastVoteTerm), term), s.Set([]byte(LastVoteCand), []byte(candidate)),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func wantVote(t *testing.T, s *Store, term uint64, candidate string) {
	t.Helper()
	for _, key := range []string{CurrentTerm, LastVoteTerm} {
		if got, err := s.GetUint64([]byte(key)); got != term || err != nil {
			t.Errorf("%s is %d, %v", key, got, err)
		}
	}
	if got, err := s.Get([]byte(LastVoteCand)); string(got) != candidate || err != nil {
		t.Errorf("voted for %s, %v", got, err)
	}
}

func reclaim(t *testing.T, s *Store, index uint64) {
	t.Helper()
	if err := s.Reclaim(index); err != nil {
		t.Fatal(err)
	}
}

// Reclaim keeps about reclaimKeepBytes before the snapshot, all entries from it on, the term and
// the vote, and gives everything else back to the disk.
func TestReclaim(t *testing.T) {
	const size, last = 10_000, 3000
	disk := smalldisk.New(t, 64<<20)
	path := disk.Dir + "/log"
	s := open(t, path)
	castVote(t, s, 7, "n2")
	for from := uint64(1); from <= last; from += 100 {
		store(t, s, aged(from, 100, size, time.Minute))
	}
	reclaim(t, s, last-200)
	wantTrimmed(t, s, last-200, last, size) // which are more than reclaimKeepBytes
	wantVote(t, s, 7, "n2")
	if free := disk.Free(); free < 48<<20 {
		t.Errorf("%d MiB are free", free>>20)
	}
	reclaim(t, s, last+1000) // of a snapshot that this log does not reach
	first, _ := s.FirstIndex()
	if kept := (last - first) * size; kept < reclaimKeepBytes/4 || kept > reclaimKeepBytes {
		t.Errorf("%d bytes are kept of the whole log", kept)
	}
	store(t, s, aged(last+1, 10, size, 0))
	after := open(t, crashed(t, path))
	wantContent(t, after, first, last+10, size)
	wantVote(t, after, 7, "n2")
}

// The entry of the newest snapshot stays, and so do those that a hold keeps.
func TestReclaimKeepsTheSnapshotsEntryAndHolds(t *testing.T) {
	s := open(t, pathOf(t))
	for from := uint64(1); from <= 10; from++ { // each in a file of its own
		store(t, s, aged(from, 1, 2<<20, time.Minute))
	}
	hold := s.Hold(4)
	reclaim(t, s, 10)
	wantContent(t, s, 4, 10, 2<<20)
	hold.Release()
	reclaim(t, s, 10)
	wantContent(t, s, 10, 10, 2<<20)
	reclaim(t, s, 10)
	wantContent(t, s, 10, 10, 2<<20)
}

// Reclaim frees space on a full disk, and then reserves the next file.
func TestReclaimOnFullDisk(t *testing.T) {
	disk := smalldisk.New(t, 32<<20)
	s := open(t, disk.Dir+"/log")
	castVote(t, s, 3, "n1")
	fill(t, s, 1, 1000, 10_000)
	disk.Fill(0)
	reclaim(t, s, 600)
	wantTrimmed(t, s, 600, 1000, 10_000)
	wantVote(t, s, 3, "n1")
	store(t, s, entries(1001, 10, 10_000))
	if free := disk.Free(); free < 5<<20 {
		t.Errorf("%d bytes are free", free)
	}
}

// Raft appends and reads while the file is replaced.
func TestReclaimWhileRaftWrites(t *testing.T) {
	s := open(t, pathOf(t))
	const last = 1000
	var raftlike sync.WaitGroup
	raftlike.Go(func() {
		for index := uint64(1); index <= last; index++ {
			if err := s.StoreLogs(aged(index, 1, 5000, time.Minute)); err != nil {
				t.Error(err)
				return
			}
			var entry raft.Log
			if err := s.GetLog(index, &entry); err != nil || entry.Index != index {
				t.Errorf("entry %d: %v", index, err)
			}
		}
	})
	for done := false; !done; {
		have, _ := s.LastIndex()
		reclaim(t, s, have)
		done = have == last
	}
	raftlike.Wait()
	first, _ := s.FirstIndex()
	wantContent(t, s, first, last, 5000)
	if first < last-300 {
		t.Errorf("the log begins with %d", first)
	}
}

// What Written says that entries take is what they take.
func TestFootprint(t *testing.T) {
	for _, size := range []int{0, 10, 300, 2100, 4100, 100_000, 1 << 20} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			s := open(t, pathOf(t), func(c *Config) { c.SegmentBytes = 64 << 20 })
			store(t, s, entries(1, 1, 0))
			before, _ := s.Size()
			written := s.Written()
			store(t, s, entries(2, 30, size))
			if used, _ := s.Size(); used-before != s.Written()-written {
				t.Errorf("30 entries took %d bytes, said %d", used-before, s.Written()-written)
			}
		})
	}
}
