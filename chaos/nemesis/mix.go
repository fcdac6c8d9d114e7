package nemesis

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"
)

const (
	// maxAtOnce is the maximum number of concurrent strikes in a mix.
	maxAtOnce = 3
	// The number of strikes in a storm, after which everything is healed.
	minStorm, maxStorm = 3, 8
	// maxGap is the maximum time between two strikes of a storm.
	maxGap = 2 * time.Second
)

// spell is a strike of a mix and the time at which it is healed.
type spell struct {
	*Strike
	until time.Time
}

// Mix strikes with random faults, up to three concurrently, for a duration or until ctx ends. While
// they overlap, only safety is required. After some strikes all are healed, and the cluster must
// recover; Mix returns NotRecovered if it does not. Everything is healed when Mix returns.
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

// HealAll heals all strikes: first the surroundings of nodes, last what requires a quorum.
func (n *Nemesis) HealAll(ctx context.Context) error { return n.heal(ctx, n.ledger.strikes()...) }

// storm runs a number of overlapping strikes, some of which it heals on the way.
func (n *Nemesis) storm(ctx context.Context, faults []Fault, end time.Time) error {
	var active []spell
	for range minStorm + n.Rand.IntN(maxStorm-minStorm+1) {
		if time.Now().After(end) {
			return nil
		}
		s, err := n.Strike(ctx, faults[n.Rand.IntN(len(faults))])
		switch {
		case err == nil:
			active = append(active, spell{s, time.Now().Add(randomTime(n.Rand, minHold, maxHold))})
		case errors.Is(err, ErrNoVictim):
			n.Log.Debug("a strike found nobody", "reason", err)
		default:
			return err
		}
		if active, err = n.wait(ctx, active); err != nil {
			return err
		}
	}
	return nil
}

// wait pauses for a random time, and longer while the maximum number of strikes is active. It heals
// strikes whose time has passed, except those whose healing requires a quorum or fails, which it
// leaves to HealAll.
func (n *Nemesis) wait(ctx context.Context, active []spell) ([]spell, error) {
	if err := Pause(ctx, randomTime(n.Rand, 0, maxGap)); err != nil {
		return active, err
	}
	for {
		for _, s := range active {
			if !s.late && time.Now().After(s.until) {
				if err := s.Heal(ctx); err != nil {
					n.Log.Info("a strike is healed later", "fault", s.fault.Name, "error", err)
				}
			}
		}
		active = slices.DeleteFunc(active, func(s spell) bool { return s.over })
		waiting := slices.ContainsFunc(active, func(s spell) bool { return !s.late && time.Now().Before(s.until) })
		if len(n.ledger.strikes()) < maxAtOnce || !waiting {
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
