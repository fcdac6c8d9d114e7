package history

import (
	"cmp"
	"errors"
	"fmt"
	"hash/maphash"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"quorate/raftstore/state"
)

// Defaults of Config.
const (
	DefaultMaxBytes    = 128 << 20
	DefaultMaxLogReads = 4
	DefaultMaxTopics   = 4096
)

// Config of a Hub. Zero fields take the defaults.
type Config struct {
	// MaxBytes bounds the memory of events. It counts bytes that the state shares, so the actual
	// cost is lower. A quarter more is for events from Log while watches read it.
	MaxBytes int64
	// MaxLogReads bounds the cursors that read from Log at the same time. Others wait for a turn of
	// their owner (WatchFor).
	MaxLogReads int
	// MaxTopics is the number of topics above which the hub drops those without events in memory,
	// because kinds come and go.
	MaxTopics int
	// Log serves positions before the events in memory. Without a Log these are compacted.
	Log        Log
	Registerer prometheus.Registerer // may be nil
}

// Hub holds recent events in memory, in one topic per resource, and wakes the cursors that wait for
// more.
//
// Calls of Begin, Append and Reset, by which the log is applied, must not overlap. Watch and Close
// are safe for concurrent use.
type Hub struct {
	maxBytes  int64
	maxTopics int
	log       Log
	turns     *turns // of reads of the log
	reads     *sharedReads
	metrics   *metrics
	seed      maphash.Seed // of the bits of namespaces

	applied   atomic.Uint64
	quiet     atomic.Pointer[span] // at the end of the snapshot with which memory began
	sleeping  atomic.Int64         // cursors that wait for events
	closed    chan struct{}
	closeOnce sync.Once

	mu     sync.RWMutex
	topics map[string]*topic // by resource; guarded by mu
	// listening are the resources that have listeners; guarded by mu.
	listening map[string]*listeners
	// floor and origin of topics that will be created later; guarded by mu.
	floor, origin uint64

	// Used by the writer only.
	last    uint64 // index of the last event
	bytes   int64
	events  int64
	touched []*topic
	woken   []*Listener
}

// span is a part of the log without events: the entries after changed, up to index.
type span struct{ changed, index uint64 }

// New returns an empty hub, at position 0.
func New(c Config) (*Hub, error) {
	if c.MaxBytes < 0 || c.MaxLogReads < 0 || c.MaxTopics < 0 {
		return nil, errors.New("history: bounds must not be negative")
	}
	h := &Hub{
		seed:      maphash.MakeSeed(),
		maxBytes:  cmp.Or(c.MaxBytes, DefaultMaxBytes),
		maxTopics: cmp.Or(c.MaxTopics, DefaultMaxTopics),
		log:       c.Log,
		turns:     newTurns(cmp.Or(c.MaxLogReads, DefaultMaxLogReads)),
		reads:     newSharedReads(cmp.Or(c.MaxBytes, DefaultMaxBytes) / keptPart),
		closed:    make(chan struct{}),
		topics:    make(map[string]*topic),
		listening: make(map[string]*listeners),
	}
	h.quiet.Store(&span{})
	h.metrics = newMetrics(c.Registerer, h)
	return h, nil
}

// Begin makes memory begin when a node starts from a snapshot of the state at index, in which no
// entry after the one at changed has an event: memory has all events after that. The Log serves
// earlier positions.
func (h *Hub) Begin(index, changed uint64) { h.restart(index, changed, 0) }

// Reset makes history begin when a snapshot from another node has been installed: this node has not
// applied the entries between its old state and index. Cursors at positions before changed, after
// which no entry up to index has an event, get *Compacted, even if the Log has entries after those
// positions.
func (h *Hub) Reset(index, changed uint64) { h.restart(index, changed, changed) }

func (h *Hub) restart(index, floor, origin uint64) {
	h.quiet.Store(&span{changed: floor, index: index})
	h.mu.Lock()
	h.floor, h.origin = floor, origin
	topics := make([]*topic, 0, len(h.topics))
	for _, t := range h.topics {
		t.restart(floor, origin)
		topics = append(topics, t)
	}
	woken := h.allListeners()
	h.mu.Unlock()
	h.reads.restart()
	h.last, h.bytes, h.events = floor, 0, 0
	h.applied.Store(index)
	h.observe()
	for _, t := range topics {
		t.wake()
	}
	h.wakeListeners(woken)
}

// Append adds the events of one batch of applied entries, in order, and advances the hub's position
// to applied, the index of the last entry of the batch, which need not have an event. It panics if
// events are out of order or beyond applied.
func (h *Hub) Append(applied uint64, events []*Event) {
	for _, e := range events {
		if e.Index <= h.last || e.Index > applied {
			panic(fmt.Sprintf("history: event %d after %d in a batch up to %d", e.Index, h.last, applied))
		}
		h.last = e.Index
		resource, namespace, _ := e.Object.Key.Split()
		t := h.topic(resource)
		size := int64(e.Size())
		t.append(e, size, h.namespaceBit(namespace))
		h.bytes += size
		h.events++
		if !t.touched {
			t.touched = true
			h.touched = append(h.touched, t)
		}
	}
	for h.bytes > h.maxBytes && h.evictOldest() {
	}
	h.last = applied
	woken := h.markListeners(events)
	// After the topics: a reader that sees this index finds all events up to it.
	h.applied.Store(applied)
	if len(events) > 0 {
		h.observe()
	}
	for i, t := range h.touched {
		t.touched = false
		t.wake()
		h.touched[i] = nil
	}
	h.touched = h.touched[:0]
	h.wakeListeners(woken)
	h.forgetTopics(applied)
}

// forgetTopics retires the topics without events in memory if there are too many. A topic created
// later can't tell which events a retired one has dropped, so it begins after them.
func (h *Hub) forgetTopics(applied uint64) {
	h.mu.RLock()
	many := len(h.topics) > h.maxTopics
	h.mu.RUnlock()
	if !many {
		return
	}
	h.mu.Lock()
	var empty []*topic
	for resource, t := range h.topics {
		if v := t.view.Load(); len(v.chunks) == 0 {
			h.floor = max(h.floor, v.floor)
			empty = append(empty, t)
			delete(h.topics, resource)
		}
	}
	h.mu.Unlock()
	for _, t := range empty {
		t.retire(applied)
	}
	h.metrics.forgotten.Add(float64(len(empty)))
}

// Watch returns a cursor on the events of a collection with Index > after. The position may be
// ahead of the hub's. If it is too far behind, the first Next returns *Compacted.
func (h *Hub) Watch(p state.Prefix, after uint64) *Cursor { return h.WatchFor("", p, after) }

// WatchFor is Watch for an owner. Owners take turns at reads of the log, however many cursors each
// has. The cursors of Watch have one owner, the node itself.
func (h *Hub) WatchFor(owner string, p state.Prefix, after uint64) *Cursor {
	h.metrics.cursors.Inc()
	c := h.cursor(p, after)
	c.owner = owner
	return c
}

func (h *Hub) cursor(p state.Prefix, after uint64) *Cursor {
	resource := p.Resource()
	return &Cursor{
		hub:      h,
		topic:    h.topic(resource),
		prefix:   p,
		whole:    p == state.ResourcePrefix(resource),
		bit:      h.namespaceBit(p.Namespace()),
		position: after,
	}
}

// namespaceBit returns the bit of a namespace in chunks.
func (h *Hub) namespaceBit(namespace string) int {
	return int(maphash.String(h.seed, namespace) % namespaceBits)
}

// Close makes Next of all cursors return ErrClosed, including cursors created later.
func (h *Hub) Close() {
	h.closeOnce.Do(func() { close(h.closed) })
	h.reads.close()
	h.mu.RLock()
	defer h.mu.RUnlock()
	for _, t := range h.topics {
		t.wake()
	}
	for _, l := range h.allListeners() {
		l.Wake()
	}
}

// topic returns the topic of a resource, and creates it if needed.
func (h *Hub) topic(resource string) *topic {
	h.mu.RLock()
	t := h.topics[resource]
	h.mu.RUnlock()
	if t != nil {
		return t
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if t = h.topics[resource]; t == nil {
		t = newTopic(h.floor, h.origin)
		h.topics[strings.Clone(resource)] = t // a part of a key would keep the whole key in memory
	}
	return t
}

// evictOldest drops the chunk whose last event is the oldest, over all topics. It returns false if
// there is no chunk.
func (h *Hub) evictOldest() bool {
	var oldest *topic
	var last uint64
	h.mu.RLock()
	for _, t := range h.topics {
		if index, ok := t.oldestChunk(); ok && (oldest == nil || index < last) {
			oldest, last = t, index
		}
	}
	h.mu.RUnlock()
	if oldest == nil {
		return false
	}
	bytes, events := oldest.evict()
	h.bytes -= bytes
	h.events -= events
	h.metrics.evictions.Add(float64(events))
	return true
}

// oldestIndex returns the index of the oldest event in memory, or 0.
func (h *Hub) oldestIndex() uint64 {
	h.mu.RLock()
	defer h.mu.RUnlock()
	var oldest uint64
	for _, t := range h.topics {
		if v := t.view.Load(); len(v.chunks) > 0 && (oldest == 0 || v.chunks[0].first < oldest) {
			oldest = v.chunks[0].first
		}
	}
	return oldest
}

func (h *Hub) observe() {
	h.metrics.bytes.Set(float64(h.bytes))
	h.metrics.events.Set(float64(h.events))
}
