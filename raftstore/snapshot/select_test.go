package snapshot

import (
	"os"
	"path/filepath"
	"testing"
)

func TestSelectNewest(t *testing.T) {
	spoil := func(t *testing.T, s *Store, ids ...string) {
		t.Helper()
		for _, id := range ids {
			change(t, path(s, id, stateFile), func(b []byte) []byte { b[len(b)/2] ^= 1; return b })
		}
	}
	setup := func(t *testing.T) (s *Store, older, newer string) {
		t.Helper()
		s = open(t, t.TempDir())
		return s, write(t, s, 10, 1, podLike(5000)), write(t, s, 20, 2, podLike(6000))
	}
	settle := func(t *testing.T, s *Store, first, last uint64, want string) {
		t.Helper()
		good, err := s.SelectNewest(first, last)
		if err != nil || (good == nil) != (want == "") || (good != nil && good.ID != want) {
			t.Fatal(good, err)
		}
	}
	t.Run("none", func(t *testing.T) {
		settle(t, open(t, t.TempDir()), 1, 5, "")
	})
	t.Run("all good", func(t *testing.T) {
		s, older, newer := setup(t)
		settle(t, s, 0, 0, newer)
		wantStored(t, s, newer, older)
	})
	t.Run("older one damaged: not verified", func(t *testing.T) {
		s, older, newer := setup(t)
		spoil(t, s, older)
		settle(t, s, 21, 30, newer)
	})
	for name, c := range map[string]struct {
		first, last uint64
		safe        bool
	}{
		"log holds all since":                       {5, 30, true},
		"log holds just enough":                     {11, 20, true},
		"log begins too late":                       {12, 30, false},
		"log ends too early":                        {5, 19, false},
		"log was removed for the snapshot":          {0, 0, false},
		"log was removed for the snapshot, goes on": {21, 30, false},
		"log holds all since its first entry":       {1, 30, true},
	} {
		t.Run("newest one damaged: "+name, func(t *testing.T) {
			s, older, newer := setup(t)
			spoil(t, s, newer)
			if !c.safe {
				_, err := s.SelectNewest(c.first, c.last)
				wantCorrupt(t, s, err, newer)
				wantFiles(t, s, older, newer)
				return
			}
			settle(t, s, c.first, c.last, older)
			wantFiles(t, s, older)
			if !exists(filepath.Join(s.damaged, newer, stateFile)) {
				t.Error("the damaged one was not moved aside")
			}
			settle(t, s, c.first, c.last, older)
		})
	}
	t.Run("all damaged: the log from index 1 suffices", func(t *testing.T) {
		s, older, newer := setup(t)
		spoil(t, s, older, newer)
		_, err := s.SelectNewest(2, 30)
		wantCorrupt(t, s, err, newer)
		settle(t, s, 1, 30, "")
		wantStored(t, s)
	})
	t.Run("meta unreadable, which Raft ignores silently", func(t *testing.T) {
		s, older, newer := setup(t)
		change(t, path(s, newer, metaFile), func([]byte) []byte { return nil })
		wantStored(t, s, older)
		_, err := s.SelectNewest(12, 30)
		wantCorrupt(t, s, err, newer)
		settle(t, s, 11, 30, older)
		wantFiles(t, s, older)
	})
	t.Run("the number of damaged snapshots is bounded", func(t *testing.T) {
		s := open(t, t.TempDir())
		for i := range uint64(5) {
			spoil(t, s, write(t, s, 10+i, 1, podLike(100)))
			settle(t, s, 1, 100, "")
		}
		if damagedSnapshot, err := os.ReadDir(s.damaged); err != nil || len(damagedSnapshot) != damagedRetain {
			t.Fatal(damagedSnapshot, err)
		}
	})
}
