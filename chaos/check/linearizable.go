package check

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"

	"quorate/chaos/history"
)

// linearizable judges the quorum operations on every key, and the quorum lists. If the timeline
// determines the versions of a key, the sweep finds a moment for each operation, and porcupine
// confirms these moments. Otherwise porcupine searches for an order, and the key may remain
// undecided.
func linearizable(ctx context.Context, r *history.Record, ops []*history.Op, t *timeline, o Options, v *Verdict, found findings) {
	s := &search{timeline: t, ops: byKey(ops), dir: o.VisualizationDir, verdict: v, found: found}
	s.seen = sync.OnceValue(func() *observations { return observe(r, ops, t) })
	var traces map[string]*trace
	if t.complete {
		traces, s.misplaced = t.order(ops, found)
	}
	keys := slices.DeleteFunc(slices.Sorted(maps.Keys(s.ops)), func(key string) bool {
		_, wrong := s.misplaced[key]
		return !wrong && s.sure(key) && confirm(ctx, traces[key])
	})
	deadline := time.Now().Add(o.Timeout)
	for i, key := range keys { // which porcupine hasn't confirmed
		budget := time.Until(deadline) / time.Duration(len(keys)-i)
		if wrong, known := s.misplaced[key]; known {
			s.draw(ctx, key, wrong, budget)
		} else {
			s.find(ctx, key, budget)
		}
	}
	if found.count(Linearizable) > 0 {
		v.Linearizable = No
	}
}

// byKey returns all quorum operations except lists, by key.
func byKey(ops []*history.Op) map[string][]*history.Op {
	keys := map[string][]*history.Op{}
	for _, op := range ops {
		if op.Kind.IsWrite() || op.Kind == history.Get {
			keys[op.Key] = append(keys[op.Key], op)
		}
	}
	return keys
}

// confirm makes porcupine check the moments that the sweep found; it does not search.
func confirm(ctx context.Context, t *trace) bool {
	if t == nil { // there are no operations to confirm
		return true
	}
	for _, c := range t.chunks {
		if !porcupine.CheckEvents(model(ctx, c.from), c.events) {
			return false
		}
	}
	return true
}
