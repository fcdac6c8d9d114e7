// Package gather decides for how many callers a batch waits that serves all who have come when it
// begins.
//
// Callers that come back soon after their batch has ended do so just after the next one has begun,
// if that does not wait for them. So they fall into two halves that take turns, and twice as many
// batches are made as could be. A batch that begins once as many callers are there as usual serves
// all of them, after a wait of much less than a batch. For callers at random times a wait is in vain:
// it makes each of them slower and brings few together.
package gather

import "time"

const (
	// samples is the number of batches over which averages are taken, roughly.
	samples = 8
	// Each wait that ends with the expected callers adds to a credit of at most maxCredit, and each
	// that ends without them takes vainCost from it. Once it is used up, batches do not wait for the
	// time of a pause. So most waits bring the expected callers.
	vainCost  = 4
	maxCredit = 32
	pause     = 500 * time.Millisecond
)

// Policy learns how many callers are usually there. Its methods must not be called concurrently.
type Policy struct {
	// From is the average number of callers from which batches wait, at least 2. Max is the number
	// for which they wait at most.
	From, Max int

	callers int // samples times the average
	credit  int
	resume  time.Time // when batches may wait again
}

// Expected returns for how many callers the next batch should wait, 1 if for no others. If there are
// more than a few, it leaves out the slowest.
func (p *Policy) Expected() int {
	if p.callers < p.From*samples || time.Now().Before(p.resume) {
		return 1
	}
	usual := p.callers / samples
	return min(usual-usual/8, p.Max)
}

// Waited records that a batch has waited, and whether the expected callers came.
func (p *Policy) Waited(came bool) {
	if came {
		p.credit = min(p.credit+1, maxCredit)
		return
	}
	if p.credit -= vainCost; p.credit < 0 {
		p.credit, p.resume = 0, time.Now().Add(pause)
	}
}

// Ended records the end of a batch. callers are those that it served and those that wait for the
// next one.
func (p *Policy) Ended(callers int) {
	p.callers += callers - p.callers/samples
}
