package nemesis

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"quorate/chaos/nodes"
)

// names returns the names of the fleet's nodes.
func (n *Nemesis) names() (names []string) {
	for _, node := range n.Fleet.Nodes() {
		names = append(names, node.Name)
	}
	return names
}

// has reports whether a node is still part of the fleet.
func (n *Nemesis) has(name string) bool { return slices.Contains(n.names(), name) }

// claim reserves a node for this strike. It returns false if another strike has reserved it.
func (s *Strike) claim(name string) bool { return s.n.ledger.claim(s, "node "+name) }

// strikable claims a node if it runs.
func (s *Strike) strikable(ctx context.Context, name string) bool {
	if gone, err := s.gone(ctx, name); gone || err != nil {
		return false // ended by itself because of another strike
	}
	return s.claim(name)
}

// claimMembership reserves the right to change the membership or damage a node's data. Only one
// strike can have it: if two nodes lost their data at once, a cluster of three could lose
// acknowledged writes without violating its promises.
func (s *Strike) claimMembership() error {
	if !s.n.ledger.claim(s, "membership") {
		return fmt.Errorf("%w: another strike changes the membership", ErrNoVictim)
	}
	s.late = true
	return nil
}

// leader returns the leader. While other strikes are active there may be none, and it may return
// any node.
func (s *Strike) leader(ctx context.Context) (leader string, err error) {
	bound := s.n.patience()
	if !s.alone {
		bound = leaderTimeout
	}
	err = await(ctx, s.fault.Name, "a leader", bound, func(ctx context.Context) (err error) {
		leader, err = s.n.leaderOnce(ctx)
		return err
	})
	if err != nil && !s.alone && ctx.Err() == nil {
		return s.pick(s.n.names()), nil
	}
	return leader, err
}

// claimLeader claims the leader.
func (s *Strike) claimLeader(ctx context.Context) (string, error) {
	leader, err := s.leader(ctx)
	if err != nil {
		return "", err
	}
	if !s.strikable(ctx, leader) {
		return "", fmt.Errorf("%w: another strike has the leader", ErrNoVictim)
	}
	s.hurts(leader)
	return leader, nil
}

// claimFollower claims a random node other than the leader.
func (s *Strike) claimFollower(ctx context.Context) (string, error) {
	leader, err := s.leader(ctx)
	if err != nil {
		return "", err
	}
	return s.claimOne(ctx, leader)
}

// claimOne claims a random node other than besides.
func (s *Strike) claimOne(ctx context.Context, besides ...string) (string, error) {
	victims, err := s.claimSome(ctx, 1, besides...)
	if err != nil {
		return "", err
	}
	return victims[0], nil
}

// claimSome claims a number of random nodes, in random order.
func (s *Strike) claimSome(ctx context.Context, count int, besides ...string) (victims []string, err error) {
	for _, name := range s.shuffled(s.n.names()) {
		if len(victims) < count && !slices.Contains(besides, name) && s.strikable(ctx, name) {
			victims = append(victims, name)
			s.hurts(name)
		}
	}
	if len(victims) < count {
		return nil, fmt.Errorf("%w: only %d of %d nodes can be claimed", ErrNoVictim, len(victims), count)
	}
	return victims, nil
}

// claimMajority claims more than half of the nodes.
func (s *Strike) claimMajority(ctx context.Context) ([]string, error) {
	return s.claimSome(ctx, len(s.n.names())/2+1)
}

// claimAll claims all nodes.
func (s *Strike) claimAll(ctx context.Context) ([]string, error) {
	return s.claimSome(ctx, len(s.n.names()))
}

func (s *Strike) pick(names []string) string { return names[s.rand.IntN(len(names))] }

func (s *Strike) shuffled(names []string) []string {
	names = slices.Clone(names)
	s.rand.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	return names
}

// kill kills nodes. Healing starts them.
func (s *Strike) kill(ctx context.Context, names ...string) error {
	return s.end(ctx, s.n.Fleet.Kill, names...)
}

// end ends nodes with how. Healing starts them.
func (s *Strike) end(ctx context.Context, how func(context.Context, string) error, names ...string) error {
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		s.undo(process, "start "+name, func(ctx context.Context) error { return s.start(ctx, name) })
		act, cancel := acting(ctx)
		err := how(act, name)
		cancel()
		s.down[name] = err == nil
		if err != nil {
			return fmt.Errorf("end node %s: %w", name, err)
		}
	}
	return nil
}

// gone reports whether a node has ended, including by itself if the fleet can detect that.
func (s *Strike) gone(ctx context.Context, name string) (bool, error) {
	running, known := nodes.As[nodes.Running](s.n.Fleet)
	if !known {
		return s.down[name], nil
	}
	runs, err := running.Running(ctx, name)
	return !runs && err == nil, err
}

// start starts a node that the strike or the node itself has ended. It does nothing if the node
// runs.
func (s *Strike) start(ctx context.Context, name string) error {
	act, cancel := acting(ctx)
	defer cancel()
	if !s.n.has(name) { // it has left the cluster
		return nil
	}
	if gone, err := s.gone(act, name); !gone || err != nil {
		return err
	}
	if err := s.n.Fleet.Start(act, name); err != nil {
		return fmt.Errorf("start node %s: %w", name, err)
	}
	s.down[name] = false
	return nil
}

// suspend pauses the processes of nodes. Healing resumes them.
func (s *Strike) suspend(ctx context.Context, names ...string) error {
	pauser, has := nodes.As[nodes.Pauser](s.n.Fleet)
	if !has {
		return fmt.Errorf("pause nodes: %s", pausing().what)
	}
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		s.undo(process, "resume "+name, func(ctx context.Context) error {
			if !s.n.has(name) { // it has left the cluster
				return nil
			}
			return pauser.Resume(ctx, name)
		})
		act, cancel := acting(ctx)
		err := pauser.Pause(act, name)
		cancel()
		if err != nil {
			return fmt.Errorf("pause node %s: %w", name, err)
		}
	}
	return nil
}

// shape sets the rules of this strike for links, and replaces earlier ones. Healing removes them.
func (s *Strike) shape(ctx context.Context, rules map[nodes.Link]nodes.Rule) error {
	s.undo(surroundings, "heal the network", func(ctx context.Context) error { return s.n.ledger.shape(ctx, s.n.Fleet, s, nil) })
	return s.reshape(ctx, rules)
}

// reshape replaces the rules of a strike that has set some.
func (s *Strike) reshape(ctx context.Context, rules map[nodes.Link]nodes.Rule) error {
	act, cancel := acting(ctx)
	defer cancel()
	return s.n.ledger.shape(act, s.n.Fleet, s, maps.Clone(rules))
}

// setClocks changes the clocks of nodes by an offset. Healing resets them.
func (s *Strike) setClocks(ctx context.Context, offset time.Duration, names ...string) error {
	clocks, has := nodes.As[nodes.Clocks](s.n.Fleet)
	if !has {
		return fmt.Errorf("set clocks: %s", clocksSet().what)
	}
	s.n.ledger.skewed(s)
	for _, name := range names {
		s.hurts(name)
		s.undo(surroundings, "set the clock of "+name, func(ctx context.Context) error {
			if !s.n.has(name) {
				return nil
			}
			return clocks.SetClock(ctx, name, 0)
		})
		act, cancel := acting(ctx)
		err := clocks.SetClock(act, name, offset)
		cancel()
		if err != nil {
			return fmt.Errorf("set the clock of node %s: %w", name, err)
		}
	}
	s.notes("by %v", offset)
	return nil
}
