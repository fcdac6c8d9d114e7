package state

import (
	"iter"
	"slices"
	"sort"
)

// maxFailed is the number of failed entries that a state remembers. It is part of the replicated
// behaviour: nodes that forget at different entries would write different snapshots.
const maxFailed = 1 << 20

// failedChunk is the number of indexes in one allocation.
const failedChunk = 1024

// Failed is the set of log entries that failed their preconditions when they were applied, which a
// replay of the log must skip. It holds only indexes above Floor: when it exceeds maxFailed
// indexes, it drops the oldest and raises Floor. A Failed is immutable; adding an index returns a
// new Failed, which shares the chunks of the old one.
type Failed struct {
	floor uint64
	// full holds the complete chunks, oldest first, each with failedChunk increasing indexes; tail
	// is the chunk being filled. The first skip indexes of the oldest chunk (full[0], or tail if
	// full is empty) have been dropped. Earlier values of the set share these arrays, so elements
	// within their lengths must not be overwritten.
	full [][]uint64
	skip int
	tail []uint64
}

// Floor returns the newest forgotten failure, 0 if all are remembered. Entries at or below it can't
// be replayed.
func (f *Failed) Floor() uint64 { return f.floor }

// Len returns the number of remembered failures.
func (f *Failed) Len() int { return len(f.full)*failedChunk + len(f.tail) - f.skip }

// Contains reports whether the entry at index, above Floor, failed.
func (f *Failed) Contains(index uint64) bool {
	if index <= f.floor {
		return false
	}
	chunk := f.tail
	if len(chunk) == 0 || index < chunk[0] {
		i := sort.Search(len(f.full), func(i int) bool { return f.full[i][0] > index })
		if i == 0 {
			return false
		}
		chunk = f.full[i-1]
	}
	_, found := slices.BinarySearch(chunk, index)
	return found
}

// All yields the remembered failures in ascending order.
func (f *Failed) All() iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		skip := f.skip
		for _, chunk := range f.full {
			for _, index := range chunk[skip:] {
				if !yield(index) {
					return
				}
			}
			skip = 0
		}
		for _, index := range f.tail[min(skip, len(f.tail)):] {
			if !yield(index) {
				return
			}
		}
	}
}

// with returns the set with one more failure, the newest, limited to the newest limit ones. Only
// the newest set may be extended.
func (f Failed) with(index uint64, limit int) Failed {
	if f.tail == nil {
		f.tail = make([]uint64, 0, failedChunk)
	}
	f.tail = append(f.tail, index)
	if len(f.tail) == failedChunk {
		f.full, f.tail = append(f.full, f.tail), nil
	}
	if f.Len() > limit {
		f = f.withoutOldest()
	}
	return f
}

func (f Failed) withoutOldest() Failed {
	if len(f.full) == 0 {
		f.floor = f.tail[f.skip]
		f.skip++
		return f
	}
	f.floor = f.full[0][f.skip]
	if f.skip++; f.skip == failedChunk {
		// Reusing the array would keep the forgotten chunk in memory.
		f.full, f.skip = slices.Clone(f.full[1:]), 0
	}
	return f
}
