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

// reserve reserves a node for this injection. It returns false if another injection has reserved
// it.
func (in *Injection) reserve(name string) bool { return in.n.ledger.reserve(in, "node "+name) }

// reserveRunning reserves a node if it runs.
func (in *Injection) reserveRunning(ctx context.Context, name string) bool {
	if gone, err := in.gone(ctx, name); gone || err != nil {
		return false // ended by itself because of another injection
	}
	return in.reserve(name)
}

// reserveMembership reserves the right to change the membership or damage a node's data. Only one
// injection can have it: if two nodes lost their data at once, a cluster of three could lose
// acknowledged writes without breaking a promise. It returns ErrNoTarget if another injection has
// it. Such an injection is healed only after the others, because its healing requires a quorum.
func (in *Injection) reserveMembership() error {
	if !in.n.ledger.reserve(in, "membership") {
		return fmt.Errorf("%w: another injection changes the membership", ErrNoTarget)
	}
	in.late = true
	return nil
}

// leader returns the leader. While other injections are active there may be none, and it may return
// any node.
func (in *Injection) leader(ctx context.Context) (leader string, err error) {
	bound := in.n.patience()
	if !in.alone {
		bound = leaderTimeout
	}
	err = await(ctx, in.fault.Name, "a leader", bound, func(ctx context.Context) (err error) {
		leader, err = in.n.leaderOnce(ctx)
		return err
	})
	if err != nil && !in.alone && ctx.Err() == nil {
		return in.pick(in.n.names()), nil
	}
	return leader, err
}

// reserveLeader reserves the leader.
func (in *Injection) reserveLeader(ctx context.Context) (string, error) {
	leader, err := in.leader(ctx)
	if err != nil {
		return "", err
	}
	if !in.reserveRunning(ctx, leader) {
		return "", fmt.Errorf("%w: another injection has the leader", ErrNoTarget)
	}
	in.affects(leader)
	return leader, nil
}

// reserveFollower reserves a random node other than the leader.
func (in *Injection) reserveFollower(ctx context.Context) (string, error) {
	leader, err := in.leader(ctx)
	if err != nil {
		return "", err
	}
	return in.reserveOne(ctx, leader)
}

// reserveOne reserves a random node other than besides.
func (in *Injection) reserveOne(ctx context.Context, besides ...string) (string, error) {
	targets, err := in.reserveSome(ctx, 1, besides...)
	if err != nil {
		return "", err
	}
	return targets[0], nil
}

// reserveSome reserves a number of random nodes, in random order.
func (in *Injection) reserveSome(ctx context.Context, count int, besides ...string) (targets []string, err error) {
	for _, name := range in.shuffled(in.n.names()) {
		if len(targets) < count && !slices.Contains(besides, name) && in.reserveRunning(ctx, name) {
			targets = append(targets, name)
			in.affects(name)
		}
	}
	if len(targets) < count {
		return nil, fmt.Errorf("%w: only %d of %d nodes can be reserved", ErrNoTarget, len(targets), count)
	}
	return targets, nil
}

// reserveMajority reserves more than half of the nodes.
func (in *Injection) reserveMajority(ctx context.Context) ([]string, error) {
	return in.reserveSome(ctx, len(in.n.names())/2+1)
}

// reserveAll reserves all nodes.
func (in *Injection) reserveAll(ctx context.Context) ([]string, error) {
	return in.reserveSome(ctx, len(in.n.names()))
}

func (in *Injection) pick(names []string) string { return names[in.rand.IntN(len(names))] }

func (in *Injection) shuffled(names []string) []string {
	names = slices.Clone(names)
	in.rand.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	return names
}

// kill kills nodes. Healing starts them.
func (in *Injection) kill(ctx context.Context, names ...string) error {
	return in.end(ctx, in.n.Fleet.Kill, names...)
}

// end ends nodes with how. Healing starts them.
func (in *Injection) end(ctx context.Context, how func(context.Context, string) error, names ...string) error {
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		in.undo(process, "start "+name, func(ctx context.Context) error { return in.start(ctx, name) })
		act, cancel := acting(ctx)
		err := how(act, name)
		cancel()
		in.down[name] = err == nil
		if err != nil {
			return fmt.Errorf("end node %s: %w", name, err)
		}
	}
	return nil
}

// gone reports whether a node has ended, including by itself if the fleet can detect that.
func (in *Injection) gone(ctx context.Context, name string) (bool, error) {
	running, known := nodes.As[nodes.Running](in.n.Fleet)
	if !known {
		return in.down[name], nil
	}
	runs, err := running.Running(ctx, name)
	return !runs && err == nil, err
}

// start starts a node that the injection or the node itself has ended. It does nothing if the node
// runs.
func (in *Injection) start(ctx context.Context, name string) error {
	act, cancel := acting(ctx)
	defer cancel()
	if !in.n.has(name) { // it has left the cluster
		return nil
	}
	if gone, err := in.gone(act, name); !gone || err != nil {
		return err
	}
	if err := in.n.Fleet.Start(act, name); err != nil {
		return fmt.Errorf("start node %s: %w", name, err)
	}
	in.down[name] = false
	return nil
}

// suspend pauses the processes of nodes. Healing resumes them.
func (in *Injection) suspend(ctx context.Context, names ...string) error {
	pauser, has := nodes.As[nodes.Pauser](in.n.Fleet)
	if !has {
		return fmt.Errorf("pause nodes: %s", pausing().what)
	}
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		in.undo(process, "resume "+name, func(ctx context.Context) error {
			if !in.n.has(name) { // it has left the cluster
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

// shape sets the rules of this injection for links, and replaces earlier ones. Healing removes
// them.
func (in *Injection) shape(ctx context.Context, rules map[nodes.Link]nodes.Rule) error {
	in.undo(surroundings, "heal the network", func(ctx context.Context) error { return in.n.ledger.shape(ctx, in.n.Fleet, in, nil) })
	return in.reshape(ctx, rules)
}

// reshape replaces the rules of an injection that has set some.
func (in *Injection) reshape(ctx context.Context, rules map[nodes.Link]nodes.Rule) error {
	act, cancel := acting(ctx)
	defer cancel()
	return in.n.ledger.shape(act, in.n.Fleet, in, maps.Clone(rules))
}

// setClocks changes the clocks of nodes by an offset. Healing resets them.
func (in *Injection) setClocks(ctx context.Context, offset time.Duration, names ...string) error {
	clocks, has := nodes.As[nodes.Clocks](in.n.Fleet)
	if !has {
		return fmt.Errorf("set clocks: %s", clocksSet().what)
	}
	in.n.ledger.skewed(in)
	for _, name := range names {
		in.affects(name)
		in.undo(surroundings, "set the clock of "+name, func(ctx context.Context) error {
			if !in.n.has(name) {
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
	in.notes("by %v", offset)
	return nil
}
