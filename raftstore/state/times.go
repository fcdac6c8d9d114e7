package state

import (
	"fmt"
	"iter"
	"slices"
	"sort"
	"time"
)

const (
	// TimeStep is how exactly the state knows when an entry was appended.
	TimeStep = 5 * time.Second
	// maxMarks is how many steps are remembered: with entries in every one of them, 22 hours. It is part of the replicated
	// behaviour: all replicas must forget at the same entry, or their snapshots differ.
	maxMarks = 16 << 10
)

// Times tells when entries were appended to the log, by the clocks of those who led: a mark for each step in which there were
// entries. A Times never changes; the next one shares its marks.
type Times struct{ marks []mark }

// mark says that the entry at index, and those after it up to the next mark, were appended between seconds and the end of that
// step.
type mark struct {
	index   uint64
	seconds int64 // since 1970
}

// Before returns the newest entry that was surely appended before a time, if it is any up to last, the newest of all. 0 when
// none is known to be.
func (t Times) Before(at time.Time, last uint64) uint64 {
	limit := at.Add(-TimeStep).Unix()
	n := sort.Search(len(t.marks), func(i int) bool { return t.marks[i].seconds > limit })
	switch n {
	case 0:
		return 0
	case len(t.marks):
		return last
	}
	return t.marks[n].index - 1
}

// All yields the marks, rising: an index, and the seconds since 1970.
func (t Times) All() iter.Seq2[uint64, int64] {
	return func(yield func(uint64, int64) bool) {
		for _, m := range t.marks {
			if !yield(m.index, m.seconds) {
				return
			}
		}
	}
}

// Len returns the number of marks.
func (t Times) Len() int { return len(t.marks) }

// with returns the times with one more, newest, entry. A clock that is behind the last leader's changes nothing: time stands
// still until it has caught up. Of all values only the newest may be extended.
func (t Times) with(index uint64, at time.Time) Times {
	seconds := at.Unix()
	if n := len(t.marks); n > 0 && seconds < t.marks[n-1].seconds+int64(TimeStep/time.Second) {
		return t
	}
	if len(t.marks) == maxMarks { // a new slice, so that what is forgotten is not held by the old one's array
		t.marks = slices.Clone(t.marks[maxMarks/4:])
	}
	t.marks = append(t.marks, mark{index, seconds})
	return t
}

// Stamp notes when the entry was appended that the tree has just advanced to. The zero time is not known, and not noted.
func (t *Tree) Stamp(at time.Time) {
	if !at.IsZero() {
		t.times = t.times.with(t.index, at)
	}
}

// Times tells when entries up to Index were appended.
func (r *Root) Times() Times { return r.times }

// AddTime takes a mark of All, each later than the one before.
func (l *Loader) AddTime(index uint64, seconds int64) error {
	marks := l.tree.times.marks
	if n := len(marks); n == maxMarks || n > 0 && (index <= marks[n-1].index || seconds <= marks[n-1].seconds) ||
		index > l.tree.index {
		return fmt.Errorf("time of entry %d: %w", index, errLoad)
	}
	l.tree.times.marks = append(marks, mark{index, seconds})
	return nil
}
