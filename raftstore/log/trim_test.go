package log

import (
	"testing"
	"time"

	"github.com/hashicorp/raft"
)

// aged returns entries that were appended the given time ago.
func aged(from uint64, n, size int, ago time.Duration) []*raft.Log {
	out := entries(from, n, size)
	for _, e := range out {
		e.AppendedAt = time.Now().Add(-ago)
	}
	return out
}

func deleteRange(t *testing.T, s *Store, low, high uint64) {
	t.Helper()
	if err := s.DeleteRange(low, high); err != nil {
		t.Fatal(err)
	}
}

func TestPrefixIsKeptWithinBounds(t *testing.T) {
	t.Run("young and small: removes nothing", func(t *testing.T) {
		s := open(t, pathOf(t))
		store(t, s, aged(1, 1000, 100, time.Minute))
		deleteRange(t, s, 1, 990)
		wantSpan(t, s, 1, 1000)
	})
	t.Run("old: removes by age, up to what Raft allows", func(t *testing.T) {
		s := open(t, pathOf(t), func(c *Config) { c.MaxAge = time.Hour })
		boot := entries(1, 1, 100)[0]
		boot.AppendedAt = time.Time{}
		store(t, s, []*raft.Log{boot})
		store(t, s, aged(2, 1999, 100, 2*time.Hour))
		store(t, s, aged(2001, 1000, 100, time.Minute))
		deleteRange(t, s, 1, 1200)
		wantTrimmed(t, s, 1200, 3000, 100) // the snapshot's entry stays
		first, _ := s.FirstIndex()
		deleteRange(t, s, first, 2900)
		wantTrimmed(t, s, 2001, 3000, 100)
	})
	t.Run("without a time: removed with later entries", func(t *testing.T) {
		s := open(t, pathOf(t), func(c *Config) { c.MaxAge = time.Hour })
		boot := entries(1, 1, 100)[0]
		boot.AppendedAt = time.Time{}
		store(t, s, []*raft.Log{boot})
		store(t, s, aged(2, 10, 100, time.Minute))
		deleteRange(t, s, 1, 10)
		wantSpan(t, s, 1, 11)
	})
	t.Run("large: removes until the bytes fit", func(t *testing.T) {
		const bound = 4 << 20
		s := open(t, pathOf(t), func(c *Config) { c.MaxBytes = bound })
		for from := uint64(1); from <= 10_000; from += 500 {
			store(t, s, aged(from, 500, 1331, time.Minute))
		}
		if before, _ := s.Size(); before < 13<<20 {
			t.Fatalf("%d bytes in use", before)
		}
		deleteRange(t, s, 1, 9990)
		if used, _ := s.Size(); used > bound || used < bound-2*segmentBytes {
			t.Fatalf("%d bytes in use after the trim, bound is %d", used, bound)
		}
		first, _ := s.FirstIndex()
		if first < 5000 || first > 9991 {
			t.Fatalf("log begins at %d", first)
		}
		wantContent(t, s, first, 10_000, 1331)
	})
	t.Run("large, but Raft allows little", func(t *testing.T) {
		s := open(t, pathOf(t), func(c *Config) { c.MaxBytes = 1 << 20 })
		fill(t, s, 1, 3000, 1331)
		deleteRange(t, s, 1, 700)
		wantTrimmed(t, s, 700, 3000, 1331)
	})
}

func TestOtherDeletionsAreExact(t *testing.T) {
	t.Run("a suffix", func(t *testing.T) {
		path := pathOf(t)
		s := open(t, path)
		fill(t, s, 1, 1000, 300)
		deleteRange(t, s, 501, 1000)
		wantContent(t, s, 1, 500, 300)
		store(t, s, entries(501, 10, 300))
		wantContent(t, open(t, crashed(t, path)), 1, 510, 300)
	})
	t.Run("a suffix with a bound beyond the end", func(t *testing.T) {
		s := open(t, pathOf(t))
		fill(t, s, 1, 100, 300)
		deleteRange(t, s, 51, 10_000)
		wantContent(t, s, 1, 50, 300)
	})
	t.Run("everything", func(t *testing.T) {
		path := pathOf(t)
		s := open(t, path)
		fill(t, s, 1, 1000, 300)
		deleteRange(t, s, 1, 1000)
		wantSpan(t, s, 0, 0)
		wantSpan(t, open(t, crashed(t, path)), 0, 0)
		store(t, s, entries(5000, 10, 300))
		wantContent(t, s, 5000, 5009, 300)
	})
	t.Run("nothing there", func(t *testing.T) {
		s := open(t, pathOf(t))
		deleteRange(t, s, 1, 10)
		fill(t, s, 11, 20, 10)
		deleteRange(t, s, 1, 10)
		deleteRange(t, s, 21, 30)
		wantContent(t, s, 11, 20, 10)
	})
	t.Run("a range in the middle", func(t *testing.T) {
		s := open(t, pathOf(t))
		fill(t, s, 1, 100, 10)
		if err := s.DeleteRange(20, 30); err == nil {
			t.Fatal("left a gap")
		}
		wantContent(t, s, 1, 100, 10)
	})
}

func TestAlign(t *testing.T) {
	for name, c := range map[string]struct {
		index, term uint64
		removed     bool
	}{
		"snapshot inside the log":        {50, 3, false},
		"snapshot of the last entry":     {100, 3, false},
		"snapshot right before the log":  {10, 2, false},
		"log ends before the snapshot":   {101, 3, true},
		"another term at the snapshot":   {50, 4, true},
		"snapshot long before the log":   {5, 1, false}, // Verify finds that
		"no snapshot":                    {0, 0, false},
		"another term at the last entry": {100, 4, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, pathOf(t))
			if err := s.SetUint64([]byte(CurrentTerm), 3); err != nil {
				t.Fatal(err)
			}
			fill(t, s, 11, 100, 10)
			removed, err := s.Align(c.index, c.term)
			if err != nil || removed != c.removed {
				t.Fatalf("removed %v, %v", removed, err)
			}
			if removed {
				wantSpan(t, s, 0, 0)
			} else {
				wantContent(t, s, 11, 100, 10)
			}
		})
	}
}
