package raftstore

import (
	"math"
	"testing"
)

// TestNothingIsKeptForJoinersOnAFullDisk: the last snapshot that still has space must be able to trim the log.
func TestNothingIsKeptForJoinersOnAFullDisk(t *testing.T) {
	const snapshotBytes, reserve = 100, 1000
	for _, c := range []struct {
		free      int64
		room      room
		snapshots int64 // for how many there is room
	}{
		{math.MaxInt64, enoughRoom, 2}, {2 * (snapshotBytes + reserve), enoughRoom, 2}, {2*(snapshotBytes+reserve) - 2, enoughRoom, 1},
		{snapshotBytes + reserve, enoughRoom, 1}, {snapshotBytes + reserve - 1, enoughRoom, 0}, {math.MaxInt64, littleRoom, 0},
	} {
		p := space{room: c.room, free: c.free, need: reserve}
		for times := int64(1); times <= heldRoom; times++ {
			if p.hasFor(times, snapshotBytes) != (times <= c.snapshots) {
				t.Errorf("%+v: room for %d snapshots is %v", p, times, times > c.snapshots)
			}
		}
	}
}
