package watch

import (
	"hash/maphash"
	"sync/atomic"
	"time"
)

const (
	// cacheSlots is the number of encoded objects that the cache holds. The positions of streams
	// that keep up with history differ by fewer changes.
	cacheSlots = 1024
	// maxCacheBytes bounds the memory of the cache: the encoded objects and the stored bytes that
	// its keys keep alive.
	maxCacheBytes = 16 << 20
)

// encodingCache holds the encoded objects of recent changes, so that each Encoder usually encodes a
// change once, however many streams send it. Each cacheKey hashes to one slot, which holds the
// latest entry. The cache is safe for concurrent use, and no call blocks.
type encodingCache struct {
	slots   [cacheSlots]atomic.Pointer[cacheEntry]
	bytes   atomic.Int64
	seed    maphash.Seed
	metrics *cacheMetrics
}

// cacheKey identifies an object and its encoder. Stored bytes never change, so the address of the
// first one identifies them while an entry keeps them alive.
type cacheKey struct {
	value   *byte
	encoder Encoder
}

// cacheEntry is one encoded object.
type cacheEntry struct {
	cacheKey
	at      time.Time // when it was encoded; zero if the encoder ignores the time
	encoded []byte
	size    int64
}

// encode returns what the encoder appends for stored bytes at a time, which is zero if the encoder
// ignores it. The caller must not change the result: other streams share it.
func (c *encodingCache) encode(value []byte, encoder Encoder, at time.Time) ([]byte, error) {
	key := cacheKey{&value[0], encoder}
	slot := &c.slots[maphash.Comparable(c.seed, key)%cacheSlots]
	if e := slot.Load(); e != nil && e.cacheKey == key && e.at.Equal(at) {
		c.metrics.hits.Inc()
		return e.encoded, nil
	}
	encoded, err := encoder.Append(nil, value, at)
	if err != nil {
		return nil, err
	}
	c.metrics.encoded.Inc()
	c.put(slot, &cacheEntry{cacheKey: key, at: at, encoded: encoded, size: int64(cap(encoded) + len(value))})
	return encoded, nil
}

// put replaces the entry of a slot. If the cache would exceed maxCacheBytes, put empties the slot
// instead.
func (c *encodingCache) put(slot *atomic.Pointer[cacheEntry], e *cacheEntry) {
	if c.bytes.Add(e.size) > maxCacheBytes {
		c.bytes.Add(-e.size)
		c.metrics.full.Inc()
		e = nil
	}
	if replaced := slot.Swap(e); replaced != nil {
		c.bytes.Add(-replaced.size)
	}
}
