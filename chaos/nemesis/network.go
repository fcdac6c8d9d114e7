package nemesis

import (
	"context"
	"slices"
	"time"

	"quorate/chaos/nodes"
)

// links maps links to their rules.
type links map[nodes.Link]nodes.Rule

var cut = nodes.Rule{Drop: true}

// between sets one rule for the links between some nodes and others, in both directions.
func (l links) between(some, others []string, rule nodes.Rule) links {
	return l.from(some, others, rule).from(others, some, rule)
}

// from sets a rule for the links from some nodes to others.
func (l links) from(some, others []string, rule nodes.Rule) links {
	for _, a := range some {
		for _, b := range others {
			if a != b {
				l[nodes.Link{From: a, To: b}] = rule
			}
		}
	}
	return l
}

func networkFaults() []Fault {
	cuts, shapes := []need{cutting(), atLeast(3)}, []need{shaping(), atLeast(2)}
	return []Fault{
		{Name: "isolate-leader", About: "the leader reaches no other node; clients may still reach it", Survivable: true, needs: cuts, strike: isolateLeader},
		{Name: "isolate-follower", About: "a follower reaches no other node", Survivable: true, needs: cuts, strike: isolateFollower},
		{Name: "split", About: "the cluster falls into a majority, and a minority with the leader", Survivable: true, needs: cuts, strike: split},
		{Name: "bridge", About: "two halves reach each other only through one node", Survivable: true, needs: cuts, strike: bridge},
		{
			Name: "one-way-leader", About: "the leader hears no other node, or isn't heard by any", Survivable: true,
			needs: cuts, strike: oneWayLeader,
		},
		{
			Name: "flapping", About: "one node's links are cut and healed again and again", Survivable: true,
			needs: cuts, strike: claimLinks, lasts: flap,
		},
		{Name: "delay", About: "all links are slow to arrive, each a little differently", Survivable: true, needs: shapes, strike: delay},
		{Name: "loss", About: "all links lose packets", Survivable: true, needs: shapes, strike: loss},
		{Name: "reorder", About: "packets overtake each other on all links", Survivable: true, needs: shapes, strike: reorder},
		{Name: "duplicate", About: "packets arrive twice on all links", Survivable: true, needs: shapes, strike: duplicate},
		{Name: "slow-link", About: "one follower's links carry little", Survivable: true, needs: shapes, strike: slowLink},
		{Name: "cut-clients", About: "clients don't reach one node, which reaches the others", Survivable: true, needs: cuts, strike: cutClients},
	}
}

// others returns all nodes of the fleet except those in but.
func (s *Strike) others(but ...string) (others []string) {
	for _, name := range s.n.names() {
		if !slices.Contains(but, name) {
			others = append(others, name)
		}
	}
	return others
}

// isolate cuts nodes off from all others, and with a probability of one half also from clients.
func (s *Strike) isolate(ctx context.Context, names ...string) error {
	for _, name := range names {
		s.hurts(name)
	}
	rules := links{}.between(names, s.others(names...), cut)
	if s.rand.IntN(2) == 0 {
		s.notes("clients as well")
		rules.between(names, []string{nodes.Clients}, cut)
	}
	return s.shape(ctx, rules)
}

func isolateLeader(ctx context.Context, s *Strike) error {
	leader, err := s.leader(ctx)
	if err != nil {
		return err
	}
	s.depose(leader)
	return s.isolate(ctx, leader)
}

// follower returns a random node other than the leader. It does not claim the node, because rules
// for links of several strikes can be combined.
func (s *Strike) follower(ctx context.Context) (string, error) {
	leader, err := s.leader(ctx)
	if err != nil {
		return "", err
	}
	return s.pick(s.others(leader)), nil
}

func isolateFollower(ctx context.Context, s *Strike) error {
	follower, err := s.follower(ctx)
	if err != nil {
		return err
	}
	return s.isolate(ctx, follower)
}

func split(ctx context.Context, s *Strike) error {
	leader, err := s.leader(ctx)
	if err != nil {
		return err
	}
	others := s.shuffled(s.others(leader))
	besides := len(others)/2 - 1 // if the number of nodes is even, both halves would be minorities
	minority := append(others[:besides:besides], leader)
	s.depose(minority...)
	for _, name := range minority {
		s.hurts(name)
	}
	return s.shape(ctx, links{}.between(minority, s.others(minority...), cut))
}

func bridge(ctx context.Context, s *Strike) error {
	all := s.shuffled(s.n.names())
	shared, rest := all[0], all[1:]
	s.hurts(shared)
	one, other := rest[:len(rest)/2], rest[len(rest)/2:]
	s.notes("%v and %v", one, other)
	return s.shape(ctx, links{}.between(one, other, cut))
}

func oneWayLeader(ctx context.Context, s *Strike) error {
	leader, err := s.leader(ctx)
	if err != nil {
		return err
	}
	s.hurts(leader)
	s.depose(leader)
	if s.rand.IntN(2) == 0 {
		s.notes("it hears nobody")
		return s.shape(ctx, links{}.from(s.others(leader), []string{leader}, cut))
	}
	s.notes("nobody hears it")
	return s.shape(ctx, links{}.from([]string{leader}, s.others(leader), cut))
}

const (
	minFlaps, maxFlaps = 4, 10
	minFlap, maxFlap   = 200 * time.Millisecond, 3 * time.Second
)

func claimLinks(ctx context.Context, s *Strike) error {
	s.hurts(s.pick(s.n.names()))
	return s.shape(ctx, nil)
}

func flap(ctx context.Context, s *Strike) error {
	victim := s.Nodes()
	flaps := minFlaps + s.rand.IntN(maxFlaps-minFlaps+1)
	s.notes("%d times", flaps)
	for range flaps {
		for _, rules := range []links{links{}.between(victim, s.others(victim...), cut), nil} {
			if err := s.reshape(ctx, rules); err != nil {
				return err
			}
			if err := Pause(ctx, s.between(minFlap, maxFlap)); err != nil {
				return err
			}
		}
	}
	return nil
}

// everywhere sets rules for all links between nodes, and with a probability of one half also for
// those to clients. rule is called for each link.
func (s *Strike) everywhere(ctx context.Context, rule func() nodes.Rule) error {
	places := s.n.names()
	if s.rand.IntN(2) == 0 {
		s.notes("clients as well")
		places = append(places, nodes.Clients)
	}
	rules := links{}
	for _, a := range places {
		for _, b := range places {
			rules.from([]string{a}, []string{b}, rule())
		}
	}
	return s.shape(ctx, rules)
}

// part returns a random fraction between low and high.
func (s *Strike) part(low, high float64) float64 { return low + s.rand.Float64()*(high-low) }

func delay(ctx context.Context, s *Strike) error {
	return s.everywhere(ctx, func() nodes.Rule {
		return nodes.Rule{Delay: s.between(5*time.Millisecond, 150*time.Millisecond), Jitter: s.between(0, 50*time.Millisecond)}
	})
}

func loss(ctx context.Context, s *Strike) error {
	return s.everywhere(ctx, func() nodes.Rule { return nodes.Rule{Loss: s.part(0.01, 0.1)} })
}

func reorder(ctx context.Context, s *Strike) error {
	return s.everywhere(ctx, func() nodes.Rule {
		return nodes.Rule{Reorder: s.part(0.05, 0.4), Delay: s.between(time.Millisecond, 20*time.Millisecond)}
	})
}

func duplicate(ctx context.Context, s *Strike) error {
	return s.everywhere(ctx, func() nodes.Rule { return nodes.Rule{Duplicate: s.part(0.05, 0.5)} })
}

// The range of the rate of a slow link in bytes per second.
const minRate, maxRate = 16 << 10, 256 << 10

func slowLink(ctx context.Context, s *Strike) error {
	follower, err := s.follower(ctx)
	if err != nil {
		return err
	}
	s.hurts(follower)
	rate := minRate + s.rand.Int64N(maxRate-minRate+1)
	s.notes("%d bytes a second", rate)
	return s.shape(ctx, links{}.between([]string{follower}, s.others(follower), nodes.Rule{Rate: rate}))
}

func cutClients(ctx context.Context, s *Strike) error {
	victim := s.pick(s.n.names())
	s.hurts(victim)
	return s.shape(ctx, links{}.between([]string{victim}, []string{nodes.Clients}, cut))
}
