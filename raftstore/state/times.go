package state

import (
	"fmt"
	"iter"
	"slices"
	"sort"
	"time"
)

const (
	// TimeStep is the precision of the times at which entries were appended.
	TimeStep = 5 * time.Second
	// maxMarks is the largest number of steps that a state remembers: 22 hours if each step has
	// entries. At the bound, the state forgets the oldest quarter. maxMarks is part of the
	// replicated behavior: nodes that forget at different entries would write different snapshots.
	maxMarks = 16 << 10
)

// Times records when entries were appended to the log, by their leaders' clocks: one mark per step
// that had entries. A Times never changes; its successor shares its marks.
type Times struct{ marks []mark }

// mark records that the entries from index to the next mark were appended in the step that begins
// at seconds.
type mark struct {
	index   uint64
	seconds int64 // since 1970
}

// Before returns the index of the newest entry, at most last, that was certainly appended before a
// time. It returns 0 if it knows of none.
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

// All yields the marks in ascending order: an index, and seconds since 1970.
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

// with returns the times with one more entry, the newest. While the clock is behind the last mark,
// it adds none. Only the newest Times may be extended.
func (t Times) with(index uint64, at time.Time) Times {
	seconds := at.Unix()
	if n := len(t.marks); n > 0 && seconds < t.marks[n-1].seconds+int64(TimeStep/time.Second) {
		return t
	}
	if len(t.marks) == maxMarks { // a new slice: the old array would keep the forgotten marks
		t.marks = slices.Clone(t.marks[maxMarks/4:])
	}
	t.marks = append(t.marks, mark{index, seconds})
	return t
}

// Stamp records when the entry at the tree's index was appended. It ignores the zero time, which
// means unknown.
func (t *Tree) Stamp(at time.Time) {
	if !at.IsZero() {
		t.times = t.times.with(t.index, at)
	}
}

// Times returns when entries up to Index were appended.
func (r *Root) Times() Times { return r.times }

// AddTime adds a mark of All, later than the one before.
func (l *Loader) AddTime(index uint64, seconds int64) error {
	marks := l.tree.times.marks
	if n := len(marks); n == maxMarks || n > 0 && (index <= marks[n-1].index || seconds <= marks[n-1].seconds) ||
		index > l.tree.index {
		return fmt.Errorf("time of entry %d: %w", index, errLoad)
	}
	l.tree.times.marks = append(marks, mark{index, seconds})
	return nil
}
