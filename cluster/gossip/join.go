package gossip

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/memberlist"
)

const (
	firstRetry = 500 * time.Millisecond
	// aloneRetry is the longest pause while no other node is known: nodes of a new cluster wait for
	// it.
	aloneRetry = 4 * time.Second
	// settledRetry is the longest pause of a node that knows others: the remaining addresses are of
	// dead nodes, or wrong.
	settledRetry = 30 * time.Second
	// resolveTimeout bounds one name look-up.
	resolveTimeout = 5 * time.Second
)

// keepJoining joins every address that should lead to a live member but does not: the configured
// addresses, the remembered ones, and those of dead members. It retries until ctx ends, because
// memberlist by itself never reconnects the sides of a long partition.
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
			longest = aloneRetry
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

// pauseUnlessLost waits. It returns true as soon as more than dead members are dead.
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

// targets returns the addresses to join.
func (g *Gossip) targets() []string {
	targets := slices.Clone(g.cfg.Join)
	if g.cfg.Remembered != nil {
		for _, addr := range g.cfg.Remembered() {
			if !slices.Contains(targets, addr) {
				targets = append(targets, addr)
			}
		}
	}
	for _, m := range g.table.members() {
		if !m.Alive && !slices.Contains(targets, m.GossipAddr) {
			targets = append(targets, m.GossipAddr)
		}
	}
	return targets
}

// tryTarget joins the nodes that an address leads to, except for this one and those known to be
// alive.
func (g *Gossip) tryTarget(ctx context.Context, list *memberlist.Memberlist, target string) {
	lookup, cancel := context.WithTimeout(ctx, resolveTimeout)
	defer cancel()
	addrs, err := resolve(lookup, target)
	if err != nil {
		if ctx.Err() == nil {
			g.metrics.joins.WithLabelValues("unreachable").Inc()
			g.reportUnreachable(target, err)
		}
		return
	}
	for _, addr := range addrs {
		if addr != g.Addr() && !g.aliveAt(addr) && ctx.Err() == nil {
			g.join(ctx, list, addr)
		}
	}
}

func (g *Gossip) aliveAt(addr string) bool {
	return slices.ContainsFunc(g.table.members(), func(m Member) bool { return m.Alive && m.GossipAddr == addr })
}

// attempt is the address that keepJoining joins now, and what its node returned: memberlist's Join
// returns text only.
type attempt struct {
	mu       sync.Mutex
	addr     string   // guarded by mu
	response response // guarded by mu
}

// response is what came back from a join address.
type response int

const (
	noResponse      response = iota // no connection, or none in time
	foreignResponse                 // the connection ended at once, or with a message that this node's key does not decrypt
	ownResponse                     // a message encrypted with this node's key
)

func (a *attempt) begin(addr string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.addr, a.response = addr, noResponse
}

// received notes the result of the first message of the node at an address.
func (a *attempt) received(addr string, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if addr != a.addr {
		return // memberlist's own exchange with a member
	}
	switch {
	case err == nil:
		a.response = ownResponse
	case errors.Is(err, errOtherKey), errors.Is(err, errNotEncrypted), errors.Is(err, io.EOF):
		a.response = foreignResponse
	}
}

func (a *attempt) end() response {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.addr = ""
	return a.response
}

// join joins the node at an address, and reports why that failed.
func (g *Gossip) join(ctx context.Context, list *memberlist.Memberlist, addr string) {
	g.attempt.begin(addr)
	refusals := g.mergesRefused.Load()
	_, err := list.Join([]string{addr})
	response := g.attempt.end()
	result := "joined"
	switch {
	case ctx.Err() != nil:
		return
	case err == nil:
	case response == foreignResponse:
		result = "refused"
		g.report(finding{level: levelError, key: "key " + addr,
			message: "refused: the node at " + addr + " uses another cluster key or is no quorate node: give this node a copy of its cluster.key"})
	case response == ownResponse && g.mergesRefused.Load() > refusals:
		result = "refused" // NotifyMerge has reported why
	default:
		result = "unreachable"
		g.reportUnreachable(addr, err)
	}
	g.metrics.joins.WithLabelValues(result).Inc()
}

func (g *Gossip) reportUnreachable(addr string, err error) {
	text := strings.Join(strings.Fields(err.Error()), " ")
	g.report(finding{level: levelInfo, key: "join " + addr, message: "cannot reach a join address yet", addr: addr, reason: text})
}
