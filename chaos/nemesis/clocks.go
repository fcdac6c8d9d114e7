package nemesis

import (
	"context"
	"time"
)

// The range of clock errors: more than certificates and tokens tolerate, but less than their
// lifetimes.
const minSkew, maxSkew = time.Hour, 20 * time.Hour

func clockFaults() []Fault {
	needs := []need{clocksSet()}
	return []Fault{
		{Name: "clock-forward", About: "one node's clock jumps hours ahead, and back later", Survivable: true, needs: needs, strike: skew(+1, one)},
		{Name: "clock-back", About: "one node's clock jumps hours back, and ahead later", Survivable: true, needs: needs, strike: skew(-1, one)},
		{Name: "clocks-forward", About: "all clocks jump hours ahead, and back later", Survivable: true, needs: needs, strike: skew(+1, every)},
		{Name: "clocks-back", About: "all clocks jump hours back, and ahead later", Survivable: true, needs: needs, strike: skew(-1, every)},
	}
}

func one(s *Strike) []string   { return []string{s.pick(s.n.names())} }
func every(s *Strike) []string { return s.n.names() }

// skew changes the clocks of some nodes by the same offset.
func skew(sign time.Duration, of func(*Strike) []string) func(context.Context, *Strike) error {
	return func(ctx context.Context, s *Strike) error {
		victims := of(s)
		if !s.n.ledger.claim(s, "clocks") { // healing one strike would reset the clocks of another
			return ErrNoVictim
		}
		return s.setClocks(ctx, sign*s.between(minSkew, maxSkew).Round(time.Second), victims...)
	}
}
