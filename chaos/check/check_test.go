package check_test

import (
	"testing"
	"time"

	"quorate/chaos/check"
	"quorate/chaos/workload"
)

// at is a moment of a made-up run.
func at(ms int) time.Time { return time.UnixMilli(int64(ms)) }

func write(kind workload.Kind, key, value string, version uint64, from, to int) workload.Op {
	return workload.Op{Kind: kind, Key: key, Value: value, Version: version, Invoked: at(from), Answered: at(to)}
}

func unknown(kind workload.Kind, key, value string, from, to int) workload.Op {
	op := write(kind, key, value, 0, from, to)
	op.Unknown = true
	return op
}

func read(key string, version uint64, value string, from, to int) workload.Op {
	return write(workload.Read, key, value, version, from, to)
}

func state(objects map[string]check.Stored) check.Final {
	return check.Final{Node: "n1", Objects: objects}
}

func TestLost(t *testing.T) {
	created := write(workload.Create, "a", "1", 10, 0, 1)
	for name, c := range map[string]struct {
		ops    []workload.Op
		stored map[string]check.Stored
		want   int
	}{
		"what was acknowledged is there":           {[]workload.Op{created}, map[string]check.Stored{"a": {10, "1"}}, 0},
		"an acknowledged create is gone":           {[]workload.Op{created}, nil, 1},
		"the version differs":                      {[]workload.Op{created}, map[string]check.Stored{"a": {11, "1"}}, 1},
		"the value differs":                        {[]workload.Op{created}, map[string]check.Stored{"a": {10, "2"}}, 1},
		"an acknowledged deletion came back":       {[]workload.Op{created, write(workload.Delete, "a", "", 0, 2, 3)}, map[string]check.Stored{"a": {10, "1"}}, 1},
		"an acknowledged deletion held":            {[]workload.Op{created, write(workload.Delete, "a", "", 0, 2, 3)}, nil, 0},
		"an unknown replace may have happened":     {[]workload.Op{created, unknown(workload.Replace, "a", "2", 2, 3)}, map[string]check.Stored{"a": {12, "2"}}, 0},
		"an unknown replace may not have":          {[]workload.Op{created, unknown(workload.Replace, "a", "2", 2, 3)}, map[string]check.Stored{"a": {10, "1"}}, 0},
		"an unknown replace cannot go back":        {[]workload.Op{created, unknown(workload.Replace, "a", "2", 2, 3)}, map[string]check.Stored{"a": {9, "2"}}, 1},
		"an unknown delete may have happened":      {[]workload.Op{created, unknown(workload.Delete, "a", "", 2, 3)}, nil, 0},
		"an unknown delete before an acknowledged": {[]workload.Op{unknown(workload.Delete, "a", "", 0, 0), created}, nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			if got := check.Lost(c.ops, state(c.stored)); got.Count != c.want {
				t.Errorf("%d violations, want %d: %v", got.Count, c.want, got.Samples)
			}
		})
	}
}

func TestDiverged(t *testing.T) {
	one := state(map[string]check.Stored{"a": {1, "x"}})
	for name, c := range map[string]struct {
		other map[string]check.Stored
		want  int
	}{
		"equal":          {map[string]check.Stored{"a": {1, "x"}}, 0},
		"other version":  {map[string]check.Stored{"a": {2, "x"}}, 1},
		"missing":        {nil, 1},
		"something more": {map[string]check.Stored{"a": {1, "x"}, "b": {2, "y"}}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			if got := check.Diverged([]check.Final{one, state(c.other)}); got.Count != c.want {
				t.Errorf("%d violations, want %d: %v", got.Count, c.want, got.Samples)
			}
		})
	}
}

func TestVersionsBack(t *testing.T) {
	list := func(version uint64, from, to int) workload.Op { return write(workload.List, "", "", version, from, to) }
	for name, c := range map[string]struct {
		ops  []workload.Op
		want int
	}{
		"rising":                      {[]workload.Op{write(workload.Create, "a", "1", 5, 0, 1), write(workload.Create, "b", "1", 6, 2, 3)}, 0},
		"concurrent in either order":  {[]workload.Op{write(workload.Create, "a", "1", 6, 0, 5), write(workload.Create, "b", "1", 5, 1, 4)}, 0},
		"a later write is lower":      {[]workload.Op{write(workload.Create, "a", "1", 6, 0, 1), write(workload.Create, "b", "1", 5, 2, 3)}, 1},
		"one version twice":           {[]workload.Op{write(workload.Create, "a", "1", 5, 0, 2), write(workload.Create, "b", "1", 5, 1, 3)}, 1},
		"a list below an older write": {[]workload.Op{write(workload.Create, "a", "1", 5, 0, 1), list(4, 2, 3)}, 1},
		"lists may repeat a version":  {[]workload.Op{list(4, 0, 1), list(4, 2, 3)}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := check.VersionsBack(c.ops); got.Count != c.want {
				t.Errorf("%d violations, want %d: %v", got.Count, c.want, got.Samples)
			}
		})
	}
}

func TestStaleReads(t *testing.T) {
	created := write(workload.Create, "a", "1", 5, 0, 1)
	replaced := write(workload.Replace, "a", "2", 7, 4, 6)
	deleted := write(workload.Delete, "a", "", 0, 8, 9)
	for name, c := range map[string]struct {
		ops  []workload.Op
		want int
	}{
		"shows the last write":                      {[]workload.Op{created, read("a", 5, "1", 2, 3)}, 0},
		"misses it":                                 {[]workload.Op{created, read("a", 0, "", 2, 3)}, 1},
		"shows an older one":                        {[]workload.Op{created, replaced, read("a", 5, "1", 7, 8)}, 1},
		"concurrent write, either is fine (old)":    {[]workload.Op{created, replaced, read("a", 5, "1", 5, 6)}, 0},
		"concurrent write, either is fine (new)":    {[]workload.Op{created, replaced, read("a", 7, "2", 5, 6)}, 0},
		"shows what was deleted":                    {[]workload.Op{created, replaced, deleted, read("a", 7, "2", 10, 11)}, 1},
		"deleted meanwhile":                         {[]workload.Op{created, replaced, deleted, read("a", 0, "", 8, 10)}, 0},
		"an unknown delete may have happened":       {[]workload.Op{created, unknown(workload.Delete, "a", "", 2, 3), read("a", 0, "", 4, 5)}, 0},
		"an unknown create may come back":           {[]workload.Op{unknown(workload.Create, "a", "0", 0, 0), created, deleted, read("a", 9, "0", 10, 11)}, 0},
		"a fresh create while reading":              {[]workload.Op{created, deleted, write(workload.Create, "a", "3", 12, 10, 13), read("a", 12, "3", 11, 12)}, 0},
		"nothing was written and nothing was found": {[]workload.Op{read("a", 0, "", 0, 1)}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := check.StaleReads(c.ops); got.Count != c.want {
				t.Errorf("%d violations, want %d: %v", got.Count, c.want, got.Samples)
			}
		})
	}
}

func TestWatch(t *testing.T) {
	ops := []workload.Op{
		write(workload.Create, "a", "1", 5, 0, 1), write(workload.Replace, "a", "2", 6, 2, 3), write(workload.Delete, "a", "", 0, 4, 5),
	}
	added := workload.Seen{Type: "ADDED", Key: "a", Version: 5, Value: "1"}
	modified := workload.Seen{Type: "MODIFIED", Key: "a", Version: 6, Value: "2"}
	deleted := workload.Seen{Type: "DELETED", Key: "a", Version: 7, Value: "2"}
	for name, c := range map[string]struct {
		seen                                   []workload.Seen
		missed, repeated, disordered, invented int
	}{
		"all, once, in order": {seen: []workload.Seen{added, modified, deleted}},
		"one is missing":      {seen: []workload.Seen{added, deleted}, missed: 1},
		"deletion is missing": {seen: []workload.Seen{added, modified}, missed: 1},
		"one comes twice":     {seen: []workload.Seen{added, modified, modified, deleted}, repeated: 1},
		"out of order":        {seen: []workload.Seen{modified, added, deleted}, disordered: 1},
		"wrong value":         {seen: []workload.Seen{added, {Type: "MODIFIED", Key: "a", Version: 6, Value: "9"}, deleted}, missed: 1, invented: 1},
		"wrong type":          {seen: []workload.Seen{added, {Type: "ADDED", Key: "a", Version: 6, Value: "2"}, deleted}, missed: 1},
		"deleted twice":       {seen: []workload.Seen{added, modified, deleted, {Type: "DELETED", Key: "a", Version: 8, Value: "2"}}, invented: 1},
	} {
		t.Run(name, func(t *testing.T) {
			got := check.Watch(ops, c.seen, 0, 10)
			if got.Missed.Count != c.missed || got.Repeated.Count != c.repeated ||
				got.Disordered.Count != c.disordered || got.Invented.Count != c.invented {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestLongestGap(t *testing.T) {
	ops := []workload.Op{
		write(workload.Create, "a", "1", 1, 0, 10), write(workload.Create, "b", "1", 2, 0, 50),
		read("a", 1, "1", 20, 40), unknown(workload.Create, "c", "1", 20, 30), write(workload.Create, "d", "1", 3, 0, 60),
	}
	if gap, from := check.LongestGap(ops); gap != 40*time.Millisecond || !from.Equal(at(10)) {
		t.Errorf("gap %v from %v", gap, from)
	}
}
