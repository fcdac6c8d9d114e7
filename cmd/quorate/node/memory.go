package node

import (
	"runtime"
	"runtime/debug"
	runtimemetrics "runtime/metrics"
	"sync"
)

// A node allocates gcHeadroom between two collections, or twice as much as is live, but at most
// gcMostHeadroom, or gcPercent of what is live, whichever is most. More frequent collections cost
// processor time, fewer cost memory. The figures are of nodes that were measured in turn:
//
//   - With 50 % alone a node with few objects, whose heap is 10 MiB, would collect every 5 MiB: with
//     three nodes and 8 writers of one object, that took 7 % of their CPU time. With twice
//     gcHeadroom the writers are no faster, and garbage such as that of long header fields takes
//     130 MiB more.
//   - Three nodes that create ConfigMaps of 1 KiB take 8 % less CPU time for each if as much is
//     allocated as is live than with half of it. With twice as much as is live, gets and creates
//     take 2 to 3 % less again.
//   - With `make bench` (100,000 pods, 384 MB of JSON) 902 MiB were resident at 50 %, and 1,065 MiB
//     at 100 %, with the same CPU time for a create.
const (
	gcHeadroom     = 32 << 20
	gcMostHeadroom = 256 << 20
	gcPercent      = 50
)

// collectorTuner keeps the collector's target there. It adjusts GOGC after each collection, and so
// costs nothing on an idle node.
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
	live = max(live, 1<<20)
	headroom := max(gcHeadroom, min(2*live, gcMostHeadroom))
	return max(gcPercent, int(headroom*100/live))
}
