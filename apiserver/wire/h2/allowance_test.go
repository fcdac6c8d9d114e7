package h2

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestAllowanceHoldsInEachPeriod: an allowance permits its limit, and no more, in each period.
func TestAllowanceHoldsInEachPeriod(t *testing.T) {
	const limit, period = 3, 10 * time.Second
	synctest.Test(t, func(t *testing.T) {
		a := newAllowance(limit, period)
		for round := range 4 {
			for i := range limit {
				if !a.spend() {
					t.Fatalf("period %d: use %d of %d is refused", round, i+1, limit)
				}
			}
			if a.spend() {
				t.Fatalf("period %d: use %d is allowed, the limit is %d", round, limit+1, limit)
			}
			time.Sleep(period)
		}
	})
}
