package watch

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/selector"
	"quorate/apiserver/wire/negotiate"
	"quorate/raftstore/history"
)

// TestSourcesDiffer: two sources are equal only if all fields that decide the bytes of a batch are.
func TestSourcesDiffer(t *testing.T) {
	t.Parallel()
	one, other := new(history.Event), &history.Event{Index: 1}
	with := func(change func(s *source)) *source {
		s := &source{at: time.Unix(1, 0), events: []*history.Event{one}}
		change(s)
		return s
	}
	base := with(func(*source) {})
	if !base.equal(with(func(*source) {})) {
		t.Error("equal sources differ")
	}
	for name, change := range map[string]func(s *source){
		"the columns":   func(s *source) { s.first = true },
		"the time":      func(s *source) { s.at = time.Unix(2, 0) },
		"an event":      func(s *source) { s.events = []*history.Event{other} },
		"fewer events":  func(s *source) { s.events = nil },
		"more events":   func(s *source) { s.events = []*history.Event{one, other} },
		"the kind":      func(s *source) { s.Kind = new(schema.Kind) },
		"the form":      func(s *source) { s.Form = negotiate.Protobuf },
		"the encoder":   func(s *source) { s.Encoder = clock{} },
		"the table":     func(s *source) { s.Table.First = "{" },
		"the selector":  func(s *source) { s.Selector = new(selector.Selector) },
		"later columns": func(s *source) { s.Table.Later = "{" },
	} {
		if s := with(change); base.equal(s) || s.equal(base) {
			t.Errorf("sources that differ by %s are equal", name)
		}
	}
}

// TestReplacedEntriesFreeTheirBytes: an entry that replaces another one releases the bytes counted
// for it, so the cache never fills up for good.
func TestReplacedEntriesFreeTheirBytes(t *testing.T) {
	t.Parallel()
	c := &New(atMost(1), prometheus.NewRegistry()).cache
	slot := &c.slots[0]
	const size = maxCacheBytes / 4
	for i := range 10 {
		e := &cacheEntry{size: size}
		c.put(slot, e)
		if slot.Load() != e || c.bytes.Load() != size {
			t.Fatalf("after %d: %d bytes are counted, want %d", i+1, c.bytes.Load(), size)
		}
	}
	c.put(&c.slots[1], &cacheEntry{size: maxCacheBytes})
	if c.slots[1].Load() != nil || c.bytes.Load() != size {
		t.Errorf("beyond the bound: %v, %d bytes", c.slots[1].Load(), c.bytes.Load())
	}
}

// TestBatchesWithSelectors: streams with one selector share a batch, and many different selectors
// displace no batch without a selector.
func TestBatchesWithSelectors(t *testing.T) {
	t.Parallel()
	st, _ := testStream(t, negotiate.JSON)
	cache := &st.streams.cache
	with := func(sel *selector.Selector) *source {
		s := &source{Projection: st.opts.Projection}
		s.Selector = sel
		return s
	}
	var recent batches
	plain := recent.get(with(nil), cache)
	one := new(selector.Selector)
	if first := recent.get(with(one), cache); recent.get(with(one), cache) != first {
		t.Error("streams with one selector have two batches")
	}
	for range 2 * maxBatches {
		if b := recent.get(with(selector.WithHidden(nil)), cache); b == plain {
			t.Fatal("streams with different selectors share a batch")
		}
	}
	if recent.get(with(nil), cache) != plain {
		t.Error("selectors have displaced the batch of streams without one")
	}
}
