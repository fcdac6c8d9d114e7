package check_test

import (
	"testing"

	"pgregory.net/rapid"

	"quorate/chaos/check"
)

// TestRightHistories judges histories of a store that does nothing wrong: nothing may be found.
func TestRightHistories(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		of := size{
			clients: rapid.IntRange(1, 12).Draw(t, "clients"), keys: rapid.IntRange(1, 6).Draw(t, "keys"),
			steps: rapid.IntRange(1, 60).Draw(t, "steps"), watchers: rapid.IntRange(1, 4).Draw(t, "watchers"),
			unknown: rapid.SampledFrom([]float64{0, 0.05, 0.3, 1}).Draw(t, "unknown"),
			lists:   rapid.IntRange(3, 20).Draw(t, "lists"), maxLate: rapid.SampledFrom([]int{20, 200, 2000}).Draw(t, "late"),
		}
		verdict := check.All(t.Context(), simulate(rapid.Uint64().Draw(t, "seed"), of), check.Options{})
		requireOK(t, verdict)
	})
}

// requireOK fails the test unless every promise held and all was judged.
func requireOK(t rapid.TB, v *check.Verdict) {
	t.Helper()
	for _, f := range v.Findings {
		if f.Count > 0 {
			t.Errorf("%s: %d: %q", f.Promise, f.Count, f.Samples)
		}
	}
	if !v.OK() {
		t.Fatalf("linearizable: %s (%v); unjudged: %d", v.Linearizable, v.UndecidedKeys, v.Unjudged)
	}
}
