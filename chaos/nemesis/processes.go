package nemesis

import (
	"context"
	"errors"
	"fmt"
	"time"

	"quorate/chaos/nodes"
)

const (
	// The number of times that a node is killed while it starts, each time after at most this
	// delay.
	minStarts, maxStarts = 4, 9
	maxStartUp           = 1500 * time.Millisecond
)

func processFaults() []Fault {
	return []Fault{
		KillLeader(),
		{Name: "kill-follower", About: "a follower's process is killed, and started again", Survivable: true, needs: outlived(), inject: killFollower},
		{Name: "kill-majority", About: "a majority is killed, one after the other", needs: []need{atLeast(2)}, inject: killMajority},
		{Name: "kill-all", About: "all nodes are killed", inject: killAll},
		{
			Name: "pause-leader", About: "the leader's process is stopped until another leads, then goes on", Survivable: true,
			needs: outlived(pausing()), inject: pauseLeader,
		},
		{Name: "pause-follower", About: "a follower's process is stopped for a while", Survivable: true, needs: outlived(pausing()), inject: pauseFollower},
		{Name: "pause-majority", About: "a majority is stopped for a while", needs: []need{pausing(), atLeast(2)}, inject: pauseMajority},
		{
			Name: "rolling-restart", About: "all nodes are restarted in order, one after the other", Survivable: true,
			needs: []need{stopping(), atLeast(3)}, inject: reserveEvery, lasts: restartAll,
		},
		{Name: "stop-leader", About: "the leader is stopped in order, and started again", Survivable: true, needs: outlived(stopping()), inject: stopLeader},
		{
			Name: "kill-at-start", About: "a node is killed again and again while it starts", Survivable: true,
			needs: outlived(), inject: killForRestarts, lasts: killAtStart,
		},
	}
}

// KillLeader returns the fault kill-leader.
func KillLeader() Fault {
	return Fault{Name: "kill-leader", About: "the leader's process is killed, and started again", Survivable: true, needs: outlived(), inject: killLeader}
}

func killLeader(ctx context.Context, in *Injection) error {
	target, err := in.reserveLeader(ctx)
	if err != nil {
		return err
	}
	in.depose(target)
	return in.kill(ctx, target)
}

// depose records nodes that must not lead any more, if others can.
func (in *Injection) depose(names ...string) { in.deposed = append(in.deposed, names...) }

func killFollower(ctx context.Context, in *Injection) error {
	target, err := in.reserveFollower(ctx)
	if err != nil {
		return err
	}
	return in.kill(ctx, target)
}

func killMajority(ctx context.Context, in *Injection) error {
	targets, err := in.reserveMajority(ctx)
	if err != nil {
		return err
	}
	return in.kill(ctx, targets...)
}

func killAll(ctx context.Context, in *Injection) error {
	targets, err := in.reserveAll(ctx)
	if err != nil {
		return err
	}
	return in.kill(ctx, targets...)
}

func pauseLeader(ctx context.Context, in *Injection) error {
	target, err := in.reserveLeader(ctx)
	if err != nil {
		return err
	}
	in.depose(target)
	return in.suspend(ctx, target)
}

func pauseFollower(ctx context.Context, in *Injection) error {
	target, err := in.reserveFollower(ctx)
	if err != nil {
		return err
	}
	return in.suspend(ctx, target)
}

func pauseMajority(ctx context.Context, in *Injection) error {
	targets, err := in.reserveMajority(ctx)
	if err != nil {
		return err
	}
	return in.suspend(ctx, targets...)
}

func stopLeader(ctx context.Context, in *Injection) error {
	target, err := in.reserveLeader(ctx)
	if err != nil {
		return err
	}
	in.depose(target)
	return in.stopNode(ctx, target)
}

func (in *Injection) stopNode(ctx context.Context, name string) error {
	stopper, has := nodes.As[nodes.Stopper](in.n.Fleet)
	if !has {
		return fmt.Errorf("stop node %s: %s", name, stopping().what)
	}
	return in.end(ctx, stopper.Stop, name)
}

func reserveEvery(ctx context.Context, in *Injection) error {
	_, err := in.reserveAll(ctx)
	return err
}

func restartAll(ctx context.Context, in *Injection) error {
	for _, name := range in.shuffled(in.Nodes()) {
		if err := in.stopNode(ctx, name); err != nil {
			return err
		}
		if err := in.start(ctx, name); err != nil {
			return err
		}
		if err := in.awaitReady(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// errNotReady means that a node did not respond that it is ready.
var errNotReady = errors.New("it says that it is not, or nothing")

// awaitReady waits until a node reports that it is ready.
func (in *Injection) awaitReady(ctx context.Context, name string) error {
	return in.await(ctx, "node "+name+" ready", func(ctx context.Context) error {
		return in.ready(ctx, name)
	})
}

// ready returns nil if a node reports that it is ready.
func (in *Injection) ready(ctx context.Context, name string) error {
	for _, node := range in.n.Fleet.Nodes() {
		if node.Name == name && in.n.Cluster.Ready(ctx, node) {
			return nil
		}
	}
	return errNotReady
}

func killForRestarts(ctx context.Context, in *Injection) error {
	target, err := in.reserveOne(ctx)
	if err != nil {
		return err
	}
	return in.kill(ctx, target)
}

func killAtStart(ctx context.Context, in *Injection) error {
	target := in.Nodes()[0]
	starts := minStarts + in.rand.IntN(maxStarts-minStarts+1)
	in.notes("%d times", starts)
	for range starts {
		if err := in.start(ctx, target); err != nil {
			return err
		}
		if err := Pause(ctx, in.between(0, maxStartUp)); err != nil {
			return err
		}
		if err := in.kill(ctx, target); err != nil {
			return err
		}
	}
	return nil
}
