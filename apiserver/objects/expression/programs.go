package expression

import (
	"sync"
	"sync/atomic"
)

// Programs keeps the programs of CEL expressions and regular expressions that objects have needed,
// up to a bound on their memory. Beyond it, those that were used least recently are dropped, and
// compiled again when an object next needs them. Programs is safe for concurrent use; using a
// program that is kept takes no lock.
type Programs struct {
	limit   int64
	uses    atomic.Uint64 // numbers the uses of all programs
	bytes   atomic.Int64
	dropped atomic.Uint64

	mu   sync.Mutex
	kept []*Kept // in no order
}

// Kept is something that Programs keeps.
type Kept struct {
	Bytes int64  // estimated
	Drop  func() // makes the owner compile it again

	used atomic.Uint64 // number of the last use
}

// NewPrograms returns Programs that keep at most limit bytes, as estimated.
func NewPrograms(limit int64) *Programs { return &Programs{limit: limit} }

// Bytes returns the estimated memory of what is kept.
func (p *Programs) Bytes() int64 { return p.bytes.Load() }

// Dropped returns how many programs were dropped because of the bound.
func (p *Programs) Dropped() uint64 { return p.dropped.Load() }

// Use records a use of k.
func (p *Programs) Use(k *Kept) { k.used.Store(p.uses.Add(1)) }

// Keep keeps k, whose owner already refers to it, and drops what was used least recently while the
// limit is exceeded. What exceeds it alone is not kept.
func (p *Programs) Keep(k *Kept) {
	p.Use(k)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kept = append(p.kept, k)
	p.bytes.Add(k.Bytes)
	for p.bytes.Load() > p.limit {
		oldest := 0
		for i := range p.kept {
			if p.kept[i].used.Load() < p.kept[oldest].used.Load() {
				oldest = i
			}
		}
		last := len(p.kept) - 1
		gone := p.kept[oldest]
		p.kept[oldest], p.kept[last] = p.kept[last], nil
		p.kept = p.kept[:last]
		p.bytes.Add(-gone.Bytes)
		p.dropped.Add(1)
		gone.Drop()
	}
}
