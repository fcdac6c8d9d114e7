package offline

import "time"

const (
	// versionsPerSecond is the difference between the first versions of clusters created one second
	// apart: more than any cluster writes in a second.
	versionsPerSecond = 1 << 20
	// minGap is the gap if the clock is certainly wrong: more versions than a cluster writes in a
	// year.
	minGap = 1 << 40
)

// DefaultGap returns the gap by which to raise versions above index. The old cluster may have given
// its clients an unknown number of later versions. So the first version of the new cluster is
// derived from the time now, and two clusters that continue from the same state, one after the
// other, give different versions. If that version is not above index, the clock is wrong, and the
// gap is minGap.
func DefaultGap(index uint64, now time.Time) uint64 {
	if at := uint64(max(now.Unix(), 0)) * versionsPerSecond; at > index {
		return at - index
	}
	return minGap
}
