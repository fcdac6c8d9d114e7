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
			inject: reserveNobody, lasts: killAtMoments(nil, failpoint.Writing, failpoint.Forwarding, failpoint.Serving),
		},
		{
			Name: "kill-in-start", About: "nodes are killed at chosen moments of their start", Survivable: true, needs: needs,
			inject: reserveNobody, lasts: killAtMoments(restart, failpoint.Starting),
		},
		{
			Name: "kill-in-snapshot", About: "nodes are killed at chosen moments of a snapshot", Survivable: true,
			needs:  append(needs[:len(needs):len(needs)], operating()),
			inject: reserveNobody, lasts: killAtMoments(orderSnapshot, failpoint.Snapshotting),
		},
		{
			Name: "kill-in-rejoin", About: "a leader that was cut off is killed at chosen moments of its return", Survivable: true,
			needs:  append(needs[:len(needs):len(needs)], cutting()),
			inject: reserveNobody, lasts: killAtMoments(cutOff, failpoint.Rejoining),
		},
	}
}

// reserveNobody reserves no node in advance, because each point determines its node.
func reserveNobody(context.Context, *Injection) error { return nil }

// killAtMoments kills nodes, one after the other, each when it reaches one of the points of the
// stages. provoke makes the node reach the point if clients do not.
func killAtMoments(provoke func(context.Context, *Injection, string) error, stages ...failpoint.Stage) func(context.Context, *Injection) error {
	return func(ctx context.Context, in *Injection) error {
		var points []failpoint.Point
		for _, p := range failpoint.Points() {
			if slices.Contains(stages, p.Stage) {
				points = append(points, p)
			}
		}
		for range minMoments + in.rand.IntN(maxMoments-minMoments+1) {
			if err := in.killAtMoment(ctx, points[in.rand.IntN(len(points))], provoke); err != nil {
				return err
			}
		}
		return nil
	}
}

// reserveFor reserves a node that can reach a point, which may require it to lead or to follow.
func (in *Injection) reserveFor(ctx context.Context, p failpoint.Point) (string, error) {
	switch p.Stage {
	case failpoint.Writing, failpoint.Serving, failpoint.Rejoining:
		return in.reserveLeader(ctx)
	case failpoint.Forwarding:
		return in.reserveFollower(ctx)
	default:
		return in.reserveOne(ctx)
	}
}

// killAtMoment arms a point on a node, waits until it has killed the node, and starts the node
// again.
func (in *Injection) killAtMoment(ctx context.Context, p failpoint.Point, provoke func(context.Context, *Injection, string) error) error {
	point := p.Name
	target, err := in.reserveFor(ctx, p)
	if err != nil {
		return err
	}
	if err := in.arm(ctx, target, point, failpoint.Kill); err != nil {
		return err
	}
	if provoke != nil {
		if err := provoke(ctx, in, target); err != nil {
			return err
		}
	}
	came, err := in.awaitMoment(ctx, target)
	if err != nil {
		return err
	}
	if came {
		in.notes("%s at %s", target, point)
	} else {
		in.notes("%s did not come to %s", target, point)
	}
	if err := in.arm(ctx, target, point, ""); err != nil {
		return err
	}
	if err := in.start(ctx, target); err != nil {
		return err
	}
	return in.awaitReady(ctx, target)
}

// arm arms a point on a node. Healing disarms it and starts the node.
func (in *Injection) arm(ctx context.Context, name, point, terms string) error {
	fleet, has := nodes.As[nodes.Failpoints](in.n.Fleet)
	if !has {
		return fmt.Errorf("arm %s: %s", point, failpoints().what)
	}
	if terms != "" {
		in.mayEnd = append(in.mayEnd, name)
		in.undo(process, "start "+name, func(ctx context.Context) error { return in.start(ctx, name) })
		in.undo(surroundings, "disarm "+point+" in "+name, func(ctx context.Context) error {
			if !in.n.has(name) {
				return nil
			}
			return fleet.Arm(ctx, name, point, "")
		})
	}
	act, cancel := acting(ctx)
	defer cancel()
	if err := fleet.Arm(act, name, point, terms); err != nil {
		if gone, unknown := in.gone(ctx, name); unknown == nil && gone {
			return nil // it reached the point before it could respond
		}
		return fmt.Errorf("arm %s in node %s: %w", point, name, err)
	}
	return nil
}

// awaitMoment reports whether a node ended within momentTimeout.
func (in *Injection) awaitMoment(ctx context.Context, name string) (bool, error) {
	bounded, cancel := context.WithTimeout(ctx, momentTimeout)
	defer cancel()
	for {
		gone, err := in.gone(ctx, name)
		if gone || err != nil {
			return gone, err
		}
		if Pause(bounded, lookInterval) != nil {
			return false, ctx.Err()
		}
	}
}

// restart kills a node and starts it, to reach points of its start.
func restart(ctx context.Context, in *Injection, target string) error {
	if gone, err := in.gone(ctx, target); err != nil {
		return err
	} else if !gone {
		if err := in.kill(ctx, target); err != nil {
			return err
		}
	}
	return in.start(ctx, target)
}

// orderSnapshot makes a node write a snapshot. The node may be killed before it responds.
func orderSnapshot(ctx context.Context, in *Injection, target string) error {
	if err := in.operateAt(ctx, target, "snapshot"); err != nil {
		in.log.Debug("a snapshot was broken off", "node", target, "error", err)
	}
	return ctx.Err()
}

// cutOff isolates a node for longer than an election takes, and then reconnects it.
func cutOff(ctx context.Context, in *Injection, target string) error {
	if err := in.shape(ctx, links{}.between([]string{target}, in.others(target), cut)); err != nil {
		return err
	}
	if err := Pause(ctx, in.between(maxHold/2, maxHold)); err != nil {
		return err
	}
	return in.reshape(ctx, nil)
}
