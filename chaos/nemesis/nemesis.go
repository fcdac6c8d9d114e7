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
	// minHold and maxHold are the range of the minimum duration of a fault: long enough for an
	// election, and short enough for many faults.
	minHold = time.Second
	maxHold = 6 * time.Second
	// leaderTimeout limits the search for a leader as the target, because there may be none during
	// other injections.
	leaderTimeout = 5 * time.Second
	// maxRevivals limits how often a node that may end by itself is started again until the cluster
	// has recovered.
	maxRevivals = 5
)

// Nemesis injects faults. Only one goroutine may call its methods, except Injections.
type Nemesis struct {
	Fleet   nodes.Fleet
	Cluster Cluster
	Rand    *rand.Rand
	Log     *slog.Logger
	// Writing returns the number of writes acknowledged so far.
	Writing func() int
	// Calm is the number of further acknowledged writes that proves that writes continue. It should
	// exceed the number of writing clients, because as many responses may still be in flight.
	Calm int
	// Patience limits how long the cluster may take for each step of its recovery; 0 means
	// DefaultPatience.
	Patience time.Duration

	// Compacted means that the log of some node may begin with a snapshot, so that a joining node
	// may begin with it, too.
	Compacted bool

	ledger ledger
	// suspects are nodes that may still end by themselves because of a healed injection. They are
	// started again until the cluster has recovered.
	suspects []string
	revived  map[string]int // number of restarts of each suspect
	excused  []string       // nodes that injections explain to have ended by themselves since the last recovery
	ended    []Ended
}

func (n *Nemesis) patience() time.Duration { return cmp.Or(n.Patience, DefaultPatience) }

// Injections returns the records of all injections so far, in the order of their beginnings. It is
// safe for concurrent use.
func (n *Nemesis) Injections() []Record { return n.ledger.records() }

// InjectAndRecover injects a fault once, keeps it active for a while, heals it, and returns when
// all nodes are ready and writes continue. During a survivable fault it first waits until another
// leader is elected, if the fault deposes one, and writes continue. It returns ErrNoTarget if the
// fault cannot be injected now, and NotRecovered for what the cluster failed to do. In every case
// it heals the fault as far as possible.
func (n *Nemesis) InjectAndRecover(ctx context.Context, f Fault) error {
	in, err := n.begin(ctx, f, true)
	if err != nil {
		return err
	}
	err = n.endure(ctx, in)
	if healed := in.Heal(ctx); err != nil || healed != nil {
		return errors.Join(err, healed)
	}
	return n.AwaitWhole(ctx, f.Name)
}

// Inject injects a fault once and returns the Injection, which heals it. A fault with actions that
// last continues in the meantime. The error is ErrNoTarget if the fault cannot be injected now.
// After an error the effects are healed, or left to HealAll if healing requires a quorum or fails.
func (n *Nemesis) Inject(ctx context.Context, f Fault) (*Injection, error) {
	in, err := n.begin(ctx, f, false)
	if err == nil {
		in.startLasting(ctx)
	}
	return in, err
}

func (n *Nemesis) begin(ctx context.Context, f Fault, alone bool) (*Injection, error) {
	if why := f.lacking(n.Fleet); why != "" {
		return nil, fmt.Errorf("%s: %s", f.Name, why)
	}
	in := &Injection{
		n: n, fault: f, rand: rand.New(rand.NewPCG(n.Rand.Uint64(), n.Rand.Uint64())), log: n.Log.With("fault", f.Name),
		alone: alone, record: Record{Fault: f.Name, At: time.Now(), Bound: f.Bound, Survivable: f.Survivable}, effects: effects{down: map[string]bool{}},
	}
	n.ledger.begin(in)
	if err := f.inject(ctx, in); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", f.Name, err), n.rollBack(ctx, in))
	}
	in.log.Info("fault injected", "nodes", in.Nodes(), "notes", in.record.Notes)
	return in, nil
}

// rollBack heals an injection that failed half-way. If this requires a quorum and other injections
// are active, it leaves it to HealAll.
func (n *Nemesis) rollBack(ctx context.Context, in *Injection) error {
	switch {
	case len(in.undos) == 0:
		n.ledger.end(in, false)
		return nil
	case in.late && !in.alone:
		return nil
	default:
		return in.Heal(ctx)
	}
}

// endure keeps the fault active for its duration.
func (n *Nemesis) endure(ctx context.Context, in *Injection) error {
	before := n.Writing()
	if in.fault.lasts != nil {
		if err := in.fault.lasts(ctx, in); err != nil {
			return fmt.Errorf("%s: %w", in.fault.Name, err)
		}
	} else if err := Pause(ctx, in.between(minHold, maxHold)); err != nil {
		return err
	}
	if !in.fault.Survivable {
		return nil
	}
	if len(in.deposed) == 0 {
		return n.awaitWrites(ctx, in.fault.Name, before)
	}
	what := fmt.Sprintf("another leader than %v", in.deposed)
	err := in.await(ctx, what, func(ctx context.Context) error {
		_, err := n.leaderOnce(ctx, in.deposed...)
		return err
	})
	if err != nil {
		return err
	}
	return n.awaitWrites(ctx, in.fault.Name, n.Writing())
}

// AwaitWrites waits until writes continue. name is that of a fault or phase, for the error.
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

// AwaitWhole waits until all nodes are ready and writes continue. It returns NotRecovered at once
// if a node has ended by itself and no fault explains that.
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
	n.examineEndings()
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
		return permanentError{fmt.Errorf("node %s has ended by itself: its log says why", name)}
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

// reviveOthers starts nodes that have ended by themselves because of injections other than in. It
// is called while the injection in is being healed, which requires a quorum that may include these
// nodes. A node whose disk was read-only, for example, can end some time after the disk was healed.
// reviveOthers starts no node that is to rejoin because of this or another injection.
func (n *Nemesis) reviveOthers(ctx context.Context, in *Injection) {
	candidates, left := slices.Clone(n.suspects), in.Nodes()
	for _, other := range n.ledger.injections() {
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
		if err := n.revive(ctx, in.fault.Name, name); err != nil {
			n.Log.Debug("a node was not started again", "fault", in.fault.Name, "node", name, "error", err)
		}
	}
}

// mayHaveEnded reports whether an injection, healed or not, explains that a node ended by itself.
func (n *Nemesis) mayHaveEnded(name string) bool {
	return slices.Contains(n.suspects, name) || slices.ContainsFunc(n.ledger.injections(), func(in *Injection) bool {
		return slices.Contains(in.mayEnd, name)
	})
}
