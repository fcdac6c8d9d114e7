package nemesis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"quorate/chaos/client"
	"quorate/chaos/nodes"
)

// operateTimeout limits one operator command, because a node that is cut off does not answer.
const operateTimeout = 40 * time.Second

// change is a change of membership in progress.
type change struct {
	before  []string // nodes of the fleet before the change
	voters  int      // number of voters before the change
	leaving []string // nodes that the change removes from the cluster
}

// sparing is the number of voters of which one can be killed for good: the others have a quorum.
const sparing = 3

func beginChange(ctx context.Context, in *Injection) error { return in.beginChange(ctx, 0) }

// beginChange reserves the right to change the membership. Healing completes the change: leaving
// nodes are removed, and the cluster has as many nodes as before. It returns ErrNoTarget if fewer
// nodes vote than least, or if least is not 0 and nobody knows: a node that has joined again votes
// only after a while.
func (in *Injection) beginChange(ctx context.Context, least int) error {
	if err := in.reserveMembership(); err != nil {
		return err
	}
	in.change = &change{before: in.n.names(), voters: -1}
	if members, err := in.n.leaderView(ctx); err == nil {
		in.change.voters = voters(members)
	}
	if least > 0 && in.change.voters < least {
		return fmt.Errorf("%w: fewer than %d nodes are known to vote", ErrNoTarget, least)
	}
	in.undo(membership, "settle the membership", in.settle)
	return nil
}

func voters(members []client.Member) (count int) {
	for _, m := range members {
		if votes(m) {
			count++
		}
	}
	return count
}

func votes(m client.Member) bool { return m.Role == "leader" || m.Role == "voter" }

func find(members []client.Member, name string) (client.Member, bool) {
	i := slices.IndexFunc(members, func(m client.Member) bool { return m.Name == name })
	if i < 0 {
		return client.Member{}, false
	}
	return members[i], true
}

// settle completes the change: leaving nodes are removed, and the numbers of nodes and voters are
// those of before the change.
func (in *Injection) settle(ctx context.Context) error {
	for _, name := range in.change.leaving {
		if err := in.expel(ctx, name); err != nil {
			return err
		}
	}
	for {
		names := in.n.names()
		switch {
		case len(names) > len(in.change.before):
			newcomers := slices.DeleteFunc(names, func(name string) bool { return slices.Contains(in.change.before, name) })
			if err := in.expel(ctx, newcomers[0]); err != nil {
				return err
			}
		case len(names) < len(in.change.before):
			if _, err := in.join(ctx, true); err != nil {
				return err
			}
		default:
			return in.awaitVoters(ctx)
		}
	}
}

func (in *Injection) awaitVoters(ctx context.Context) error {
	if in.change.voters < 0 { // unknown, because there was no leader
		return nil
	}
	return in.await(ctx, fmt.Sprintf("%d voters", in.change.voters), func(ctx context.Context) error {
		members, err := in.n.leaderView(ctx)
		if err == nil && voters(members) != in.change.voters {
			err = fmt.Errorf("there are %d", voters(members))
		}
		return err
	})
}

// killLeaving kills a node that will not be started again.
func (in *Injection) killLeaving(ctx context.Context, name string) error {
	in.change.leaving = append(in.change.leaving, name)
	act, cancel := acting(ctx)
	defer cancel()
	if err := in.n.Fleet.Kill(act, name); err != nil {
		return fmt.Errorf("kill node %s: %w", name, err)
	}
	in.down[name] = true
	return nil
}

// join adds a node and waits until it is ready and, if voter is set, a voter.
func (in *Injection) join(ctx context.Context, voter bool) (string, error) {
	grower, has := nodes.As[nodes.Grower](in.n.Fleet)
	if !has {
		return "", fmt.Errorf("add a node: %s", growing().what)
	}
	if err := ctx.Err(); err != nil {
		return "", err
	}
	act, cancel := acting(ctx)
	node, err := grower.Add(act, voter)
	cancel()
	if err != nil {
		return "", fmt.Errorf("add a node: %w", err)
	}
	in.affects(node.Name)
	if in.n.Compacted || in.n.ledger.compacted() { // the new node may begin with a snapshot
		in.forgets(node.Name)
	}
	in.endings = append(in.endings, node.Name)
	in.log.Info("a node joins", "node", node.Name, "voter", voter)
	if err := in.awaitReady(ctx, node.Name); err != nil {
		return node.Name, err
	}
	return node.Name, in.await(ctx, "node "+node.Name+" as a member", func(ctx context.Context) error {
		members, err := in.n.leaderView(ctx)
		if err != nil {
			return err
		}
		if m, listed := find(members, node.Name); !listed || votes(m) != voter {
			return fmt.Errorf("its role is %q", m.Role)
		}
		return nil
	})
}

// leave makes a node leave the cluster with its own command, and removes it from the fleet.
func (in *Injection) leave(ctx context.Context, name string) error {
	operator, has := nodes.As[nodes.Operator](in.n.Fleet)
	if !has {
		return fmt.Errorf("leave: %s", operating().what)
	}
	in.endings = append(in.endings, name)
	in.log.Info("a node leaves", "node", name)
	err := in.await(ctx, "node "+name+" has left", func(ctx context.Context) error {
		ask, cancel := context.WithTimeout(ctx, operateTimeout)
		defer cancel()
		_, asked := operator.Operate(ask, name, "leave")
		if asked == nil || in.n.absent(ctx, name) == nil { // the node may have left without responding
			return nil
		}
		return asked
	})
	if err != nil {
		return err
	}
	return in.forget(ctx, name)
}

// expel removes a node from the cluster with the documented command remove. It ends the node first
// if it runs, and does nothing if the node was removed already.
func (in *Injection) expel(ctx context.Context, name string) error {
	if !in.n.has(name) {
		return nil
	}
	if err := in.endLeaving(ctx, name); err != nil {
		return err
	}
	if err := in.remove(ctx, name); err != nil {
		return err
	}
	return in.forget(ctx, name)
}

// remove removes an ended node from the cluster, and returns when the leader does not list it any
// more. It does so even if the leader does not list the node yet: gossip may know it for some time
// after its end, and a leader would add it, unless the command has barred it.
func (in *Injection) remove(ctx context.Context, name string) error {
	return in.await(ctx, "node "+name+" removed", func(ctx context.Context) error {
		if err := in.operateOnce(ctx, "remove", name); err != nil && !strings.Contains(err.Error(), unknownMember) {
			return errors.Join(in.n.absent(ctx, name), err)
		}
		return in.n.absent(ctx, name)
	})
}

// unknownMember is what the command remove says of a node that neither the configuration nor gossip
// knows.
const unknownMember = "no member is called"

// absent returns nil if the leader does not list the node.
func (n *Nemesis) absent(ctx context.Context, name string) error {
	members, err := n.leaderView(ctx)
	if err != nil {
		return err
	}
	if m, listed := find(members, name); listed {
		return fmt.Errorf("%s is listed as %s", name, m.Role)
	}
	return nil
}

// endLeaving kills a node if it runs.
func (in *Injection) endLeaving(ctx context.Context, name string) error {
	if gone, err := in.gone(ctx, name); gone || err != nil {
		return err
	}
	act, cancel := acting(ctx)
	defer cancel()
	if err := in.n.Fleet.Kill(act, name); err != nil {
		return fmt.Errorf("kill node %s: %w", name, err)
	}
	in.down[name] = true
	return nil
}

func (in *Injection) forget(ctx context.Context, name string) error {
	grower, has := nodes.As[nodes.Grower](in.n.Fleet)
	if !has {
		return fmt.Errorf("forget a node: %s", growing().what)
	}
	act, cancel := acting(ctx)
	defer cancel()
	if err := grower.Forget(act, name); err != nil {
		return fmt.Errorf("forget node %s: %w", name, err)
	}
	return nil
}

// operate runs an operator command on any node, until one node has executed it.
func (in *Injection) operate(ctx context.Context, args ...string) error {
	return in.await(ctx, "quorate "+strings.Join(args, " "), func(ctx context.Context) error { return in.operateOnce(ctx, args...) })
}

// operateOnce runs an operator command on one random node.
func (in *Injection) operateOnce(ctx context.Context, args ...string) error {
	return in.operateAt(ctx, in.pick(in.n.names()), args...)
}

func (in *Injection) operateAt(ctx context.Context, name string, args ...string) error {
	operator, has := nodes.As[nodes.Operator](in.n.Fleet)
	if !has {
		return fmt.Errorf("operate: %s", operating().what)
	}
	ctx, cancel := context.WithTimeout(ctx, operateTimeout)
	defer cancel()
	_, err := operator.Operate(ctx, name, args...)
	return err
}
