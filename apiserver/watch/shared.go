package watch

import (
	"hash/maphash"
	"sync/atomic"

	"quorate/apiserver/negotiate"
	"quorate/apiserver/schema"
)

const (
	// sharedSlots is how many changes of the moment are kept encoded; streams that follow differ by fewer.
	sharedSlots = 1024
	// maxSharedBytes bounds what is kept: the encoded objects, and the stored ones that they were made of.
	maxSharedBytes = 16 << 20
)

// shared keeps the protobuf form of the changes of the moment, so that each is made about once, however many streams send it.
// A change has one slot, which the next one of the same slot takes over. It is safe for concurrent use and never waits.
type shared struct {
	slots   [sharedSlots]atomic.Pointer[encoded]
	bytes   atomic.Int64
	seed    maphash.Seed
	metrics *sharedMetrics
}

// encoded is one object in its envelope. Stored bytes never change: where they begin says what was encoded.
type encoded struct {
	of   *byte
	kind *schema.Kind
	raw  []byte
	size int64
}

// encode returns an object, stored bytes, in protobuf. What it returns is shared.
func (s *shared) encode(value []byte, k *schema.Kind) ([]byte, error) {
	of := &value[0]
	slot := &s.slots[maphash.Comparable(s.seed, of)%sharedSlots]
	if e := slot.Load(); e != nil && e.of == of && e.kind == k {
		s.metrics.reused.Inc()
		return e.raw, nil
	}
	raw, err := negotiate.AppendProtobuf(nil, value, k)
	if err != nil {
		return nil, err
	}
	s.metrics.made.Inc()
	s.keep(slot, &encoded{of: of, kind: k, raw: raw, size: int64(cap(raw) + len(value))})
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
