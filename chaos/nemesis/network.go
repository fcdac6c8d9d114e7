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
		{Name: "isolate-leader", About: "the leader reaches no other node; clients may still reach it", Survivable: true, needs: cuts, inject: isolateLeader},
		{Name: "isolate-follower", About: "a follower reaches no other node", Survivable: true, needs: cuts, inject: isolateFollower},
		{Name: "split", About: "the cluster falls into a majority, and a minority with the leader", Survivable: true, needs: cuts, inject: split},
		{Name: "bridge", About: "two halves reach each other only through one node", Survivable: true, needs: cuts, inject: bridge},
		{
			Name: "one-way-leader", About: "the leader hears no other node, or isn't heard by any", Survivable: true,
			needs: cuts, inject: oneWayLeader,
		},
		{
			Name: "flapping", About: "one node's links are cut and healed again and again", Survivable: true,
			needs: cuts, inject: reserveLinks, lasts: flap,
		},
		{Name: "delay", About: "all links are slow to arrive, each a little differently", Survivable: true, needs: shapes, inject: delay},
		{Name: "loss", About: "all links lose packets", Survivable: true, needs: shapes, inject: loss},
		{Name: "reorder", About: "packets overtake each other on all links", Survivable: true, needs: shapes, inject: reorder},
		{Name: "duplicate", About: "packets arrive twice on all links", Survivable: true, needs: shapes, inject: duplicate},
		{Name: "slow-link", About: "one follower's links carry little", Survivable: true, needs: shapes, inject: slowLink},
		{Name: "cut-clients", About: "clients don't reach one node, which reaches the others", Survivable: true, needs: cuts, inject: cutClients},
	}
}

// others returns all nodes of the fleet except those in but.
func (in *Injection) others(but ...string) (others []string) {
	for _, name := range in.n.names() {
		if !slices.Contains(but, name) {
			others = append(others, name)
		}
	}
	return others
}

// isolate cuts nodes off from all others, and with a probability of one half also from clients.
func (in *Injection) isolate(ctx context.Context, names ...string) error {
	for _, name := range names {
		in.affects(name)
	}
	rules := links{}.between(names, in.others(names...), cut)
	if in.rand.IntN(2) == 0 {
		in.notes("clients as well")
		rules.between(names, []string{nodes.Clients}, cut)
	}
	return in.shape(ctx, rules)
}

func isolateLeader(ctx context.Context, in *Injection) error {
	leader, err := in.leader(ctx)
	if err != nil {
		return err
	}
	in.depose(leader)
	return in.isolate(ctx, leader)
}

// follower returns a random node other than the leader. It does not reserve the node, because rules
// for links of several injections can be combined.
func (in *Injection) follower(ctx context.Context) (string, error) {
	leader, err := in.leader(ctx)
	if err != nil {
		return "", err
	}
	return in.pick(in.others(leader)), nil
}

func isolateFollower(ctx context.Context, in *Injection) error {
	follower, err := in.follower(ctx)
	if err != nil {
		return err
	}
	return in.isolate(ctx, follower)
}

func split(ctx context.Context, in *Injection) error {
	leader, err := in.leader(ctx)
	if err != nil {
		return err
	}
	others := in.shuffled(in.others(leader))
	besides := len(others)/2 - 1 // if the number of nodes is even, both halves would be minorities
	minority := append(others[:besides:besides], leader)
	in.depose(minority...)
	for _, name := range minority {
		in.affects(name)
	}
	return in.shape(ctx, links{}.between(minority, in.others(minority...), cut))
}

func bridge(ctx context.Context, in *Injection) error {
	all := in.shuffled(in.n.names())
	shared, rest := all[0], all[1:]
	in.affects(shared)
	one, other := rest[:len(rest)/2], rest[len(rest)/2:]
	in.notes("%v and %v", one, other)
	return in.shape(ctx, links{}.between(one, other, cut))
}

func oneWayLeader(ctx context.Context, in *Injection) error {
	leader, err := in.leader(ctx)
	if err != nil {
		return err
	}
	in.affects(leader)
	in.depose(leader)
	if in.rand.IntN(2) == 0 {
		in.notes("it hears nobody")
		return in.shape(ctx, links{}.from(in.others(leader), []string{leader}, cut))
	}
	in.notes("nobody hears it")
	return in.shape(ctx, links{}.from([]string{leader}, in.others(leader), cut))
}

const (
	minFlaps, maxFlaps = 4, 10
	minFlap, maxFlap   = 200 * time.Millisecond, 3 * time.Second
)

func reserveLinks(ctx context.Context, in *Injection) error {
	in.affects(in.pick(in.n.names()))
	return in.shape(ctx, nil)
}

func flap(ctx context.Context, in *Injection) error {
	target := in.Nodes()
	flaps := minFlaps + in.rand.IntN(maxFlaps-minFlaps+1)
	in.notes("%d times", flaps)
	for range flaps {
		for _, rules := range []links{links{}.between(target, in.others(target...), cut), nil} {
			if err := in.reshape(ctx, rules); err != nil {
				return err
			}
			if err := Pause(ctx, in.between(minFlap, maxFlap)); err != nil {
				return err
			}
		}
	}
	return nil
}

// everywhere sets rules for all links between nodes, and with a probability of one half also for
// those to clients. rule is called for each link.
func (in *Injection) everywhere(ctx context.Context, rule func() nodes.Rule) error {
	places := in.n.names()
	if in.rand.IntN(2) == 0 {
		in.notes("clients as well")
		places = append(places, nodes.Clients)
	}
	rules := links{}
	for _, a := range places {
		for _, b := range places {
			rules.from([]string{a}, []string{b}, rule())
		}
	}
	return in.shape(ctx, rules)
}

// part returns a random fraction between low and high.
func (in *Injection) part(low, high float64) float64 { return low + in.rand.Float64()*(high-low) }

func delay(ctx context.Context, in *Injection) error {
	return in.everywhere(ctx, func() nodes.Rule {
		return nodes.Rule{Delay: in.between(5*time.Millisecond, 150*time.Millisecond), Jitter: in.between(0, 50*time.Millisecond)}
	})
}

func loss(ctx context.Context, in *Injection) error {
	return in.everywhere(ctx, func() nodes.Rule { return nodes.Rule{Loss: in.part(0.01, 0.1)} })
}

func reorder(ctx context.Context, in *Injection) error {
	return in.everywhere(ctx, func() nodes.Rule {
		return nodes.Rule{Reorder: in.part(0.05, 0.4), Delay: in.between(time.Millisecond, 20*time.Millisecond)}
	})
}

func duplicate(ctx context.Context, in *Injection) error {
	return in.everywhere(ctx, func() nodes.Rule { return nodes.Rule{Duplicate: in.part(0.05, 0.5)} })
}

// The range of the rate of a slow link in bytes per second.
const minRate, maxRate = 16 << 10, 256 << 10

func slowLink(ctx context.Context, in *Injection) error {
	follower, err := in.follower(ctx)
	if err != nil {
		return err
	}
	in.affects(follower)
	rate := minRate + in.rand.Int64N(maxRate-minRate+1)
	in.notes("%d bytes a second", rate)
	return in.shape(ctx, links{}.between([]string{follower}, in.others(follower), nodes.Rule{Rate: rate}))
}

func cutClients(ctx context.Context, in *Injection) error {
	target := in.pick(in.n.names())
	in.affects(target)
	return in.shape(ctx, links{}.between([]string{target}, []string{nodes.Clients}, cut))
}
