package log

import (
	"sync"

	"github.com/hashicorp/raft"
)

// entryOverhead is the approximate memory of a cached entry beyond its bytes.
const entryOverhead = 128

// cache holds the newest entries of the log: a range of indexes without gaps, bounded by count and
// by bytes. The library's raft.LogCache is bounded by count alone, which does not bound its memory:
// an entry may take several MiB.
type cache struct {
	maxBytes int

	mu    sync.RWMutex
	ring  []raft.Log // the entry of an index is at index % len(ring)
	first uint64
	count int
	bytes int
}

func newCache(entries, bytes int) *cache {
	return &cache{ring: make([]raft.Log, entries), maxBytes: bytes}
}

func (c *cache) slot(index uint64) *raft.Log { return &c.ring[index%uint64(len(c.ring))] }

func (c *cache) get(index uint64, into *raft.Log) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if index < c.first || index >= c.first+uint64(c.count) {
		return false
	}
	*into = *c.slot(index)
	return true
}

// add appends entries, whose bytes it then shares with Raft. It copies the structs, because Raft's
// are part of its futures.
func (c *cache) add(entries []*raft.Log) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range entries {
		if e.Index != c.first+uint64(c.count) {
			c.drop(c.count)
			c.first = e.Index
		}
		size := entryBytes(e)
		for c.count > 0 && (c.count == len(c.ring) || c.bytes+size > c.maxBytes) {
			c.drop(1)
		}
		if size > c.maxBytes {
			c.first = e.Index + 1
			continue
		}
		*c.slot(e.Index) = *e
		c.count++
		c.bytes += size
	}
}

// drop removes the n oldest entries.
func (c *cache) drop(n int) {
	for range n {
		e := c.slot(c.first)
		c.bytes -= entryBytes(e)
		*e = raft.Log{}
		c.first++
		c.count--
	}
}

// truncate removes the entries from index on.
func (c *cache) truncate(index uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.count > 0 && c.first+uint64(c.count)-1 >= index {
		e := c.slot(c.first + uint64(c.count) - 1)
		c.bytes -= entryBytes(e)
		*e = raft.Log{}
		c.count--
	}
}

func (c *cache) clear() { c.truncate(0) }

func (c *cache) size() (entries, bytes int) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.count, c.bytes
}

func entryBytes(e *raft.Log) int { return len(e.Data) + len(e.Extensions) + entryOverhead }
