package log

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/hashicorp/raft"
)

type read struct {
	index uint64
	data  []byte
}

func readAll(t *testing.T, s *Store, after, upTo uint64, limit int) (got []read, position uint64, err error) {
	t.Helper()
	position, err = s.Read(t.Context(), after, upTo, limit, func(index uint64, data []byte) error {
		got = append(got, read{index, data})
		return nil
	})
	for _, r := range got {
		if !bytes.Equal(r.data, content(r.index, len(r.data))) {
			t.Fatalf("entry %d is %.20q", r.index, r.data)
		}
	}
	return got, position, err
}

func TestReadHistory(t *testing.T) {
	s := open(t, pathOf(t))
	fill(t, s, 11, 2000, 1331)
	noop := entries(2001, 1, 0)[0]
	noop.Type = raft.LogNoop
	store(t, s, []*raft.Log{noop})
	fill(t, s, 2002, 2010, 1_500_000) // each larger than a chunk
	for name, c := range map[string]struct {
		after, upTo   uint64
		limit         int
		first, last   uint64
		count         int
		position, old uint64
	}{
		"all":                                {after: 10, upTo: 2010, first: 11, last: 2010, count: 1999, position: 2010},
		"a part":                             {after: 100, upTo: 200, first: 101, last: 200, count: 100, position: 200},
		"one":                                {after: 100, upTo: 101, first: 101, last: 101, count: 1, position: 101},
		"none":                               {after: 100, upTo: 100, position: 100},
		"limited":                            {after: 100, upTo: 2010, limit: 700, first: 101, last: 800, count: 700, position: 800},
		"beyond the end":                     {after: 2009, upTo: 9999, first: 2010, last: 2010, count: 1, position: 2010},
		"all beyond the end":                 {after: 5000, upTo: 9999, position: 5000},
		"across an entry that is no command": {after: 2000, upTo: 2001, position: 2001},
		"limited before it":                  {after: 1999, upTo: 2010, limit: 1, first: 2000, last: 2000, count: 1, position: 2000},
		"before the first entry":             {after: 9, upTo: 100, position: 9, old: 11},
		"from position 0":                    {after: 0, upTo: 100, position: 0, old: 11},
	} {
		t.Run(name, func(t *testing.T) {
			got, position, err := readAll(t, s, c.after, c.upTo, c.limit)
			var gone *Truncated
			if errors.As(err, &gone) != (c.old > 0) || (err != nil && gone == nil) || (gone != nil && gone.First != c.old) {
				t.Fatal(err)
			}
			if len(got) != c.count || position != c.position {
				t.Fatalf("%d entries, position %d", len(got), position)
			}
			if c.count > 0 && (got[0].index != c.first || got[len(got)-1].index != c.last) {
				t.Fatalf("from %d to %d", got[0].index, got[len(got)-1].index)
			}
		})
	}
}

func TestReadDuringConcurrentChanges(t *testing.T) {
	t.Run("appends go on", func(t *testing.T) {
		s := open(t, pathOf(t))
		fill(t, s, 1, 500, 1331)
		next := uint64(501)
		_, err := s.Read(t.Context(), 0, 500, 0, func(index uint64, _ []byte) error {
			if index%50 == 0 {
				store(t, s, entries(next, 1, 1331))
				next++
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
	t.Run("trimmed", func(t *testing.T) {
		s := open(t, pathOf(t), func(c *Config) { c.MaxBytes = 1 })
		fill(t, s, 1, 2000, 1331)
		_, err := s.Read(t.Context(), 0, 2000, 0, func(index uint64, _ []byte) error {
			if index == 1 {
				return s.DeleteRange(1, 1500)
			}
			return nil
		})
		if gone := new(Truncated); !errors.As(err, &gone) || gone.First <= 1400 || gone.First > 1500 {
			t.Fatal(err)
		}
	})
	t.Run("removed whole", func(t *testing.T) {
		s := open(t, pathOf(t))
		fill(t, s, 1, 2000, 1331)
		position, err := s.Read(t.Context(), 0, 2000, 0, func(index uint64, _ []byte) error {
			if index == 1 {
				return s.DeleteRange(1, 2000)
			}
			return nil
		})
		if gone := new(Truncated); !errors.As(err, &gone) || gone.First != 0 || gone.After != position {
			t.Fatal(err)
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		s := open(t, pathOf(t))
		fill(t, s, 1, 2000, 1331)
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		_, err := s.Read(ctx, 0, 2000, 0, func(uint64, []byte) error { cancel(); n++; return nil })
		if !errors.Is(err, context.Canceled) || n > chunkEntries {
			t.Fatal(n, err)
		}
	})
	t.Run("fn fails", func(t *testing.T) {
		s := open(t, pathOf(t))
		fill(t, s, 1, 20, 10)
		stop := errors.New("stop")
		position, err := s.Read(t.Context(), 0, 20, 0, func(index uint64, _ []byte) error {
			if index == 7 {
				return stop
			}
			return nil
		})
		if !errors.Is(err, stop) || position != 6 {
			t.Fatal(position, err)
		}
	})
}

func TestVerifyRequiresAllEntriesSinceSnapshot(t *testing.T) {
	s := open(t, pathOf(t))
	if err := s.Verify(t.Context(), 0); err != nil {
		t.Fatal("empty log:", err)
	}
	fill(t, s, 11, 30, 10)
	for from, index := range map[uint64]uint64{0: 1, 10: 10, 11: 0, 30: 0, 31: 0, 100: 0} {
		err := s.Verify(t.Context(), from)
		if c := new(Corrupt); errors.As(err, &c) != (index > 0) || c.Index != index {
			t.Errorf("from %d: %v", from, err)
		}
	}
}
