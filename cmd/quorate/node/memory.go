package node

import (
	"runtime"
	"runtime/debug"
	runtimemetrics "runtime/metrics"
	"sync"
)

// gcPercent is the least GOGC of a node whose environment sets none: more frequent collections, and
// less memory. With `make bench` (100,000 pods, 384 MB of JSON) 902 MiB were resident at 50, and
// 1,065 MiB at Go's 100, with the same CPU time for a create (557 and 556 µs on a loaded machine).
const gcPercent = 50

// gcHeadroom is how much a node allocates, at least, between two collections. With gcPercent alone
// a node with few objects, whose heap is 10 MiB, would collect every 5 MiB: measured with three
// nodes and 8 writers of one object, that took 7 % of their CPU time. With twice as much as this,
// the writers are no faster, and garbage such as that of long header fields takes 130 MiB more.
const gcHeadroom = 32 << 20

// collectorTuner keeps the collector's target at the larger of gcPercent and gcHeadroom. It adjusts
// GOGC after each collection, and so costs nothing on an idle node.
type collectorTuner struct {
	mu      sync.Mutex
	stopped bool
	percent int
	live    []runtimemetrics.Sample
}

// collected is garbage that each collection finds. It has a pointer, because the allocator groups
// small values without pointers, which are then freed together.
type collected struct{ _ *collected }

// tuneCollector starts a tuner, unless the environment sets GOGC; then it returns nil. GOMEMLIMIT
// is the operator's: the runtime reads it itself, and collects earlier if the limit is near.
func tuneCollector(getenv func(string) (string, bool)) *collectorTuner {
	if _, given := getenv("GOGC"); given {
		return nil
	}
	t := &collectorTuner{live: []runtimemetrics.Sample{{Name: "/gc/heap/live:bytes"}}}
	t.adjust()
	return t
}

// stop ends the adjustments. GOGC stays as it is. A nil tuner does nothing.
func (t *collectorTuner) stop() {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stopped = true
}

// adjust sets GOGC for the heap that the last collection left, and has itself called after the
// next.
func (t *collectorTuner) adjust() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stopped {
		return
	}
	runtimemetrics.Read(t.live)
	// Setting GOGC stops the program for some microseconds: small differences aren't worth it.
	if p := collectorPercent(t.live[0].Value.Uint64()); p > t.percent*11/10 || p < t.percent*9/10 {
		debug.SetGCPercent(p)
		t.percent = p
	}
	runtime.AddCleanup(new(collected), (*collectorTuner).adjust, t)
}

// collectorPercent returns the GOGC for a heap of which live bytes were in use after the last
// collection; 0 before the first.
func collectorPercent(live uint64) int {
	return max(gcPercent, int(gcHeadroom*100/max(live, 1<<20)))
}
