package nemesis

import "testing"

// TestEveryFaultHasABound checks that each fault has a bound and each bound has a fault.
func TestEveryFaultHasABound(t *testing.T) {
	left := bounds()
	for _, f := range Faults() {
		if f.Bound.Writes < Steady().Writes || f.Bound.Reads < Steady().Reads {
			t.Errorf("%s: %+v is less than without a fault", f.Name, f.Bound)
		}
		delete(left, f.Name)
	}
	if len(left) > 0 {
		t.Errorf("bounds of no fault: %v", left)
	}
}
