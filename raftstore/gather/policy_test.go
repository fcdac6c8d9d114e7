package gather_test

import (
	"testing"
	"testing/synctest"
	"time"

	"quorate/raftstore/gather"
)

// ended records batches of the same number of callers.
func ended(p *gather.Policy, batches, callers int) {
	for range batches {
		p.Ended(callers)
	}
}

func TestExpected(t *testing.T) {
	for _, c := range []struct{ callers, want int }{
		{0, 1}, {1, 1}, {2, 1}, {3, 3}, {7, 7}, {8, 7}, {10, 9}, {16, 14}, {22, 20}, {1000, 20},
	} {
		p := gather.Policy{From: 3, Max: 20}
		ended(&p, 100, c.callers)
		if got := p.Expected(); got != c.want {
			t.Errorf("with %d callers %d are expected, want %d", c.callers, got, c.want)
		}
	}
}

// TestCallersLeave checks that the policy expects none of the callers that have left.
func TestCallersLeave(t *testing.T) {
	p := gather.Policy{From: 2, Max: 100}
	ended(&p, 100, 50)
	ended(&p, 50, 1)
	if got := p.Expected(); got != 1 {
		t.Errorf("%d callers are expected", got)
	}
}

func TestWaitsInVainPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := gather.Policy{From: 2, Max: 100}
		ended(&p, 100, 5)
		p.Waited(false) // without a credit
		if got := p.Expected(); got != 1 {
			t.Errorf("the policy expects %d callers after a wait that brought none", got)
		}
		time.Sleep(time.Second)
		if got := p.Expected(); got != 5 {
			t.Errorf("after a pause %d callers are expected", got)
		}
		for range 1000 {
			p.Waited(true)
		}
		waits := 0
		for ; p.Expected() == 5 && waits < 100; waits++ {
			p.Waited(false)
		}
		if waits < 5 || waits > 10 {
			t.Errorf("the policy paused after %d waits that brought no callers, following 1000 that did", waits)
		}
		time.Sleep(time.Second)
		for i := range 1000 {
			if p.Waited(i%10 != 9); p.Expected() != 5 && i > 50 {
				t.Fatalf("the policy paused although nine waits of ten brought the callers")
			}
		}
	})
}
