package lifecycle

import (
	"container/heap"
	"time"

	"quorate/raftstore/state"
)

// deadline is the time at which an object must be checked.
type deadline struct {
	at  time.Time
	key state.Key
}

// deadlines holds one deadline for each terminating object. The zero value is empty.
type deadlines struct{ heap byTime }

func (d *deadlines) len() int { return len(d.heap.items) }

// first returns the earliest deadline. There must be one.
func (d *deadlines) first() deadline { return d.heap.items[0] }

// set replaces the deadline of an object.
func (d *deadlines) set(key state.Key, at time.Time) {
	if i, there := d.heap.place[key]; there {
		d.heap.items[i].at = at
		heap.Fix(&d.heap, i)
		return
	}
	heap.Push(&d.heap, deadline{at: at, key: key})
}

// drop removes the deadline of an object, if it has one.
func (d *deadlines) drop(key state.Key) {
	if i, there := d.heap.place[key]; there {
		heap.Remove(&d.heap, i)
	}
}

// due removes and returns the key of an object whose deadline has passed.
func (d *deadlines) due(now time.Time) (key state.Key, found bool) {
	if d.len() == 0 || d.first().at.After(now) {
		return "", false
	}
	next, _ := heap.Pop(&d.heap).(deadline)
	return next.key, true
}

// byTime is a heap ordered by time that also maps each key to its position.
type byTime struct {
	items []deadline
	place map[state.Key]int
}

func (h *byTime) Len() int           { return len(h.items) }
func (h *byTime) Less(i, j int) bool { return h.items[i].at.Before(h.items[j].at) }

func (h *byTime) Swap(i, j int) {
	h.items[i], h.items[j] = h.items[j], h.items[i]
	h.place[h.items[i].key], h.place[h.items[j].key] = i, j
}

func (h *byTime) Push(x any) {
	if h.place == nil {
		h.place = map[state.Key]int{}
	}
	next, _ := x.(deadline)
	h.place[next.key] = len(h.items)
	h.items = append(h.items, next)
}

func (h *byTime) Pop() any {
	end := len(h.items) - 1
	last := h.items[end]
	h.items[end] = deadline{} // release the key's memory
	h.items = h.items[:end]
	delete(h.place, last.key)
	return last
}
