package requestlog

import (
	"strconv"
	"sync"
	"time"

	"quorate/apiserver/access/ratelimit"
)

const (
	// For each code and user, refusalBurst lines about refused requests are logged at once, then
	// refusalRate lines per second.
	refusalBurst = 10
	refusalRate  = 1
	// maxRefused bounds the pairs of code and user that have a bound of their own. Further users
	// share one bound for each code.
	maxRefused = 1024
)

// refused identifies requests that were refused for the same reason: by code and the user who sent
// them, empty if the user is unknown.
type refused struct {
	code int
	user string
}

func (r refused) key() string { return strconv.Itoa(r.code) + " " + r.user }

// refusals bounds the lines about refused requests.
type refusals struct {
	meter *ratelimit.Meter

	mu      sync.Mutex
	leftOut map[refused]int // lines left out since the last sweep; guarded by mu
}

func newRefusals() *refusals {
	return &refusals{meter: ratelimit.New(refusalRate, refusalBurst), leftOut: map[refused]int{}}
}

// allows reports whether a refusal at the time now is logged. It counts the refusals that are not.
func (r *refusals) allows(what refused, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.leftOut[what]; !known && len(r.leftOut) >= maxRefused {
		what.user = ""
	}
	_, allowed := r.meter.Take(what.key(), now)
	leftOut := r.leftOut[what]
	if !allowed {
		leftOut++
	}
	r.leftOut[what] = leftOut
	return allowed
}

// sweep returns the numbers of lines that were left out since the last call, and forgets each pair
// of code and user of which none was left out. The pair does not get a new burst by that, because
// the meter still counts it.
func (r *refusals) sweep() map[refused]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	left := map[refused]int{}
	for what, lines := range r.leftOut {
		if lines == 0 {
			delete(r.leftOut, what)
			continue
		}
		left[what] = lines
		r.leftOut[what] = 0
	}
	return left
}
