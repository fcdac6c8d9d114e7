package log

import (
	"testing"
	"time"
)

func TestRecentAppends(t *testing.T) {
	start := time.Unix(1000, 0)
	for _, c := range []struct {
		name string
		took []time.Duration // one each second
		at   time.Duration   // when the median is asked for
		want time.Duration
	}{
		{"none", nil, 0, 0},
		{"too few", times(recentNeeded-1, 5), recentNeeded, 0},
		{"enough", times(recentNeeded, 5), recentNeeded * time.Second, 5 * time.Millisecond},
		{"few, but long", times(1, 3000), time.Second, 3 * time.Second},
		{"all too old", times(recentNeeded, 5), 2 * recentAge, 0},
		{"too few that are new enough", times(recentNeeded, 5), recentAge + time.Second, 0},
		{"one that took long", append(times(recentNeeded, 5), time.Minute), recentNeeded * time.Second, 5 * time.Millisecond},
		{"the old ones are forgotten", append(times(recentCount, 5), times(recentCount, 7)...), 2 * recentCount * time.Second, 7 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			var r recent
			for i, took := range c.took {
				r.add(start.Add(time.Duration(i)*time.Second), took)
			}
			if got := r.median(start.Add(c.at)); got != c.want {
				t.Errorf("the median is %v, want %v", got, c.want)
			}
		})
	}
}

// times returns as many times of so many milliseconds.
func times(count, milliseconds int) (all []time.Duration) {
	for range count {
		all = append(all, time.Duration(milliseconds)*time.Millisecond)
	}
	return all
}
