package gather

import "time"

const (
	// samples is the number of batches over which averages are taken, roughly.
	samples = 8
	// Each wait in which the expected callers come adds to a credit of at most maxCredit, and each in
	// which they do not takes vainCost from it. Once the credit is used up, no batch waits for the
	// time of a pause. So waits go on only where four of five bring the callers.
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

// Expected returns the number of callers at which the next batch should begin, 1 if it should not
// wait. Of more than a few usual callers it leaves out the slowest.
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
