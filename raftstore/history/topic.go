package history

import (
	"sort"
	"sync/atomic"
)

// A chunk is closed at either bound. A slice of a chunk's events keeps all of them in memory, so the second one bounds what a
// reader that stalls while it holds events can pin.
const (
	chunkEvents = 128
	chunkBytes  = 64 << 10
)

// chunk holds consecutive events of a topic. The writer appends in place, beyond what readers have seen of n.
type chunk struct {
	first uint64 // index of the first event
	n     atomic.Int32
	slots atomic.Pointer[[chunkEvents]*Event] // nil once evicted, so that old views hold on to nothing

	// The writer's own.
	last  uint64
	bytes int64
}

// events returns what the chunk holds, and false when it has been evicted.
func (c *chunk) events() ([]*Event, bool) {
	slots := c.slots.Load()
	if slots == nil {
		return nil, false
	}
	n := c.n.Load()
	return slots[:n:n], true
}

func (c *chunk) open() bool { return c.n.Load() < chunkEvents && c.bytes < chunkBytes }

func (c *chunk) append(e *Event, size int64) {
	n := c.n.Load()
	c.slots.Load()[n] = e
	c.last = e.Index
	c.bytes += size
	c.n.Store(n + 1)
}

// view is what a topic holds. A view itself never changes; newer views share its array of chunks.
type view struct {
	floor  uint64 // all events after it are in chunks
	origin uint64 // history before it is gone, on disk too
	chunks []*chunk
	// retired says that the hub has another topic of the resource, or none, for events after last.
	retired bool
	last    uint64
}

// search returns the first chunk that may hold an event after the position.
func (v *view) search(position uint64) int {
	i := sort.Search(len(v.chunks), func(i int) bool { return v.chunks[i].first > position })
	return max(i-1, 0)
}

// topic is the recent history of one resource. One goroutine writes; any number read.
type topic struct {
	view    atomic.Pointer[view]
	waiting atomic.Pointer[chan struct{}] // nil while nobody waits
	touched bool                          // by the current batch; the writer's own
}

func newTopic(floor, origin uint64) *topic {
	t := new(topic)
	t.restart(floor, origin)
	return t
}

func (t *topic) restart(floor, origin uint64) { t.view.Store(&view{floor: floor, origin: origin}) }

func (t *topic) append(e *Event, size int64) {
	v := t.view.Load()
	if n := len(v.chunks); n > 0 && v.chunks[n-1].open() {
		v.chunks[n-1].append(e, size)
		return
	}
	c := &chunk{first: e.Index}
	c.slots.Store(new([chunkEvents]*Event))
	c.append(e, size)
	t.view.Store(&view{floor: v.floor, origin: v.origin, chunks: append(v.chunks, c)})
}

// oldestChunk returns the index of the last event in the first chunk, and false when there is none.
func (t *topic) oldestChunk() (last uint64, ok bool) {
	v := t.view.Load()
	if len(v.chunks) == 0 {
		return 0, false
	}
	return v.chunks[0].last, true
}

// evict drops the first chunk, which must exist, and returns what it held.
func (t *topic) evict() (bytes, events int64) {
	v := t.view.Load()
	c := v.chunks[0]
	t.view.Store(&view{floor: c.last, origin: v.origin, chunks: v.chunks[1:]})
	// After the view: who finds the chunk empty finds the newer view, too.
	c.slots.Store(nil)
	return c.bytes, int64(c.n.Load())
}

// retire ends a topic without chunks. Its cursors go on from the index, up to which it had all events, on the one that follows.
func (t *topic) retire(index uint64) {
	v := t.view.Load()
	t.view.Store(&view{floor: v.floor, origin: v.origin, retired: true, last: index})
	t.wake()
}

// wait returns a channel that the next wake closes. Look for events once more after calling it, and before waiting.
func (t *topic) wait() <-chan struct{} {
	for {
		if ch := t.waiting.Load(); ch != nil {
			return *ch
		}
		ch := make(chan struct{})
		if t.waiting.CompareAndSwap(nil, &ch) {
			return ch
		}
	}
}

// wake ends the waiting of all who wait.
func (t *topic) wake() {
	if ch := t.waiting.Swap(nil); ch != nil {
		close(*ch)
	}
}
