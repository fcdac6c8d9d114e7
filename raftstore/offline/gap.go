package offline

import "time"

const (
	// versionsPerSecond is how much later versions a cluster begins with that was founded a second
	// later: more than any cluster writes.
	versionsPerSecond = 1 << 20
	// leastGap is for clocks that can't be right: more than a cluster writes in a year.
	leastGap = 1 << 40
)

// DefaultGap returns how much versions are raised after an index that clients may have seen
// surpassed, nobody knows how far: to one that follows from the time. So two clusters that go on
// from the same state, one after the other, don't give the same versions either.
func DefaultGap(index uint64, now time.Time) uint64 {
	if at := uint64(max(now.Unix(), 0)) * versionsPerSecond; at > index {
		return at - index
	}
	return leastGap
}
