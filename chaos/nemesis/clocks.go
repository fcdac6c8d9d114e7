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
		{Name: "clock-forward", About: "one node's clock jumps hours ahead, and back later", Survivable: true, needs: needs, inject: skew(+1, one)},
		{Name: "clock-back", About: "one node's clock jumps hours back, and ahead later", Survivable: true, needs: needs, inject: skew(-1, one)},
		{Name: "clocks-forward", About: "all clocks jump hours ahead, and back later", Survivable: true, needs: needs, inject: skew(+1, every)},
		{Name: "clocks-back", About: "all clocks jump hours back, and ahead later", Survivable: true, needs: needs, inject: skew(-1, every)},
	}
}

func one(in *Injection) []string   { return []string{in.pick(in.n.names())} }
func every(in *Injection) []string { return in.n.names() }

// skew changes the clocks of some nodes by the same offset.
func skew(sign time.Duration, of func(*Injection) []string) func(context.Context, *Injection) error {
	return func(ctx context.Context, in *Injection) error {
		targets := of(in)
		if !in.n.ledger.reserve(in, "clocks") { // healing one injection would reset the clocks of another
			return ErrNoTarget
		}
		return in.setClocks(ctx, sign*in.between(minSkew, maxSkew).Round(time.Second), targets...)
	}
}
