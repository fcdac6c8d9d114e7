package state

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// A list of all entries is the model, on clocks that jump. Older values must not change, and a
// restart must keep the times.
func TestTimes_before_is_never_wrong(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type entry struct {
			index uint64
			at    time.Time // the latest time that the clock had shown by then
		}
		tree, clock := NewTree(), time.Unix(1_000_000, 0)
		var last time.Time
		var all []entry
		var roots []*Root
		for range rapid.IntRange(1, 60).Draw(t, "entries") {
			clock = clock.Add(time.Duration(rapid.IntRange(-20_000, 60_000).Draw(t, "milliseconds")) * time.Millisecond)
			if clock.After(last) {
				last = clock
			}
			index := tree.Index() + uint64(rapid.IntRange(1, 3).Draw(t, "gap"))
			tree.Advance(index)
			tree.Stamp(clock)
			all = append(all, entry{index, last})
			roots = append(roots, tree.Publish())
			if rapid.IntRange(0, 9).Draw(t, "restart") == 0 {
				tree = reload(t, roots[len(roots)-1])
			}
		}
		n := rapid.IntRange(0, len(roots)-1).Draw(t, "root")
		root, seen := roots[n], all[:n+1]
		for _, e := range all {
			for _, at := range []time.Time{e.at, e.at.Add(TimeStep), e.at.Add(2*TimeStep + time.Second)} {
				got := root.Times().Before(at, root.Index())
				for _, e := range seen {
					if e.index <= got && !e.at.Before(at) {
						t.Fatalf("entry %d of %v is said to be before %v (%d)", e.index, e.at, at, got)
					}
					if e.index > got && e.at.Before(at.Add(-2*TimeStep-time.Second)) && e.index <= root.Index() {
						t.Fatalf("entry %d of %v is not known to be before %v (%d)", e.index, e.at, at, got)
					}
				}
			}
		}
	})
}

// reload restarts a state from its snapshot.
func reload(t *rapid.T, root *Root) *Tree {
	l, err := NewLoader(root.Index(), "", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for index, seconds := range root.Times().All() {
		if err := l.AddTime(index, seconds); err != nil {
			t.Fatal(err)
		}
	}
	return l.Tree()
}

func TestTimes_forget_the_oldest(t *testing.T) {
	tree, start := NewTree(), time.Unix(1_000_000, 0)
	at := func(i uint64) time.Time { return start.Add(time.Duration(i) * TimeStep) }
	for i := range uint64(maxMarks + 10) {
		tree.Advance(i + 1)
		tree.Stamp(at(i))
	}
	root := tree.Publish()
	if n := root.Times().Len(); n > maxMarks || n < maxMarks/2 {
		t.Errorf("%d marks are kept", n)
	}
	if got := root.Times().Before(at(5), root.Index()); got != 0 {
		t.Errorf("Before returned forgotten entry %d", got)
	}
	if got := root.Times().Before(at(maxMarks), root.Index()); got != maxMarks {
		t.Errorf("got %d, want %d", got, maxMarks)
	}
}

func TestLoader_refuses_times_that_do_not_rise(t *testing.T) {
	l, err := NewLoader(10, "", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var bad []int
	for i, m := range []mark{{3, 100}, {3, 200}, {4, 100}, {11, 300}, {4, 101}} {
		if l.AddTime(m.index, m.seconds) != nil {
			bad = append(bad, i)
		}
	}
	if !slices.Equal(bad, []int{1, 2, 3}) {
		t.Errorf("refused %v", bad)
	}
}
