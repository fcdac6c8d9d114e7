package requestlog

import (
	"sync"

	"golang.org/x/time/rate"
)

const (
	// refusalBurst lines about refusals with one code of one user are logged at once, then
	// refusalRate a second.
	refusalBurst = 10
	refusalRate  = 1
	// maxRefused bounds the pairs of code and user that are told apart. Beyond it, users share one
	// bound for each code.
	maxRefused = 1024
)

// refused identifies requests that were refused for the same reason: by code and the user who sent
// them, empty if nobody knows.
type refused struct {
	code int
	user string
}

// refusals bounds the lines about refused requests.
type refusals struct {
	mu   sync.Mutex
	seen map[refused]*allowance // guarded by mu
}

// allowance is what one user may have logged.
type allowance struct {
	limit   *rate.Limiter
	leftOut int
}

// allows reports whether a refusal is logged. It counts those that are not.
func (r *refusals) allows(what refused) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	a := r.seen[what]
	if a == nil && len(r.seen) >= maxRefused {
		what.user = ""
		a = r.seen[what]
	}
	if a == nil {
		if r.seen == nil {
			r.seen = map[refused]*allowance{}
		}
		a = &allowance{limit: rate.NewLimiter(refusalRate, refusalBurst)}
		r.seen[what] = a
	}
	if a.limit.Allow() {
		return true
	}
	a.leftOut++
	return false
}

// sweep returns how many lines were left out since the last call, and forgets users who have caused
// none for so long that they have their whole burst again.
func (r *refusals) sweep() map[refused]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	left := map[refused]int{}
	for what, a := range r.seen {
		switch {
		case a.leftOut > 0:
			left[what] = a.leftOut
			a.leftOut = 0
		case a.limit.Tokens() >= refusalBurst:
			delete(r.seen, what)
		}
	}
	return left
}
