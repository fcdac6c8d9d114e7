package nemesis

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"
)

const (
	// maxAtOnce is the number of concurrent injections at which a storm waits for one to be healed.
	maxAtOnce = 3
	// The number of injections in a storm, after which everything is healed.
	minStorm, maxStorm = 3, 8
	// maxGap is the maximum time between two injections of a storm.
	maxGap = 2 * time.Second
)

// activeFault is an injection of a mix and the time at which it is healed.
type activeFault struct {
	*Injection
	until time.Time
}

// Mix injects random faults in storms of overlapping injections, for a duration or until ctx ends.
// While they overlap, only safety is required. After each storm it heals all injections, and the
// cluster must recover; Mix returns NotRecovered if it does not. Everything that can be healed is
// healed when Mix returns.
func (n *Nemesis) Mix(ctx context.Context, faults []Fault, lasting time.Duration) error {
	end := time.Now().Add(lasting)
	for time.Now().Before(end) && ctx.Err() == nil {
		stormed := n.storm(ctx, faults, end)
		healed := n.HealAll(ctx)
		if err := errors.Join(stormed, healed); err != nil {
			return err
		}
		if err := n.AwaitWhole(ctx, "mix"); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// HealAll heals all injections: first the surroundings of nodes, last what requires a quorum.
func (n *Nemesis) HealAll(ctx context.Context) error { return n.heal(ctx, n.ledger.injections()...) }

// storm runs a number of overlapping injections, some of which it heals on the way.
func (n *Nemesis) storm(ctx context.Context, faults []Fault, end time.Time) error {
	var active []activeFault
	for range minStorm + n.Rand.IntN(maxStorm-minStorm+1) {
		if time.Now().After(end) {
			return nil
		}
		in, err := n.Inject(ctx, faults[n.Rand.IntN(len(faults))])
		switch {
		case err == nil:
			active = append(active, activeFault{in, time.Now().Add(randomTime(n.Rand, minHold, maxHold))})
		case errors.Is(err, ErrNoTarget):
			n.Log.Debug("a fault found no target", "reason", err)
		default:
			return err
		}
		if active, err = n.wait(ctx, active); err != nil {
			return err
		}
	}
	return nil
}

// wait pauses for a random time, and longer while maxAtOnce injections are active and the time of
// one of them has not passed. It heals injections whose time has passed. It leaves those whose
// healing requires a quorum, or fails, to HealAll.
func (n *Nemesis) wait(ctx context.Context, active []activeFault) ([]activeFault, error) {
	if err := Pause(ctx, randomTime(n.Rand, 0, maxGap)); err != nil {
		return active, err
	}
	for {
		for _, in := range active {
			if !in.late && time.Now().After(in.until) {
				if err := in.Heal(ctx); err != nil {
					n.Log.Info("an injection is healed later", "fault", in.fault.Name, "error", err)
				}
			}
		}
		active = slices.DeleteFunc(active, func(in activeFault) bool { return in.over })
		waiting := slices.ContainsFunc(active, func(in activeFault) bool { return !in.late && time.Now().Before(in.until) })
		if len(n.ledger.injections()) < maxAtOnce || !waiting {
			return active, nil
		}
		if err := Pause(ctx, lookInterval); err != nil {
			return active, err
		}
	}
}

func randomTime(r *rand.Rand, low, high time.Duration) time.Duration {
	return low + time.Duration(r.Int64N(int64(high-low)+1))
}
