package log

import (
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
)

func givenUp(t *testing.T, s *Store) float64 {
	t.Helper()
	var m dto.Metric
	if err := s.metrics.holdsGivenUp.Write(&m); err != nil {
		t.Fatal(err)
	}
	return m.GetCounter().GetValue()
}

func TestHeldEntriesAreNotTrimmed(t *testing.T) {
	for name, bound := range map[string]func(*Config){
		"over the bytes": func(c *Config) { c.MaxBytes = 1 },
		"over the age":   func(c *Config) { c.MaxAge = time.Hour },
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, pathOf(t), bound)
			store(t, s, aged(1, 3000, 1331, 2*time.Hour))
			first, second := s.Hold(500), s.Hold(900)
			trim := func() {
				t.Helper()
				begins, _ := s.FirstIndex()
				deleteRange(t, s, begins, 2500)
			}
			trim()
			wantTrimmed(t, s, 500, 3000, 1331)
			first.Move(1200)
			trim()
			wantTrimmed(t, s, 900, 3000, 1331)
			second.Release()
			second.Release()
			second.Move(1)
			trim()
			wantTrimmed(t, s, 1200, 3000, 1331)
			if n := s.holds.count(); n != 1 {
				t.Errorf("%d holds", n)
			}
			first.Release()
			trim()
			wantTrimmed(t, s, 2500, 3000, 1331)
			if n := givenUp(t, s); n != 0 {
				t.Errorf("%v holds given up", n)
			}
		})
	}
}

// A hold may begin after a trim has chosen the file to remove.
func TestHoldDuringTrim(t *testing.T) {
	s := open(t, pathOf(t))
	fill(t, s, 1, 1000, 1000)
	oldest, ok := s.segments.Oldest()
	if !ok {
		t.Fatal("the log has one file")
	}
	hold := s.Hold(oldest.Last)
	if removed, err := s.trimOldest(oldest); removed || err != nil {
		t.Error(removed, err)
	}
	hold.Move(oldest.Last + 1)
	if removed, err := s.trimOldest(oldest); !removed || err != nil {
		t.Error(removed, err)
	}
	wantContent(t, s, oldest.Last+1, 1000, 1000)
	if removed, err := s.trimOldest(oldest); removed || err != nil { // another trim was faster
		t.Error(removed, err)
	}
	hold.Release()
}

// A follower that hangs must not fill the disk.
func TestHoldsAreGivenUpForSpace(t *testing.T) {
	const bound = 2 << 20
	s := open(t, pathOf(t), func(c *Config) { c.MaxBytes, c.HeldBytes = bound, 2*bound })
	hung := s.Hold(1)
	fill(t, s, 1, 2000, 1331)
	deleteRange(t, s, 1, 1990)
	wantSpan(t, s, 1, 2000) // within the bound of holds
	fill(t, s, 2001, 4000, 1331)
	deleteRange(t, s, 1, 3990)
	if used, _ := s.Size(); used > bound {
		t.Errorf("%d bytes in use", used)
	}
	if given := givenUp(t, s); given != 1 || s.holds.count() != 0 {
		t.Errorf("%v holds given up, %d are there", given, s.holds.count())
	}
	hung.Move(3000)
	if s.holds.count() != 0 {
		t.Error("Move revived a hold that was given up")
	}
	next := s.Hold(3995) // holds few entries
	fill(t, s, 4001, 8000, 1331)
	next.Move(7500)
	first, _ := s.FirstIndex()
	deleteRange(t, s, first, 7990)
	if used, _ := s.Size(); used > bound || s.holds.count() != 1 {
		t.Errorf("%d bytes in use with a hold of the end; %d holds", used, s.holds.count())
	}
}

// Raft must be able to remove entries that conflict with the leader's or that a snapshot replaces.
func TestHoldsDoNotLimitRaftsDeletions(t *testing.T) {
	s := open(t, pathOf(t))
	defer s.Hold(1).Release()
	fill(t, s, 1, 1000, 100)
	deleteRange(t, s, 501, 1000)
	wantSpan(t, s, 1, 500)
	deleteRange(t, s, 1, 500)
	wantSpan(t, s, 0, 0)
}

func TestHeldBytesDefault(t *testing.T) {
	for maxBytes, want := range map[int64]int64{16 << 20: 16<<20 + 1<<30, 4 << 30: 8 << 30} {
		c, err := Config{Dir: "x", Logger: quiet(), MaxBytes: maxBytes}.withDefaults()
		if err != nil || c.HeldBytes != want {
			t.Errorf("%d for a log of %d, want %d (%v)", c.HeldBytes, maxBytes, want, err)
		}
	}
}
