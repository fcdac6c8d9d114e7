package history

import (
	"sort"
	"sync/atomic"
)

// A chunk is closed when it reaches either bound. A slice of a chunk's events keeps all of them in
// memory, so chunkBytes bounds the memory that a stalled reader keeps.
const (
	chunkEvents = 128
	chunkBytes  = 64 << 10
)

// namespaceBits is the number of values of a hash of a namespace: several times that of the
// namespaces in one chunk.
const namespaceBits = 1024

// chunk holds consecutive events of a topic. The writer appends in place, beyond the n that readers
// have loaded.
type chunk struct {
	first uint64 // index of the first event
	n     atomic.Int32
	slots atomic.Pointer[[chunkEvents]*Event] // nil once evicted, so that old views keep no events
	// namespaces has the bits of the namespaces of all events that n counts, so that a reader of
	// another namespace need not look at them: each takes a miss of the processor's cache.
	namespaces [namespaceBits / 64]atomic.Uint64

	// Used by the writer only.
	last  uint64
	bytes int64
}

// events returns the chunk's events, and false if it has been evicted.
func (c *chunk) events() ([]*Event, bool) {
	slots := c.slots.Load()
	if slots == nil {
		return nil, false
	}
	n := c.n.Load()
	return slots[:n:n], true
}

func (c *chunk) open() bool { return c.n.Load() < chunkEvents && c.bytes < chunkBytes }

// mayHave reports whether an event may be in the namespace with a bit.
func (c *chunk) mayHave(bit int) bool { return c.namespaces[bit/64].Load()>>(bit%64)&1 != 0 }

func (c *chunk) append(e *Event, size int64, bit int) {
	c.namespaces[bit/64].Or(1 << (bit % 64))
	n := c.n.Load()
	c.slots.Load()[n] = e
	c.last = e.Index
	c.bytes += size
	c.n.Store(n + 1)
}

// view is the content of a topic. A view never changes; newer views share its array of chunks.
type view struct {
	floor  uint64 // chunks have all events after it
	origin uint64 // earlier history is gone, also on disk
	chunks []*chunk
	// retired reports that events after last are in another topic of the resource, if any.
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
	waiting atomic.Pointer[chan struct{}] // nil while no cursor waits
	touched bool                          // by the current batch; used by the writer only
}

func newTopic(floor, origin uint64) *topic {
	t := new(topic)
	t.restart(floor, origin)
	return t
}

func (t *topic) restart(floor, origin uint64) { t.view.Store(&view{floor: floor, origin: origin}) }

func (t *topic) append(e *Event, size int64, bit int) {
	v := t.view.Load()
	if n := len(v.chunks); n > 0 && v.chunks[n-1].open() {
		v.chunks[n-1].append(e, size, bit)
		return
	}
	c := &chunk{first: e.Index}
	c.slots.Store(new([chunkEvents]*Event))
	c.append(e, size, bit)
	t.view.Store(&view{floor: v.floor, origin: v.origin, chunks: append(v.chunks, c)})
}

// oldestChunk returns the index of the last event in the first chunk, and false if there is no
// chunk.
func (t *topic) oldestChunk() (last uint64, ok bool) {
	v := t.view.Load()
	if len(v.chunks) == 0 {
		return 0, false
	}
	return v.chunks[0].last, true
}

// evict drops the first chunk, which must exist, and returns its events.
func (t *topic) evict() (bytes, events int64) {
	v := t.view.Load()
	c := v.chunks[0]
	t.view.Store(&view{floor: c.last, origin: v.origin, chunks: v.chunks[1:]})
	// After the view is stored: a reader that finds the chunk empty also finds the newer view.
	c.slots.Store(nil)
	return c.bytes, int64(c.n.Load())
}

// retire ends a topic without chunks, which had all events up to index. Its cursors continue after
// index on the topic that replaces it.
func (t *topic) retire(index uint64) {
	v := t.view.Load()
	t.view.Store(&view{floor: v.floor, origin: v.origin, retired: true, last: index})
	t.wake()
}

// wait returns a channel that the next wake closes. Callers look for events once more after calling
// it and before waiting.
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

// wake wakes all waiters.
func (t *topic) wake() {
	if ch := t.waiting.Swap(nil); ch != nil {
		close(*ch)
	}
}
