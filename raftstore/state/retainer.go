package state

import (
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Defaults of RetainerConfig.
const (
	DefaultRetainedRoots = 1024
	DefaultRetainedAge   = 12 * time.Minute
	DefaultRetainedBytes = 256 << 20
)

// RetainerConfig bounds a Retainer. Zero fields take the defaults.
type RetainerConfig struct {
	MaxRoots int
	MaxAge   time.Duration // since Retain, regardless of reads
	// MaxBytes bounds the memory that only retained roots use: objects replaced or deleted later,
	// and tree nodes copied later.
	MaxBytes   uint64
	Registerer prometheus.Registerer // may be nil
}

// Retainer keeps roots for paged reads, by index. It bounds their number, their age and the memory
// that they use. All methods are safe for concurrent use. Callers supply the time.
type Retainer struct {
	maxRoots int
	maxAge   time.Duration
	maxBytes uint64
	metrics  *retainerMetrics

	mu    sync.Mutex
	roots []retained // by index, rising; guarded by mu
}

type retained struct {
	root  *Root
	since time.Time
}

// NewRetainer returns an empty Retainer.
func NewRetainer(c RetainerConfig) (*Retainer, error) {
	if c.MaxRoots < 0 || c.MaxAge < 0 {
		return nil, errors.New("retained roots: bounds must not be negative")
	}
	r := &Retainer{maxRoots: c.MaxRoots, maxAge: c.MaxAge, maxBytes: c.MaxBytes}
	if r.maxRoots == 0 {
		r.maxRoots = DefaultRetainedRoots
	}
	if r.maxAge == 0 {
		r.maxAge = DefaultRetainedAge
	}
	if r.maxBytes == 0 {
		r.maxBytes = DefaultRetainedBytes
	}
	r.metrics = newRetainerMetrics(c.Registerer)
	return r, nil
}

// Retain keeps a root, whose age counts from since. If the root is already retained, the later time
// counts.
func (r *Retainer) Retain(root *Root, since time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i, found := r.find(root.index)
	if found {
		if since.After(r.roots[i].since) {
			r.roots[i].since = since
		}
	} else {
		r.roots = slices.Insert(r.roots, i, retained{root, since})
	}
	r.prune(root, since)
}

// Get returns the root at an index, or nil if it is not retained.
func (r *Retainer) Get(index uint64, now time.Time) *Root {
	r.mu.Lock()
	defer r.mu.Unlock()
	i, found := r.find(index)
	if !found || r.expired(r.roots[i], now) {
		return nil
	}
	return r.roots[i].root
}

// Prune drops the roots that exceed a bound, given the current root, and all roots of other trees.
// It must be called every few seconds: without it, expired roots stay in memory until the next
// Retain.
func (r *Retainer) Prune(current *Root, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := r.drop(func(e retained) bool { return e.root.lineage != current.lineage })
	r.metrics.evicted(evictedReset, n)
	r.prune(current, now)
}

// Clear drops all roots. After the installation of a snapshot, older roots would keep a second
// state in memory.
func (r *Retainer) Clear() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.metrics.evicted(evictedReset, len(r.roots))
	r.roots = nil
	r.metrics.set(0, 0, 0)
}

func (r *Retainer) find(index uint64) (int, bool) {
	return slices.BinarySearchFunc(r.roots, index, func(e retained, index uint64) int {
		switch {
		case e.root.index < index:
			return -1
		case e.root.index > index:
			return 1
		}
		return 0
	})
}

func (r *Retainer) expired(e retained, now time.Time) bool { return now.Sub(e.since) >= r.maxAge }

// drop removes the roots for which gone returns true, and returns their number. The caller holds
// mu.
func (r *Retainer) drop(gone func(retained) bool) int {
	before := len(r.roots)
	r.roots = slices.DeleteFunc(r.roots, gone)
	return before - len(r.roots)
}

// prune drops roots beyond a bound. The caller holds mu.
func (r *Retainer) prune(current *Root, now time.Time) {
	n := r.drop(func(e retained) bool { return r.expired(e, now) })
	r.metrics.evicted(evictedAge, n)
	for len(r.roots) > r.maxRoots {
		r.dropOldest(evictedNumber)
	}
	for len(r.roots) > 0 && r.pinned(current) > r.maxBytes {
		r.dropOldest(evictedBytes)
	}
	r.observe(current, now)
}

// pinned returns an upper bound of the memory that only retained roots use: the objects replaced
// since the oldest root, and the nodes of each root that the next one no longer has.
func (r *Retainer) pinned(current *Root) uint64 {
	var bytes uint64
	for i, e := range r.roots {
		next := current
		if i+1 < len(r.roots) && r.roots[i+1].root.index <= current.index {
			next = r.roots[i+1].root
		}
		bytes += e.root.unshared(next)
	}
	return bytes
}

func (r *Retainer) dropOldest(why string) {
	r.roots = slices.Delete(r.roots, 0, 1)
	r.metrics.evicted(why, 1)
}

func (r *Retainer) observe(current *Root, now time.Time) {
	var oldest time.Duration
	for _, e := range r.roots {
		oldest = max(oldest, now.Sub(e.since))
	}
	r.metrics.set(len(r.roots), oldest, r.pinned(current))
}
