package nemesis

import (
	"context"
	"fmt"
	"slices"
	"time"

	"quorate/chaos/failpoint"
	"quorate/chaos/nodes"
)

const (
	minMoments, maxMoments = 3, 6
	// momentTimeout limits the wait for a node to reach the point at which it is killed. It may
	// never reach it.
	momentTimeout = 8 * time.Second
)

func momentFaults() []Fault {
	needs := outlived(failpoints(), running())
	return []Fault{
		{
			Name: "kill-in-write", About: "nodes are killed at chosen moments of a write", Survivable: true, needs: needs,
			strike: claimNobody, lasts: killAtMoments(nil, failpoint.Writing, failpoint.Forwarding, failpoint.Serving),
		},
		{
			Name: "kill-in-start", About: "nodes are killed at chosen moments of their start", Survivable: true, needs: needs,
			strike: claimNobody, lasts: killAtMoments(restart, failpoint.Starting),
		},
		{
			Name: "kill-in-snapshot", About: "nodes are killed at chosen moments of a snapshot", Survivable: true,
			needs:  append(needs[:len(needs):len(needs)], operating()),
			strike: claimNobody, lasts: killAtMoments(orderSnapshot, failpoint.Snapshotting),
		},
		{
			Name: "kill-in-rejoin", About: "a leader that was cut off is killed at chosen moments of its return", Survivable: true,
			needs:  append(needs[:len(needs):len(needs)], cutting()),
			strike: claimNobody, lasts: killAtMoments(cutOff, failpoint.Rejoining),
		},
	}
}

// claimNobody claims no node in advance, because each point determines its node.
func claimNobody(context.Context, *Strike) error { return nil }

// killAtMoments kills nodes, one after the other, each when it reaches one of the points of the
// stages. provoke makes the node reach the point if clients do not.
func killAtMoments(provoke func(context.Context, *Strike, string) error, stages ...failpoint.Stage) func(context.Context, *Strike) error {
	return func(ctx context.Context, s *Strike) error {
		var points []failpoint.Point
		for _, p := range failpoint.Points() {
			if slices.Contains(stages, p.Stage) {
				points = append(points, p)
			}
		}
		for range minMoments + s.rand.IntN(maxMoments-minMoments+1) {
			if err := s.killAtMoment(ctx, points[s.rand.IntN(len(points))], provoke); err != nil {
				return err
			}
		}
		return nil
	}
}

// claimFor claims a node that can reach a point, which may require it to lead or to follow.
func (s *Strike) claimFor(ctx context.Context, p failpoint.Point) (string, error) {
	switch p.Stage {
	case failpoint.Writing, failpoint.Serving, failpoint.Rejoining:
		return s.claimLeader(ctx)
	case failpoint.Forwarding:
		return s.claimFollower(ctx)
	default:
		return s.claimOne(ctx)
	}
}

// killAtMoment arms a point on a node, waits until it has killed the node, and starts the node
// again.
func (s *Strike) killAtMoment(ctx context.Context, p failpoint.Point, provoke func(context.Context, *Strike, string) error) error {
	point := p.Name
	victim, err := s.claimFor(ctx, p)
	if err != nil {
		return err
	}
	if err := s.arm(ctx, victim, point, failpoint.Kill); err != nil {
		return err
	}
	if provoke != nil {
		if err := provoke(ctx, s, victim); err != nil {
			return err
		}
	}
	came, err := s.awaitMoment(ctx, victim)
	if err != nil {
		return err
	}
	if came {
		s.notes("%s at %s", victim, point)
	} else {
		s.notes("%s did not come to %s", victim, point)
	}
	if err := s.arm(ctx, victim, point, ""); err != nil {
		return err
	}
	if err := s.start(ctx, victim); err != nil {
		return err
	}
	return s.awaitReady(ctx, victim)
}

// arm arms a point on a node. Healing disarms it and starts the node.
func (s *Strike) arm(ctx context.Context, name, point, terms string) error {
	fleet, has := nodes.As[nodes.Failpoints](s.n.Fleet)
	if !has {
		return fmt.Errorf("arm %s: %s", point, failpoints().what)
	}
	if terms != "" {
		s.mayEnd = append(s.mayEnd, name)
		s.undo(process, "start "+name, func(ctx context.Context) error { return s.start(ctx, name) })
		s.undo(surroundings, "disarm "+point+" in "+name, func(ctx context.Context) error {
			if !s.n.has(name) {
				return nil
			}
			return fleet.Arm(ctx, name, point, "")
		})
	}
	act, cancel := acting(ctx)
	defer cancel()
	if err := fleet.Arm(act, name, point, terms); err != nil {
		if gone, unknown := s.gone(ctx, name); unknown == nil && gone {
			return nil // it reached the point before it could respond
		}
		return fmt.Errorf("arm %s in node %s: %w", point, name, err)
	}
	return nil
}

// awaitMoment reports whether a node ended within momentTimeout.
func (s *Strike) awaitMoment(ctx context.Context, name string) (bool, error) {
	bounded, cancel := context.WithTimeout(ctx, momentTimeout)
	defer cancel()
	for {
		gone, err := s.gone(ctx, name)
		if gone || err != nil {
			return gone, err
		}
		if Pause(bounded, lookInterval) != nil {
			return false, ctx.Err()
		}
	}
}

// restart kills a node and starts it, to reach points of its start.
func restart(ctx context.Context, s *Strike, victim string) error {
	if gone, err := s.gone(ctx, victim); err != nil {
		return err
	} else if !gone {
		if err := s.kill(ctx, victim); err != nil {
			return err
		}
	}
	return s.start(ctx, victim)
}

// orderSnapshot makes a node write a snapshot. The node may be killed before it responds.
func orderSnapshot(ctx context.Context, s *Strike, victim string) error {
	if err := s.operateAt(ctx, victim, "snapshot"); err != nil {
		s.log.Debug("a snapshot was broken off", "node", victim, "error", err)
	}
	return ctx.Err()
}

// cutOff isolates a node for longer than an election takes, and then reconnects it.
func cutOff(ctx context.Context, s *Strike, victim string) error {
	if err := s.shape(ctx, links{}.between([]string{victim}, s.others(victim), cut)); err != nil {
		return err
	}
	if err := Pause(ctx, s.between(maxHold/2, maxHold)); err != nil {
		return err
	}
	return s.reshape(ctx, nil)
}
