package gossip

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/memberlist"
)

const (
	firstRetry = 500 * time.Millisecond
	// lonelyRetry is the longest pause while nobody is known: a cluster that starts waits for this.
	lonelyRetry = 4 * time.Second
	// settledRetry is the longest pause of a node that has company: what is left are dead and wrong
	// addresses.
	settledRetry = 30 * time.Second
	// resolveTimeout bounds one name look-up.
	resolveTimeout = 5 * time.Second
)

// keepJoining tries for as long as it lives every address that should lead to a member and does
// not: those configured, and those of members last seen dead. Nodes that lost sight of each other
// never meet again by memberlist's own doing.
func (g *Gossip) keepJoining(ctx context.Context, list *memberlist.Memberlist) error {
	pause := firstRetry
	for {
		dead := g.dead()
		for _, target := range g.targets() {
			if ctx.Err() != nil {
				return nil
			}
			g.tryTarget(ctx, list, target)
		}
		longest := settledRetry
		if alive, _ := g.count(); alive == 1 {
			longest = lonelyRetry
		}
		pause = min(pause, longest)
		if g.pauseUnlessLost(ctx, g.scaled(pause/2+rand.N(pause/2)), dead) {
			pause = firstRetry
			continue
		}
		if ctx.Err() != nil {
			return nil
		}
		pause *= 2
	}
}

// pauseUnlessLost waits, and is true as soon as a member has died since dead were counted.
func (g *Gossip) pauseUnlessLost(ctx context.Context, pause time.Duration, dead float64) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	for {
		changed := g.table.watch()
		if g.dead() > dead {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-timer.C:
			return false
		case <-changed:
		}
	}
}

func (g *Gossip) dead() float64 {
	_, dead := g.count()
	return dead
}

// targets are the addresses worth a try.
func (g *Gossip) targets() []string {
	targets := slices.Clone(g.cfg.Join)
	for _, m := range g.table.members() {
		if !m.Alive && !slices.Contains(targets, m.GossipAddr) {
			targets = append(targets, m.GossipAddr)
		}
	}
	return targets
}

// tryTarget joins what an address leads to, unless that is this node or one that is known to be
// alive.
func (g *Gossip) tryTarget(ctx context.Context, list *memberlist.Memberlist, target string) {
	lookup, cancel := context.WithTimeout(ctx, resolveTimeout)
	defer cancel()
	addrs, err := resolve(lookup, target)
	if err != nil {
		g.reportJoin(ctx, target, err)
		return
	}
	for _, addr := range addrs {
		if addr == g.Addr() || g.aliveAt(addr) || ctx.Err() != nil {
			continue
		}
		if _, err := list.Join([]string{addr}); err != nil {
			g.reportJoin(ctx, addr, err)
			continue
		}
		g.metrics.joins.WithLabelValues("joined").Inc()
	}
}

func (g *Gossip) aliveAt(addr string) bool {
	return slices.ContainsFunc(g.table.members(), func(m Member) bool { return m.Alive && m.GossipAddr == addr })
}

// reportJoin tells the operator why an address led nowhere. memberlist gives its errors as text
// only.
func (g *Gossip) reportJoin(ctx context.Context, addr string, err error) {
	if ctx.Err() != nil {
		return
	}
	text := strings.Join(strings.Fields(err.Error()), " ")
	f := finding{level: levelInfo, key: "join " + addr, message: "cannot reach a join address yet", addr: addr, reason: text}
	result := "unreachable"
	switch {
	case strings.Contains(text, undecipherable), strings.Contains(text, "not encrypted"), strings.Contains(text, "EOF"),
		strings.Contains(text, "invalid msgType"), strings.Contains(text, "is encrypted and"):
		result = "refused"
		f = finding{level: levelError, key: "key " + addr,
			message: "refused: the node at " + addr + " uses another cluster key or is no quorate node: give this node a copy of its cluster.key"}
	case strings.Contains(text, "belongs to cluster"):
		result = "refused" // NotifyMerge has said so
		f.key = ""
	}
	g.metrics.joins.WithLabelValues(result).Inc()
	if f.key != "" {
		g.report(f)
	}
}
