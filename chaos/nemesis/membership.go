package nemesis

import (
	"context"
	"slices"
	"time"
)

func membershipFaults() []Fault {
	grows := []need{growing(), operating(), atLeast(3)}
	faults := []Fault{
		{Name: "join-leave", About: "a node joins, votes, and leaves", Survivable: true, needs: grows, inject: beginChange, lasts: joinLeave},
		{
			Name: "replace-node", About: "a follower is killed for good, removed, and another node takes its place", Survivable: true,
			needs: grows, inject: killForGood, lasts: replaceKilled,
		},
		{
			Name: "grow-to-five-shrink-to-three", About: "two nodes join, then two others leave", Survivable: true,
			needs: grows, inject: beginChange, lasts: growShrink,
		},
		{Name: "leader-leaves", About: "the leader leaves for good, and another node takes its place", Survivable: true, needs: grows, inject: reserveLeaver, lasts: leaverLeaves},
		{
			Name: "remove-leader", About: "the leader is killed for good, removed, and another node takes its place", Survivable: true,
			needs: grows, inject: killLeaderForGood, lasts: replaceKilled,
		},
		{
			Name: "transfer-leader", About: "leadership is handed on again and again", Survivable: true,
			needs: []need{operating(), atLeast(2)}, inject: beginTransfers, lasts: transfer,
		},
		{
			Name: "join-nonvoter", About: "a node joins that never votes, and leaves", Survivable: true,
			needs: grows, inject: beginChange, lasts: joinNonvoter,
		},
	}
	return append(faults, changesDuringFaults(faults)...)
}

// changesDuringFaults returns changes of membership during other faults.
func changesDuringFaults(changes []Fault) (faults []Fault) {
	for _, pair := range []struct {
		change, suffix, meanwhile string
		other                     Fault
	}{
		{"join-leave", "follower-killed", "a follower is down", Fault{inject: killFollower}},
		{"join-leave", "leader-isolated", "the leader reaches no other node", Fault{inject: isolateLeader, needs: []need{cutting()}}},
		{"join-nonvoter", "follower-paused", "a follower stands still", Fault{inject: pauseFollower, needs: []need{pausing()}}},
		{"transfer-leader", "follower-killed", "a follower is down", Fault{inject: killFollower}},
		{"transfer-leader", "follower-isolated", "a follower reaches no other node", Fault{inject: isolateFollower, needs: []need{cutting()}}},
		{"grow-to-five-shrink-to-three", "links-slow", "all links are slow", Fault{inject: delay, needs: []need{shaping()}}},
	} {
		change := changes[slices.IndexFunc(changes, func(f Fault) bool { return f.Name == pair.change })]
		faults = append(faults, Fault{
			Name:   pair.change + "-" + pair.suffix,
			About:  change.About + ", while " + pair.meanwhile,
			needs:  slices.Concat(change.needs, pair.other.needs),
			inject: both(pair.other.inject, change.inject),
			lasts:  forLimitedTime(change.lasts),
		})
	}
	return faults
}

// both returns an injection that runs first and then second.
func both(first, second func(context.Context, *Injection) error) func(context.Context, *Injection) error {
	return func(ctx context.Context, in *Injection) error {
		if err := first(ctx, in); err != nil {
			return err
		}
		return second(ctx, in)
	}
}

// disturbedChange limits a change of membership during another fault.
const disturbedChange = 20 * time.Second

// forLimitedTime runs a change for a limited time. The change may be impossible at the moment.
// During it only safety is required, and afterwards the cluster must recover.
func forLimitedTime(change func(context.Context, *Injection) error) func(context.Context, *Injection) error {
	return func(ctx context.Context, in *Injection) error {
		bounded, cancel := context.WithTimeout(ctx, disturbedChange)
		defer cancel()
		if err := change(bounded, in); err != nil {
			in.notes("not to its end: %v", err)
		}
		return ctx.Err()
	}
}

func reserveLeaver(ctx context.Context, in *Injection) error {
	leader, err := in.reserveLeader(ctx)
	if err != nil {
		return err
	}
	if err := beginChange(ctx, in); err != nil {
		return err
	}
	in.depose(leader)
	in.change.leaving = []string{leader}
	return nil
}

func leaverLeaves(ctx context.Context, in *Injection) error {
	if err := in.leave(ctx, in.change.leaving[0]); err != nil {
		return err
	}
	_, err := in.join(ctx, true)
	return err
}

func killForGood(ctx context.Context, in *Injection) error {
	target, err := in.reserveFollower(ctx)
	if err != nil {
		return err
	}
	if err := in.beginChange(ctx, sparing); err != nil {
		return err
	}
	return in.killLeaving(ctx, target)
}

func killLeaderForGood(ctx context.Context, in *Injection) error {
	target, err := in.reserveLeader(ctx)
	if err != nil {
		return err
	}
	if err := in.beginChange(ctx, sparing); err != nil {
		return err
	}
	in.depose(target)
	return in.killLeaving(ctx, target)
}

func replaceKilled(ctx context.Context, in *Injection) error {
	if err := in.expel(ctx, in.change.leaving[0]); err != nil {
		return err
	}
	_, err := in.join(ctx, true)
	return err
}

func joinLeave(ctx context.Context, in *Injection) error { return in.joinAndLeave(ctx, true) }

func joinNonvoter(ctx context.Context, in *Injection) error { return in.joinAndLeave(ctx, false) }

func (in *Injection) joinAndLeave(ctx context.Context, voter bool) error {
	name, err := in.join(ctx, voter)
	if err != nil {
		return err
	}
	if err := Pause(ctx, in.between(0, minHold)); err != nil {
		return err
	}
	in.change.leaving = append(in.change.leaving, name)
	return in.leave(ctx, name)
}

func growShrink(ctx context.Context, in *Injection) error {
	for range 2 {
		if _, err := in.join(ctx, true); err != nil {
			return err
		}
	}
	leaving, err := in.reserveSome(ctx, 2) // may include the leader and new nodes
	if err != nil {
		return err
	}
	in.change.leaving = leaving
	for _, name := range leaving {
		if err := in.leave(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

const minTransfers, maxTransfers = 3, 8

func beginTransfers(_ context.Context, in *Injection) error { return in.reserveMembership() }

func transfer(ctx context.Context, in *Injection) error {
	if err := in.operate(ctx, "transfer-leader"); err != nil {
		return err
	}
	transfers, done := minTransfers+in.rand.IntN(maxTransfers-minTransfers+1), 1
	for range transfers - 1 {
		if err := Pause(ctx, in.between(0, minHold)); err != nil {
			return err
		}
		to := in.pick(in.n.names())
		in.affects(to)
		if err := in.operateOnce(ctx, "transfer-leader", to); err != nil {
			in.log.Info("leadership was not transferred", "to", to, "error", err) // valid if that voter is behind
			continue
		}
		done++
	}
	in.notes("%d of %d transfers", done, transfers)
	return nil
}
