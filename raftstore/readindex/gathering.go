package readindex

import "time"

const (
	// gatherFrom is the average number of readers from which a confirmation waits for readers.
	gatherFrom = 2
	// maxGather is the number of readers for which a confirmation waits at most. More save little.
	maxGather = 16
	// A confirmation waits for readers no longer than gatherFactor times as long as confirmations
	// take, and no longer than maxGatherWait.
	gatherFactor  = 4
	maxGatherWait = 2 * time.Millisecond
	// A wait is worth its time with clients that send the next read soon after the last, and not with
	// reads at random times. So each wait that ends with enough readers adds to a credit of at most
	// maxCredit, and each that ends without them takes vainCost. Once the credit is used up, pause
	// confirmations do not wait.
	vainCost  = 4
	maxCredit = 32
	pause     = 1000
	// samples is the number of confirmations over which averages are taken, roughly.
	samples = 8
)

// gathering decides how long a confirmation waits for readers. Without a wait, the readers of a node
// fall into two halves, one of which waits for the confirmation of the other, and the node makes two
// confirmations for the work of one.
type gathering struct {
	readers int           // samples times the average number at the end of a confirmation
	took    time.Duration // how long a confirmation takes on average
	credit  int           // see vainCost
	paused  int           // confirmations that will not wait
}

// next returns for how many readers the next confirmation waits, and for how long. If there are more
// than a few, it does not wait for the slowest.
func (g *gathering) next() (readers int, limit time.Duration) {
	if g.paused > 0 {
		g.paused--
		return 1, 0
	}
	if g.readers < gatherFrom*samples {
		return 1, 0
	}
	usual := g.readers / samples
	return min(usual-usual/8, maxGather), min(gatherFactor*g.took, maxGatherWait)
}

// waited records whether the readers came within the limit.
func (g *gathering) waited(came bool) {
	if came {
		g.credit = min(g.credit+1, maxCredit)
		return
	}
	if g.credit -= vainCost; g.credit < 0 {
		g.credit, g.paused = 0, pause
	}
}

// confirmed records a confirmation. readers are those that it served and those that waited at its
// end.
func (g *gathering) confirmed(readers int, took time.Duration) {
	g.readers += readers - g.readers/samples
	g.took += (took - g.took) / samples
}
