package state

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A slice is the model. Older values must not change, and neither the chunks of a restarted node
// nor those of a running one may matter.
func TestFailed_remembers_the_newest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.SampledFrom([]int{1, 5, failedChunk - 1, failedChunk, failedChunk + 1, 3*failedChunk + 7}).Draw(t, "limit")
		type value struct {
			failed Failed
			want   []uint64
			floor  uint64
		}
		var now value
		var old []value
		index := uint64(0)
		for range rapid.IntRange(1, 12).Draw(t, "rounds") {
			for range rapid.IntRange(1, failedChunk).Draw(t, "failures") {
				index += uint64(rapid.IntRange(1, 2).Draw(t, "gap"))
				now.failed = now.failed.with(index, limit)
				now.want = append(slices.Clip(now.want), index)
				if len(now.want) > limit {
					now.floor, now.want = now.want[0], now.want[1:]
				}
			}
			old = append(old, now)
			if rapid.Bool().Draw(t, "restart") {
				restarted := Failed{floor: now.floor}
				for f := range now.failed.All() {
					restarted = restarted.with(f, limit)
				}
				now.failed = restarted
			}
		}
		for _, v := range append(old, now) {
			if got := slices.Collect(v.failed.All()); !slices.Equal(got, v.want) || v.failed.Len() != len(v.want) || v.failed.Floor() != v.floor {
				t.Fatalf("limit %d: %d failures (%d counted) above %d, want %d above %d",
					limit, len(got), v.failed.Len(), v.failed.Floor(), len(v.want), v.floor)
			}
			for i := rapid.Uint64Range(0, 6).Draw(t, "from"); i < index+2; i += 7 {
				if _, want := slices.BinarySearch(v.want, i); v.failed.Contains(i) != want {
					t.Fatalf("limit %d: contains %d: %v", limit, i, !want)
				}
			}
		}
	})
}

func TestFailed_iterates_until_yield_returns_false(t *testing.T) {
	var f Failed
	for i := range uint64(2 * failedChunk) {
		f = f.with(i+1, maxFailed)
	}
	for _, stop := range []uint64{1, failedChunk, failedChunk + 1} {
		var last uint64
		for i := range f.All() {
			if last = i; i == stop {
				break
			}
		}
		if last != stop {
			t.Errorf("stopped at %d, not at %d", last, stop)
		}
	}
}

// The memory bound holds for the most failures that a node remembers.
func TestFailed_stays_within_its_budget(t *testing.T) {
	const budget = 9 << 20 // 8 bytes for each of 1<<20, and one chunk that is not full
	before := liveHeap()
	var f Failed
	for i := range uint64(maxFailed + 100_000) {
		f = f.with(i+1, maxFailed)
	}
	if used := liveHeap() - before; used > budget || f.Len() != maxFailed || f.Floor() != 100_000 {
		t.Fatalf("%d failures above %d take %d bytes, more than %d", f.Len(), f.Floor(), used, budget)
	}
}

// A loaded set has the floor, because failures up to the floor look like successes.
func TestLoader_restores_the_floor_of_failures(t *testing.T) {
	loader, err := NewLoader(10, "", []uint64{5, 8}, 3)
	if err != nil {
		t.Fatal(err)
	}
	failed := loader.Tree().Publish().Failed()
	if failed.Floor() != 3 || failed.Len() != 2 || !failed.Contains(5) || !failed.Contains(8) || failed.Contains(6) {
		t.Errorf("loaded %+v", failed)
	}
}
