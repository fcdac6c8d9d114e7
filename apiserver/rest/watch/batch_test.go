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

// TestSourcesDiffer: streams share a batch only if nothing that decides its bytes differs.
func TestSourcesDiffer(t *testing.T) {
	t.Parallel()
	one, other := new(history.Event), &history.Event{Index: 1}
	made := func(change func(s *source)) *source {
		s := &source{at: time.Unix(1, 0), events: []*history.Event{one}}
		change(s)
		return s
	}
	base := made(func(*source) {})
	if !base.equal(made(func(*source) {})) {
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
		if s := made(change); base.equal(s) || s.equal(base) {
			t.Errorf("sources that differ by %s are equal", name)
		}
	}
}

// TestSharedBytesAreGivenBack: what takes the place of another frees its bytes, so that the cache goes on for ever.
func TestSharedBytesAreGivenBack(t *testing.T) {
	t.Parallel()
	s := &New(1, prometheus.NewRegistry()).shared
	slot := &s.slots[0]
	const size = maxSharedBytes / 4
	for i := range 10 {
		e := &encoded{size: size}
		s.keep(slot, e)
		if slot.Load() != e || s.bytes.Load() != size {
			t.Fatalf("after %d: %d bytes are counted, want %d", i+1, s.bytes.Load(), size)
		}
	}
	s.keep(&s.slots[1], &encoded{size: maxSharedBytes})
	if s.slots[1].Load() != nil || s.bytes.Load() != size {
		t.Errorf("beyond the bound: %v, %d bytes", s.slots[1].Load(), s.bytes.Load())
	}
}
