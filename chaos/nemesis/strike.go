package nemesis

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"time"
)

// stage determines the order of healing: first the surroundings of nodes, then their processes,
// last what requires a quorum.
type stage int

const (
	surroundings stage = iota // network, disk, clock
	process
	membership
	stages
)

const (
	// actTimeout limits one action on a node, such as killing it.
	actTimeout = time.Minute
	// DefaultPatience limits how long a cluster may take for each step of its recovery: being ready
	// again after a fault, continuing writes during a fault, adding a node.
	DefaultPatience = 2 * time.Minute
)

// undo reverts one effect of a strike.
type undo struct {
	stage stage
	what  string
	do    func(ctx context.Context) error
}

// Strike is one execution of a fault. Only one goroutine may use it at a time.
type Strike struct {
	n      *Nemesis
	fault  Fault
	rand   *rand.Rand
	log    *slog.Logger
	alone  bool   // no other strike is active, so the cluster must do what the fault promises
	over   bool   // the strike is healed
	record Record // guarded by the ledger's mu
	harm

	stop  context.CancelFunc // stops fault.lasts; nil if it does not run
	ended chan error         // result of fault.lasts
}

// harm records the effects of a strike.
type harm struct {
	undos   []undo
	down    map[string]bool // nodes that the strike has ended
	deposed []string        // nodes that must not lead any more
	mayEnd  []string        // nodes that may end by themselves until the cluster has recovered
	endings []string        // nodes that may end by themselves until the strike is healed
	emptied []string        // nodes to be removed and to rejoin with empty directories
	change  *change         // change of membership; nil if there is none
	late    bool            // healing requires a quorum and has to wait for other strikes to be healed

	rejoining bool // the part of healing that requires a quorum is in progress
}

// Fault returns the fault of the strike.
func (s *Strike) Fault() Fault { return s.fault }

// Nodes returns the nodes that were struck.
func (s *Strike) Nodes() []string {
	s.n.ledger.mu.Lock()
	defer s.n.ledger.mu.Unlock()
	return slices.Clone(s.record.Nodes)
}

// acting returns a context for one effect or for reverting it. It does not end with ctx, because
// the outcome of an interrupted action would be unknown.
func acting(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), actTimeout)
}

// hurts records that a node is struck.
func (s *Strike) hurts(name string) { s.n.ledger.note(s, name, "") }

// forgets records nodes that may have lost their log or replaced it by a snapshot.
func (s *Strike) forgets(names ...string) { s.n.ledger.forgot(s, names...) }

// notes records a decision or event.
func (s *Strike) notes(format string, values ...any) {
	s.n.ledger.note(s, "", fmt.Sprintf(format, values...))
}

// undo records how to revert an effect, before the effect is caused. do must be safe to repeat, and
// safe if the effect did not happen.
func (s *Strike) undo(at stage, what string, do func(ctx context.Context) error) {
	s.undos = append(s.undos, undo{at, what, do})
}

// await waits for something that the cluster must do.
func (s *Strike) await(ctx context.Context, what string, condition func(context.Context) error) error {
	return await(ctx, s.fault.Name, what, s.n.patience(), func(ctx context.Context) error {
		err := condition(ctx)
		if err != nil && s.rejoining {
			s.n.reviveOthers(ctx, s)
		}
		return err
	})
}

// between returns a random duration in [low, high).
func (s *Strike) between(low, high time.Duration) time.Duration {
	return low + time.Duration(s.rand.Int64N(int64(high-low)+1))
}

// goOn starts fault.lasts, which runs until it returns or halt is called.
func (s *Strike) goOn(ctx context.Context) {
	if s.fault.lasts == nil {
		return
	}
	ctx, s.stop = context.WithCancel(ctx)
	s.ended = make(chan error, 1)
	go func() { s.ended <- s.fault.lasts(ctx, s) }() // halt waits for it
}

// halt stops fault.lasts and waits until it has returned.
func (s *Strike) halt() {
	if s.stop == nil {
		return
	}
	s.stop()
	if err := <-s.ended; err != nil && !errors.Is(err, context.Canceled) {
		s.log.Info("a fault ended early", "error", err) // because of other strikes or the end of the run
		s.notes("ended early: %v", err)
	}
	s.stop = nil
}

// Heal reverts all effects of the strike, even if ctx has ended. What fails is tried again by the
// next call. Use AwaitWhole to wait for the cluster to recover.
func (s *Strike) Heal(ctx context.Context) error { return s.n.heal(ctx, s) }

// heal reverts several strikes, stage by stage, the last effect first.
func (n *Nemesis) heal(ctx context.Context, strikes ...*Strike) error {
	for _, s := range strikes {
		s.halt()
	}
	var errs []error
	for at := range stages {
		for _, s := range slices.Backward(strikes) {
			errs = append(errs, s.undoStage(ctx, at))
		}
	}
	for _, s := range strikes {
		if len(s.undos) == 0 && !s.over {
			n.forgiven(s)
		}
	}
	return errors.Join(errs...)
}

// undoStage reverts the remaining effects of a stage and keeps those for which that fails.
func (s *Strike) undoStage(ctx context.Context, at stage) error {
	var errs []error
	left := slices.Clone(s.undos)
	for i, u := range slices.Backward(s.undos) {
		if u.stage != at {
			continue
		}
		if err := s.undoOne(ctx, u); err != nil {
			errs = append(errs, err)
			continue
		}
		left = slices.Delete(left, i, i+1)
	}
	s.undos = left
	return errors.Join(errs...)
}

func (s *Strike) undoOne(ctx context.Context, u undo) error {
	bound := actTimeout
	if u.stage == membership { // requires actions of the cluster, too
		bound = 2 * s.n.patience()
		s.rejoining = true
		defer func() { s.rejoining = false }()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), bound)
	defer cancel()
	if err := u.do(ctx); err != nil {
		return fmt.Errorf("%s: %s: %w", s.fault.Name, u.what, err)
	}
	return nil
}

// forgiven ends a strike whose effects are all reverted.
func (n *Nemesis) forgiven(s *Strike) {
	s.over = true
	n.excused = slices.Concat(n.excused, s.mayEnd, s.endings)
	n.suspects = append(n.suspects, s.mayEnd...)
	slices.Sort(n.suspects)
	n.suspects = slices.Compact(n.suspects)
	n.ledger.end(s, true)
	s.log.Info("healed", "nodes", s.Nodes(), "after", time.Since(s.record.At).Round(time.Millisecond))
}
