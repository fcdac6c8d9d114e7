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
		{Name: "kill-follower", About: "a follower's process is killed, and started again", Survivable: true, needs: outlived(), strike: killFollower},
		{Name: "kill-majority", About: "a majority is killed, one after the other", needs: []need{atLeast(2)}, strike: killMajority},
		{Name: "kill-all", About: "all nodes are killed", strike: killAll},
		{
			Name: "pause-leader", About: "the leader's process is stopped until another leads, then goes on", Survivable: true,
			needs: outlived(pausing()), strike: pauseLeader,
		},
		{Name: "pause-follower", About: "a follower's process is stopped for a while", Survivable: true, needs: outlived(pausing()), strike: pauseFollower},
		{Name: "pause-majority", About: "a majority is stopped for a while", needs: []need{pausing(), atLeast(2)}, strike: pauseMajority},
		{
			Name: "rolling-restart", About: "all nodes are restarted in order, one after the other", Survivable: true,
			needs: []need{stopping(), atLeast(3)}, strike: claimEvery, lasts: restartAll,
		},
		{Name: "stop-leader", About: "the leader is stopped in order, and started again", Survivable: true, needs: outlived(stopping()), strike: stopLeader},
		{
			Name: "kill-at-start", About: "a node is killed again and again while it starts", Survivable: true,
			needs: outlived(), strike: killForRestarts, lasts: killAtStart,
		},
	}
}

// KillLeader returns the fault kill-leader.
func KillLeader() Fault {
	return Fault{Name: "kill-leader", About: "the leader's process is killed, and started again", Survivable: true, needs: outlived(), strike: killLeader}
}

func killLeader(ctx context.Context, s *Strike) error {
	victim, err := s.claimLeader(ctx)
	if err != nil {
		return err
	}
	s.depose(victim)
	return s.kill(ctx, victim)
}

// depose records nodes that must not lead any more, if others can.
func (s *Strike) depose(names ...string) { s.deposed = append(s.deposed, names...) }

func killFollower(ctx context.Context, s *Strike) error {
	victim, err := s.claimFollower(ctx)
	if err != nil {
		return err
	}
	return s.kill(ctx, victim)
}

func killMajority(ctx context.Context, s *Strike) error {
	victims, err := s.claimMajority(ctx)
	if err != nil {
		return err
	}
	return s.kill(ctx, victims...)
}

func killAll(ctx context.Context, s *Strike) error {
	victims, err := s.claimAll(ctx)
	if err != nil {
		return err
	}
	return s.kill(ctx, victims...)
}

func pauseLeader(ctx context.Context, s *Strike) error {
	victim, err := s.claimLeader(ctx)
	if err != nil {
		return err
	}
	s.depose(victim)
	return s.suspend(ctx, victim)
}

func pauseFollower(ctx context.Context, s *Strike) error {
	victim, err := s.claimFollower(ctx)
	if err != nil {
		return err
	}
	return s.suspend(ctx, victim)
}

func pauseMajority(ctx context.Context, s *Strike) error {
	victims, err := s.claimMajority(ctx)
	if err != nil {
		return err
	}
	return s.suspend(ctx, victims...)
}

func stopLeader(ctx context.Context, s *Strike) error {
	victim, err := s.claimLeader(ctx)
	if err != nil {
		return err
	}
	s.depose(victim)
	return s.stopNode(ctx, victim)
}

func (s *Strike) stopNode(ctx context.Context, name string) error {
	stopper, has := nodes.As[nodes.Stopper](s.n.Fleet)
	if !has {
		return fmt.Errorf("stop node %s: %s", name, stopping().what)
	}
	return s.end(ctx, stopper.Stop, name)
}

func claimEvery(ctx context.Context, s *Strike) error {
	_, err := s.claimAll(ctx)
	return err
}

func restartAll(ctx context.Context, s *Strike) error {
	for _, name := range s.shuffled(s.Nodes()) {
		if err := s.stopNode(ctx, name); err != nil {
			return err
		}
		if err := s.start(ctx, name); err != nil {
			return err
		}
		if err := s.awaitReady(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// errNotReady means that a node did not respond that it is ready.
var errNotReady = errors.New("it says that it is not, or nothing")

// awaitReady waits until a node reports that it is ready.
func (s *Strike) awaitReady(ctx context.Context, name string) error {
	return s.await(ctx, "node "+name+" ready", func(ctx context.Context) error {
		return s.ready(ctx, name)
	})
}

// ready returns nil if a node reports that it is ready.
func (s *Strike) ready(ctx context.Context, name string) error {
	for _, node := range s.n.Fleet.Nodes() {
		if node.Name == name && s.n.Cluster.Ready(ctx, node) {
			return nil
		}
	}
	return errNotReady
}

func killForRestarts(ctx context.Context, s *Strike) error {
	victim, err := s.claimOne(ctx)
	if err != nil {
		return err
	}
	return s.kill(ctx, victim)
}

func killAtStart(ctx context.Context, s *Strike) error {
	victim := s.Nodes()[0]
	starts := minStarts + s.rand.IntN(maxStarts-minStarts+1)
	s.notes("%d times", starts)
	for range starts {
		if err := s.start(ctx, victim); err != nil {
			return err
		}
		if err := Pause(ctx, s.between(0, maxStartUp)); err != nil {
			return err
		}
		if err := s.kill(ctx, victim); err != nil {
			return err
		}
	}
	return nil
}
