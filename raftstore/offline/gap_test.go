package offline_test

import (
	"testing"
	"time"

	"quorate/raftstore/offline"
)

// No version is given twice (N14), also if a state is restored again after the cluster made from it
// was lost.
func TestDefaultGap_gives_no_version_twice_N14(t *testing.T) {
	t.Parallel()
	const writes = 100_000 // per second, at most
	began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	begins := func(index uint64, after time.Duration) uint64 {
		return index + offline.DefaultGap(index, began.Add(after))
	}
	const backup = 500
	first := begins(backup, 0)
	for _, after := range []time.Duration{time.Second, time.Hour, 365 * 24 * time.Hour} {
		reached := first + writes*uint64(after/time.Second)
		if again := begins(backup, after); again <= reached {
			t.Errorf("a second restore %v later begins with version %d, the first cluster has reached %d", after, again, reached)
		}
		if next := begins(reached-10, after); next <= reached {
			t.Errorf("a restore of its own backup after %v begins with version %d, the cluster has reached %d", after, next, reached)
		}
	}
	if last := begins(backup, 200*365*24*time.Hour); last >= 1<<53 {
		t.Errorf("in 200 years: %d", last)
	}
	for name, now := range map[string]time.Time{"before 1970": time.Unix(-5, 0), "in 1970": time.Unix(5, 0)} {
		if gap := offline.DefaultGap(1<<30, now); gap < 1<<40 {
			t.Errorf("with a clock %s: gap %d", name, gap)
		}
	}
}
