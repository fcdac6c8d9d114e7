package diskguard

import (
	"math"
	"testing"
)

// The log holds no entries for joiners if the disk has no space for a second snapshot, because the
// last snapshot that fits must be able to trim the log.
func TestSpaceForSnapshots(t *testing.T) {
	const snapshotBytes, reserve = 100, 1000
	for _, c := range []struct {
		free      int64
		level     level
		snapshots int64 // how many fit
	}{
		{math.MaxInt64, sufficient, 2}, {2 * (snapshotBytes + reserve), sufficient, 2}, {2*(snapshotBytes+reserve) - 2, sufficient, 1},
		{snapshotBytes + reserve, sufficient, 1}, {snapshotBytes + reserve - 1, sufficient, 0}, {math.MaxInt64, low, 0},
	} {
		m := measurement{level: c.level, free: c.free, next: snapshotBytes, need: reserve}
		for times := int64(1); times <= 2; times++ {
			if m.hasFor(times) != (times <= c.snapshots) {
				t.Errorf("%+v: space for %d snapshots is %v", m, times, times > c.snapshots)
			}
		}
	}
}
