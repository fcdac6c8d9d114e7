package read

import (
	"sync/atomic"
	"time"

	"quorate/raftstore/state"
)

// sharedFor is the time after its proposal for which further callers may share a pin while nothing
// is written. Nodes retain a state for longer than PinnedFor by this time.
const sharedFor = time.Minute

// Retained holds the states that this node retains, within the bounds of its retainer on number,
// age and memory. All methods are safe for concurrent use.
type Retained struct {
	*state.Retainer
	lastPin atomic.Pointer[pinned] // the newest pin that this node has applied
}

type pinned struct {
	index uint64
	since time.Time
}

// NewRetained returns the states that retainer holds.
func NewRetained(retainer *state.Retainer) *Retained { return &Retained{Retainer: retainer} }

// Get returns the state at an index if this node still retains it, nil otherwise.
func (r *Retained) Get(index uint64) *state.Root { return r.Retainer.Get(index, time.Now()) }

// IsExpired reports whether a pin proposed at the given time has expired, which happens when the
// log is replayed.
func (r *Retained) IsExpired(proposed time.Time) bool {
	return time.Since(proposed) >= state.DefaultRetainedAge
}

// Pin retains the state of a pin that was proposed at the given time, by the proposer's clock.
func (r *Retained) Pin(root *state.Root, proposed time.Time) {
	if now := time.Now(); proposed.After(now) {
		proposed = now // the proposer's clock is ahead
	}
	r.Retain(root, proposed)
	r.lastPin.Store(&pinned{root.Index(), proposed})
}

// sharedPin returns the index of root if a recent pin has retained it.
func (r *Retained) sharedPin(root *state.Root) (uint64, bool) {
	last := r.lastPin.Load()
	if last == nil || last.index != root.Index() || time.Since(last.since) >= sharedFor || r.Get(last.index) == nil {
		return 0, false
	}
	return last.index, true
}
