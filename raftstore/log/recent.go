package log

import (
	"slices"
	"sync"
	"time"
)

const (
	// recentCount is the number of appends whose times are kept.
	recentCount = 32
	// recentNeeded is the number of appends whose median says something, and recentLong the time
	// of fewer that does: on a very slow disk there are few.
	recentNeeded = 8
	recentLong   = 2 * time.Second
	// recentAge is how long the time of an append counts.
	recentAge = 20 * time.Second
)

// recent has the times that the newest appends took.
type recent struct {
	mu   sync.Mutex
	all  [recentCount]timedAppend // a ring
	next int
}

type timedAppend struct {
	ended time.Time
	took  time.Duration
}

func (r *recent) add(ended time.Time, took time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all[r.next] = timedAppend{ended, took}
	r.next = (r.next + 1) % recentCount
}

func (r *recent) median(now time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	var took []time.Duration
	var total time.Duration
	for _, one := range r.all {
		if !one.ended.IsZero() && now.Sub(one.ended) <= recentAge {
			took = append(took, one.took)
			total += one.took
		}
	}
	if len(took) < recentNeeded && total < recentLong {
		return 0
	}
	slices.Sort(took)
	return took[len(took)/2]
}

// AppendTime returns the median of the times that the newest appends took, sync included. It
// returns 0 if there were too few within the last seconds to tell.
func (s *Store) AppendTime() time.Duration { return s.recent.median(time.Now()) }
