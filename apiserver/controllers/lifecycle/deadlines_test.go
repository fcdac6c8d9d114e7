package lifecycle

import (
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"quorate/raftstore/state"
)

// TestDeadlines_agree_with_a_map compares deadlines with a map while random deadlines are set,
// dropped and due (G13).
func TestDeadlines_agree_with_a_map(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var d deadlines
		want := map[state.Key]time.Time{}
		key := rapid.Custom(func(t *rapid.T) state.Key {
			return state.Key(rapid.StringMatching("[a-f]").Draw(t, "key"))
		})
		at := rapid.Custom(func(t *rapid.T) time.Time {
			return time.Unix(int64(rapid.IntRange(0, 20).Draw(t, "at")), 0)
		})
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "does") {
			case 0, 1:
				k, when := key.Draw(t, "set"), at.Draw(t, "to")
				d.set(k, when)
				want[k] = when
			case 2:
				k := key.Draw(t, "drop")
				d.drop(k)
				delete(want, k)
			case 3:
				now := at.Draw(t, "now")
				k, found := d.due(now)
				if found && (want[k].After(now) || want[k].IsZero()) {
					t.Fatalf("%q is due at %v, not %v", k, want[k], now)
				}
				delete(want, k)
				for k, when := range want {
					if !found && !when.After(now) {
						t.Fatalf("%q was due at %v", k, when)
					}
				}
			}
			if d.len() != len(want) {
				t.Fatalf("%d deadlines of %d objects", d.len(), len(want))
			}
			if len(want) > 0 {
				next := slices.MinFunc(slices.Collect(maps.Values(want)), time.Time.Compare)
				if !d.first().at.Equal(next) {
					t.Fatalf("the first at %v, not %v", d.first().at, next)
				}
			}
		}
	})
}
