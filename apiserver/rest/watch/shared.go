package watch

import (
	"hash/maphash"
	"sync/atomic"
	"time"
)

const (
	// sharedSlots is how many changes of the moment are kept encoded; streams that follow differ by fewer.
	sharedSlots = 1024
	// maxSharedBytes bounds what is kept: the encoded objects, and the stored ones that they were made of.
	maxSharedBytes = 16 << 20
)

// shared keeps what encoders make of the changes of the moment, so that each makes it about once, however many streams send it. A
// change has one slot for each encoder, which the next one of the same slot takes over. It is safe for concurrent use and never
// waits.
type shared struct {
	slots   [sharedSlots]atomic.Pointer[encoded]
	bytes   atomic.Int64
	seed    maphash.Seed
	metrics *sharedMetrics
}

// origin is what something was made of, and how. Stored bytes never change: where they begin says which they are.
type origin struct {
	of *byte
	by Encoder
}

// encoded is what was made of one object.
type encoded struct {
	origin
	at   time.Time // zero where it does not matter
	raw  []byte
	size int64
}

// encode returns what an encoder makes of stored bytes at a time, zero where it does not matter. What it returns is shared.
func (s *shared) encode(value []byte, by Encoder, now time.Time) ([]byte, error) {
	from := origin{&value[0], by}
	slot := &s.slots[maphash.Comparable(s.seed, from)%sharedSlots]
	if e := slot.Load(); e != nil && e.origin == from && e.at.Equal(now) {
		s.metrics.reused.Inc()
		return e.raw, nil
	}
	raw, err := by.Append(nil, value, now)
	if err != nil {
		return nil, err
	}
	s.metrics.made.Inc()
	s.keep(slot, &encoded{origin: from, at: now, raw: raw, size: int64(cap(raw) + len(value))})
	return raw, nil
}

// keep puts an encoded object into its slot, unless the bytes are spent: then it frees those of the slot.
func (s *shared) keep(slot *atomic.Pointer[encoded], e *encoded) {
	if s.bytes.Add(e.size) > maxSharedBytes {
		s.bytes.Add(-e.size)
		s.metrics.full.Inc()
		e = nil
	}
	if before := slot.Swap(e); before != nil {
		s.bytes.Add(-before.size)
	}
}
