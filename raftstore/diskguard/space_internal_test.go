package diskguard

import (
	"math"
	"testing"
)

// TestNothingIsKeptForJoinersOnAFullDisk: the last snapshot that still has space must be able to
// trim the log.
func TestNothingIsKeptForJoinersOnAFullDisk(t *testing.T) {
	const snapshotBytes, reserve = 100, 1000
	for _, c := range []struct {
		free      int64
		level     level
		snapshots int64 // for how many there is room
	}{
		{math.MaxInt64, sufficient, 2}, {2 * (snapshotBytes + reserve), sufficient, 2}, {2*(snapshotBytes+reserve) - 2, sufficient, 1},
		{snapshotBytes + reserve, sufficient, 1}, {snapshotBytes + reserve - 1, sufficient, 0}, {math.MaxInt64, low, 0},
	} {
		m := measurement{level: c.level, free: c.free, need: reserve}
		for times := int64(1); times <= 2; times++ {
			if m.hasFor(times, snapshotBytes) != (times <= c.snapshots) {
				t.Errorf("%+v: room for %d snapshots is %v", m, times, times > c.snapshots)
			}
		}
	}
}
