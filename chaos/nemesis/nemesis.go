package nemesis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"time"

	"quorate/chaos/nodes"
)

const (
	// minHold and maxHold bound how long harm is left to work at least: long enough for an
	// election, and short enough for many.
	minHold = time.Second
	maxHold = 6 * time.Second
	// leaderTimeout bounds the search for a leader to strike while other strikes may have left
	// none.
	leaderTimeout = 5 * time.Second
	// maxRevivals bounds how often one node that may end by itself is started again until the
	// cluster is whole.
	maxRevivals = 5
)

// Nemesis does the harm. Its methods, but Strikes, are for one goroutine.
type Nemesis struct {
	Fleet   nodes.Fleet
	Cluster Cluster
	Rand    *rand.Rand
	Log     *slog.Logger
	// Writing reports how many writes have been acknowledged so far.
	Writing func() int
	// Calm is how many more writes are acknowledged when writes are said to go on. It should exceed
	// the number of writing clients, since as many answers may still be under way.
	Calm int
	// Patience bounds how long the cluster may take for each thing that it has to do by itself; 0
	// is DefaultPatience.
	Patience time.Duration

	// Compacted says that the log of some node may begin with a snapshot: what joins may then begin
	// with it as well.
	Compacted bool

	ledger ledger
	// suspects are nodes that a healed strike may still make end by themselves; until the cluster
	// is whole they are started again.
	suspects []string
	revived  map[string]int // how often each was started again
	excused  []string       // nodes that strikes have let end by themselves since the cluster was whole last
	ended    []Ended
}

func (n *Nemesis) patience() time.Duration { return cmp.Or(n.Patience, DefaultPatience) }

// Strikes are the records of all strikes so far, in the order in which they began. It may be called
// at any time.
func (n *Nemesis) Strikes() []Record { return n.ledger.records() }

// Inflict strikes once, lets the harm work, heals it, and returns when all nodes are ready and
// writes go on. While a survivable fault lasts, it waits until writes go on. The error is a
// NotRecovered for what the cluster owed and did not do; everything is healed in any case.
func (n *Nemesis) Inflict(ctx context.Context, f Fault) error {
	s, err := n.begin(ctx, f, true)
	if err != nil {
		return err
	}
	err = n.endure(ctx, s)
	if healed := s.Heal(ctx); err != nil || healed != nil {
		return errors.Join(err, healed)
	}
	return n.AwaitWhole(ctx, f.Name)
}

// Strike strikes once and returns what heals it. What lasts goes on meanwhile. The error is
// ErrNoVictim where there is nobody to strike now. After an error everything is healed, or left to
// HealAll where that takes a quorum.
func (n *Nemesis) Strike(ctx context.Context, f Fault) (*Strike, error) {
	s, err := n.begin(ctx, f, false)
	if err == nil {
		s.goOn(ctx)
	}
	return s, err
}

func (n *Nemesis) begin(ctx context.Context, f Fault, alone bool) (*Strike, error) {
	if why := f.lacking(n.Fleet); why != "" {
		return nil, fmt.Errorf("%s: %s", f.Name, why)
	}
	s := &Strike{
		n: n, fault: f, rand: rand.New(rand.NewPCG(n.Rand.Uint64(), n.Rand.Uint64())), log: n.Log.With("fault", f.Name),
		alone: alone, record: Record{Fault: f.Name, At: time.Now(), Bound: f.Bound, Survivable: f.Survivable}, harm: harm{down: map[string]bool{}},
	}
	n.ledger.begin(s)
	if err := f.strike(ctx, s); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", f.Name, err), n.takeBack(ctx, s))
	}
	s.log.Info("struck", "nodes", s.Nodes(), "notes", s.record.Notes)
	return s, nil
}

// takeBack undoes a strike that failed in the middle, unless that takes a quorum and others strike:
// then HealAll does it.
func (n *Nemesis) takeBack(ctx context.Context, s *Strike) error {
	switch {
	case len(s.undos) == 0:
		n.ledger.end(s, false)
		return nil
	case s.late && !s.alone:
		return nil
	default:
		return s.Heal(ctx)
	}
}

// endure lets the harm work.
func (n *Nemesis) endure(ctx context.Context, s *Strike) error {
	before := n.Writing()
	if s.fault.lasts != nil {
		if err := s.fault.lasts(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", s.fault.Name, err)
		}
	} else if err := Pause(ctx, s.between(minHold, maxHold)); err != nil {
		return err
	}
	if !s.fault.Survivable {
		return nil
	}
	if len(s.deposed) == 0 {
		return n.awaitWrites(ctx, s.fault.Name, before)
	}
	what := fmt.Sprintf("another leader than %v", s.deposed)
	err := s.await(ctx, what, func(ctx context.Context) error {
		_, err := n.leaderOnce(ctx, s.deposed...)
		return err
	})
	if err != nil {
		return err
	}
	return n.awaitWrites(ctx, s.fault.Name, n.Writing())
}

// AwaitWrites waits until writes go on. The name, of a fault or a phase, is for the error.
func (n *Nemesis) AwaitWrites(ctx context.Context, name string) error {
	return n.awaitWrites(ctx, name, n.Writing())
}

func (n *Nemesis) awaitWrites(ctx context.Context, name string, before int) error {
	return await(ctx, name, fmt.Sprintf("%d more writes acknowledged", n.Calm), n.patience(), func(context.Context) error {
		if more := n.Writing() - before; more < n.Calm {
			return fmt.Errorf("%d were", more)
		}
		return nil
	})
}

// AwaitWhole waits until every node is ready and writes go on. A node that has ended by itself,
// although no fault explains it, is NotRecovered at once.
func (n *Nemesis) AwaitWhole(ctx context.Context, name string) error {
	for _, node := range n.Fleet.Nodes() {
		err := await(ctx, name, "node "+node.Name+" ready", n.patience(), func(ctx context.Context) error {
			if ended := n.revive(ctx, name, node.Name); ended != nil {
				return ended
			}
			if !n.Cluster.Ready(ctx, node) {
				return errNotReady
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	n.suspects, n.revived = nil, nil
	if err := n.AwaitWrites(ctx, name); err != nil {
		return err
	}
	n.inquire()
	n.excused = nil
	return nil
}

// revive starts a node that has ended by itself, if a fault explains that.
func (n *Nemesis) revive(ctx context.Context, fault, name string) error {
	running, known := nodes.As[nodes.Running](n.Fleet)
	if !known {
		return nil
	}
	runs, err := running.Running(ctx, name)
	if err != nil || runs {
		return err
	}
	if !n.mayHaveEnded(name) || n.revived[name] >= maxRevivals {
		return hopeless{fmt.Errorf("node %s has ended by itself: its log says why", name)}
	}
	if n.revived == nil {
		n.revived = map[string]int{}
	}
	n.revived[name]++
	n.Log.Info("start a node again that ended by itself", "fault", fault, "node", name)
	act, cancel := acting(ctx)
	defer cancel()
	return n.Fleet.Start(act, name)
}

// reviveOthers starts nodes again that have ended by themselves, as strikes may make them, while a
// strike is undone that takes a quorum: they may be a part of it. One whose disk was read-only can
// end some time after the disk was healed. Nodes that rejoin with the help of a quorum themselves
// are left alone.
func (n *Nemesis) reviveOthers(ctx context.Context, s *Strike) {
	candidates, left := slices.Clone(n.suspects), s.Nodes()
	for _, other := range n.ledger.strikes() {
		if other.late {
			left = append(left, other.Nodes()...)
		} else {
			candidates = append(candidates, other.mayEnd...)
		}
	}
	for _, name := range candidates {
		if slices.Contains(left, name) || !n.has(name) {
			continue
		}
		if err := n.revive(ctx, s.fault.Name, name); err != nil {
			n.Log.Debug("a node was not started again", "fault", s.fault.Name, "node", name, "error", err)
		}
	}
}

// mayHaveEnded reports whether a strike, healed or not, explains that a node ended by itself.
func (n *Nemesis) mayHaveEnded(name string) bool {
	return slices.Contains(n.suspects, name) || slices.ContainsFunc(n.ledger.strikes(), func(s *Strike) bool {
		return slices.Contains(s.mayEnd, name)
	})
}
