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

// beginChange reserves the right to change the membership. Healing completes the change: leaving
// nodes are removed, and the cluster has as many nodes as before.
func beginChange(ctx context.Context, s *Strike) error {
	if err := s.claimMembership(); err != nil {
		return err
	}
	s.change = &change{before: s.n.names(), voters: -1}
	if members, err := s.n.leaderView(ctx); err == nil {
		s.change.voters = voters(members)
	}
	s.undo(membership, "settle the membership", s.settle)
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
func (s *Strike) settle(ctx context.Context) error {
	for _, name := range s.change.leaving {
		if err := s.expel(ctx, name); err != nil {
			return err
		}
	}
	for {
		names := s.n.names()
		switch {
		case len(names) > len(s.change.before):
			newcomers := slices.DeleteFunc(names, func(name string) bool { return slices.Contains(s.change.before, name) })
			if err := s.expel(ctx, newcomers[0]); err != nil {
				return err
			}
		case len(names) < len(s.change.before):
			if _, err := s.join(ctx, true); err != nil {
				return err
			}
		default:
			return s.awaitVoters(ctx)
		}
	}
}

func (s *Strike) awaitVoters(ctx context.Context) error {
	if s.change.voters < 0 { // unknown, because there was no leader
		return nil
	}
	return s.await(ctx, fmt.Sprintf("%d voters", s.change.voters), func(ctx context.Context) error {
		members, err := s.n.leaderView(ctx)
		if err == nil && voters(members) != s.change.voters {
			err = fmt.Errorf("there are %d", voters(members))
		}
		return err
	})
}

// killLeaving kills a node that will not be started again.
func (s *Strike) killLeaving(ctx context.Context, name string) error {
	s.change.leaving = append(s.change.leaving, name)
	act, cancel := acting(ctx)
	defer cancel()
	if err := s.n.Fleet.Kill(act, name); err != nil {
		return fmt.Errorf("kill node %s: %w", name, err)
	}
	s.down[name] = true
	return nil
}

// join adds a node and waits until it is ready and, if voter is set, a voter.
func (s *Strike) join(ctx context.Context, voter bool) (string, error) {
	grower, has := nodes.As[nodes.Grower](s.n.Fleet)
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
	s.hurts(node.Name)
	if s.n.Compacted || s.n.ledger.compacted() { // the new node may begin with a snapshot
		s.forgets(node.Name)
	}
	s.endings = append(s.endings, node.Name)
	s.log.Info("a node joins", "node", node.Name, "voter", voter)
	if err := s.awaitReady(ctx, node.Name); err != nil {
		return node.Name, err
	}
	return node.Name, s.await(ctx, "node "+node.Name+" as a member", func(ctx context.Context) error {
		members, err := s.n.leaderView(ctx)
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
func (s *Strike) leave(ctx context.Context, name string) error {
	operator, has := nodes.As[nodes.Operator](s.n.Fleet)
	if !has {
		return fmt.Errorf("leave: %s", operating().what)
	}
	s.endings = append(s.endings, name)
	s.log.Info("a node leaves", "node", name)
	err := s.await(ctx, "node "+name+" has left", func(ctx context.Context) error {
		ask, cancel := context.WithTimeout(ctx, operateTimeout)
		defer cancel()
		_, asked := operator.Operate(ask, name, "leave")
		if asked == nil || s.n.absent(ctx, name) == nil { // the node may have left without responding
			return nil
		}
		return asked
	})
	if err != nil {
		return err
	}
	return s.forget(ctx, name)
}

// expel removes a node from the cluster with the documented command remove. It ends the node first
// if it runs, and does nothing if the node was removed already.
func (s *Strike) expel(ctx context.Context, name string) error {
	if !s.n.has(name) {
		return nil
	}
	if err := s.endLeaving(ctx, name); err != nil {
		return err
	}
	if err := s.remove(ctx, name); err != nil {
		return err
	}
	return s.forget(ctx, name)
}

// remove removes an ended node from the cluster, and returns when the leader does not list it any
// more.
func (s *Strike) remove(ctx context.Context, name string) error {
	return s.await(ctx, "node "+name+" removed", func(ctx context.Context) error {
		absent := s.n.absent(ctx, name)
		if absent == nil {
			return nil
		}
		return errors.Join(absent, s.operateOnce(ctx, "remove", name))
	})
}

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
func (s *Strike) endLeaving(ctx context.Context, name string) error {
	if gone, err := s.gone(ctx, name); gone || err != nil {
		return err
	}
	act, cancel := acting(ctx)
	defer cancel()
	if err := s.n.Fleet.Kill(act, name); err != nil {
		return fmt.Errorf("kill node %s: %w", name, err)
	}
	s.down[name] = true
	return nil
}

func (s *Strike) forget(ctx context.Context, name string) error {
	grower, has := nodes.As[nodes.Grower](s.n.Fleet)
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
func (s *Strike) operate(ctx context.Context, args ...string) error {
	return s.await(ctx, "quorate "+strings.Join(args, " "), func(ctx context.Context) error { return s.operateOnce(ctx, args...) })
}

// operateOnce runs an operator command on one random node.
func (s *Strike) operateOnce(ctx context.Context, args ...string) error {
	return s.operateAt(ctx, s.pick(s.n.names()), args...)
}

func (s *Strike) operateAt(ctx context.Context, name string, args ...string) error {
	operator, has := nodes.As[nodes.Operator](s.n.Fleet)
	if !has {
		return fmt.Errorf("operate: %s", operating().what)
	}
	ctx, cancel := context.WithTimeout(ctx, operateTimeout)
	defer cancel()
	_, err := operator.Operate(ctx, name, args...)
	return err
}
