package nemesis

import (
	"context"
	"slices"
	"time"
)

func membershipFaults() []Fault {
	grows := []need{growing(), operating(), atLeast(3)}
	faults := []Fault{
		{Name: "join-leave", About: "a node joins, votes, and leaves", Survivable: true, needs: grows, strike: beginChange, lasts: joinLeave},
		{
			Name: "replace-node", About: "a follower is killed for good, removed, and another node takes its place", Survivable: true,
			needs: grows, strike: killForGood, lasts: replaceKilled,
		},
		{
			Name: "grow-to-five-shrink-to-three", About: "two nodes join, then two others leave", Survivable: true,
			needs: grows, strike: beginChange, lasts: growShrink,
		},
		{Name: "leader-leaves", About: "the leader leaves for good, and another node takes its place", Survivable: true, needs: grows, strike: claimLeaver, lasts: leaverLeaves},
		{
			Name: "remove-leader", About: "the leader is killed for good, removed, and another node takes its place", Survivable: true,
			needs: grows, strike: killLeaderForGood, lasts: replaceKilled,
		},
		{
			Name: "transfer-leader", About: "leadership is handed on again and again", Survivable: true,
			needs: []need{operating(), atLeast(2)}, strike: beginTransfers, lasts: transfer,
		},
		{
			Name: "join-nonvoter", About: "a node joins that never votes, and leaves", Survivable: true,
			needs: grows, strike: beginChange, lasts: joinNonvoter,
		},
	}
	return append(faults, changesUnderHarm(faults)...)
}

// changesUnderHarm returns changes of membership during other faults.
func changesUnderHarm(changes []Fault) (faults []Fault) {
	for _, pair := range []struct {
		change, suffix, meanwhile string
		other                     Fault
	}{
		{"join-leave", "follower-killed", "a follower is down", Fault{strike: killFollower}},
		{"join-leave", "leader-isolated", "the leader reaches no other node", Fault{strike: isolateLeader, needs: []need{cutting()}}},
		{"join-nonvoter", "follower-paused", "a follower stands still", Fault{strike: pauseFollower, needs: []need{pausing()}}},
		{"transfer-leader", "follower-killed", "a follower is down", Fault{strike: killFollower}},
		{"transfer-leader", "follower-isolated", "a follower reaches no other node", Fault{strike: isolateFollower, needs: []need{cutting()}}},
		{"grow-to-five-shrink-to-three", "links-slow", "all links are slow", Fault{strike: delay, needs: []need{shaping()}}},
	} {
		change := changes[slices.IndexFunc(changes, func(f Fault) bool { return f.Name == pair.change })]
		faults = append(faults, Fault{
			Name:   pair.change + "-" + pair.suffix,
			About:  change.About + ", while " + pair.meanwhile,
			needs:  slices.Concat(change.needs, pair.other.needs),
			strike: both(pair.other.strike, change.strike),
			lasts:  asFarAsItGets(change.lasts),
		})
	}
	return faults
}

// both returns a strike that runs first and then second.
func both(first, second func(context.Context, *Strike) error) func(context.Context, *Strike) error {
	return func(ctx context.Context, s *Strike) error {
		if err := first(ctx, s); err != nil {
			return err
		}
		return second(ctx, s)
	}
}

// harmedChange limits a change of membership during another fault.
const harmedChange = 20 * time.Second

// asFarAsItGets runs a change for a limited time. The change may be impossible at the moment.
// During it only safety is required, and afterwards the cluster must recover.
func asFarAsItGets(change func(context.Context, *Strike) error) func(context.Context, *Strike) error {
	return func(ctx context.Context, s *Strike) error {
		bounded, cancel := context.WithTimeout(ctx, harmedChange)
		defer cancel()
		if err := change(bounded, s); err != nil {
			s.notes("not to its end: %v", err)
		}
		return ctx.Err()
	}
}

func claimLeaver(ctx context.Context, s *Strike) error {
	leader, err := s.claimLeader(ctx)
	if err != nil {
		return err
	}
	if err := beginChange(ctx, s); err != nil {
		return err
	}
	s.depose(leader)
	s.change.leaving = []string{leader}
	return nil
}

func leaverLeaves(ctx context.Context, s *Strike) error {
	if err := s.leave(ctx, s.change.leaving[0]); err != nil {
		return err
	}
	_, err := s.join(ctx, true)
	return err
}

func killForGood(ctx context.Context, s *Strike) error {
	victim, err := s.claimFollower(ctx)
	if err != nil {
		return err
	}
	if err := beginChange(ctx, s); err != nil {
		return err
	}
	return s.killLeaving(ctx, victim)
}

func killLeaderForGood(ctx context.Context, s *Strike) error {
	victim, err := s.claimLeader(ctx)
	if err != nil {
		return err
	}
	if err := beginChange(ctx, s); err != nil {
		return err
	}
	s.depose(victim)
	return s.killLeaving(ctx, victim)
}

func replaceKilled(ctx context.Context, s *Strike) error {
	if err := s.expel(ctx, s.change.leaving[0]); err != nil {
		return err
	}
	_, err := s.join(ctx, true)
	return err
}

func joinLeave(ctx context.Context, s *Strike) error { return s.joinAndLeave(ctx, true) }

func joinNonvoter(ctx context.Context, s *Strike) error { return s.joinAndLeave(ctx, false) }

func (s *Strike) joinAndLeave(ctx context.Context, voter bool) error {
	name, err := s.join(ctx, voter)
	if err != nil {
		return err
	}
	if err := Pause(ctx, s.between(0, minHold)); err != nil {
		return err
	}
	s.change.leaving = append(s.change.leaving, name)
	return s.leave(ctx, name)
}

func growShrink(ctx context.Context, s *Strike) error {
	for range 2 {
		if _, err := s.join(ctx, true); err != nil {
			return err
		}
	}
	leaving, err := s.claimSome(ctx, 2) // may include the leader and new nodes
	if err != nil {
		return err
	}
	s.change.leaving = leaving
	for _, name := range leaving {
		if err := s.leave(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

const minTransfers, maxTransfers = 3, 8

func beginTransfers(_ context.Context, s *Strike) error { return s.claimMembership() }

func transfer(ctx context.Context, s *Strike) error {
	if err := s.operate(ctx, "transfer-leader"); err != nil {
		return err
	}
	transfers, done := minTransfers+s.rand.IntN(maxTransfers-minTransfers+1), 1
	for range transfers - 1 {
		if err := Pause(ctx, s.between(0, minHold)); err != nil {
			return err
		}
		to := s.pick(s.n.names())
		s.hurts(to)
		if err := s.operateOnce(ctx, "transfer-leader", to); err != nil {
			s.log.Info("leadership was not transferred", "to", to, "error", err) // valid if that voter is behind
			continue
		}
		done++
	}
	s.notes("%d of %d transfers", done, transfers)
	return nil
}
