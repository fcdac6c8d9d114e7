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

// undo reverts one effect of an injection.
type undo struct {
	stage stage
	what  string
	do    func(ctx context.Context) error
}

// Injection is one execution of a fault. Only one goroutine may use it at a time.
type Injection struct {
	n      *Nemesis
	fault  Fault
	rand   *rand.Rand
	log    *slog.Logger
	alone  bool   // no other injection is active, so the cluster must do what the fault promises
	over   bool   // the injection is healed
	record Record // guarded by the ledger's mu
	effects

	stop  context.CancelFunc // stops fault.lasts; nil if it does not run
	ended chan error         // result of fault.lasts
}

// effects records the effects of an injection.
type effects struct {
	undos   []undo
	down    map[string]bool // nodes that the injection has ended
	deposed []string        // nodes that must not lead any more
	mayEnd  []string        // nodes that may end by themselves until the cluster has recovered
	endings []string        // nodes that may end by themselves until the injection is healed
	emptied []string        // nodes to be removed and to rejoin with empty directories
	change  *change         // change of membership; nil if there is none
	late    bool            // healing requires a quorum and has to wait for other injections to be healed

	rejoining bool // the part of healing that requires a quorum is in progress
}

// Fault returns the fault of the injection.
func (in *Injection) Fault() Fault { return in.fault }

// Nodes returns the nodes that were affected.
func (in *Injection) Nodes() []string {
	in.n.ledger.mu.Lock()
	defer in.n.ledger.mu.Unlock()
	return slices.Clone(in.record.Nodes)
}

// acting returns a context for one effect or for reverting it. It does not end with ctx, because
// the outcome of an interrupted action would be unknown.
func acting(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), actTimeout)
}

// affects records that a node is affected.
func (in *Injection) affects(name string) { in.n.ledger.note(in, name, "") }

// forgets records nodes that may have lost their log or replaced it by a snapshot.
func (in *Injection) forgets(names ...string) { in.n.ledger.forgot(in, names...) }

// notes records a decision or event.
func (in *Injection) notes(format string, values ...any) {
	in.n.ledger.note(in, "", fmt.Sprintf(format, values...))
}

// undo records how to revert an effect, before the effect is caused. do must be safe to repeat, and
// safe if the effect did not happen.
func (in *Injection) undo(at stage, what string, do func(ctx context.Context) error) {
	in.undos = append(in.undos, undo{at, what, do})
}

// await waits for something that the cluster must do.
func (in *Injection) await(ctx context.Context, what string, condition func(context.Context) error) error {
	return await(ctx, in.fault.Name, what, in.n.patience(), func(ctx context.Context) error {
		err := condition(ctx)
		if err != nil && in.rejoining {
			in.n.reviveOthers(ctx, in)
		}
		return err
	})
}

// between returns a random duration in [low, high).
func (in *Injection) between(low, high time.Duration) time.Duration {
	return low + time.Duration(in.rand.Int64N(int64(high-low)+1))
}

// startLasting starts fault.lasts, which runs until it returns or halt is called.
func (in *Injection) startLasting(ctx context.Context) {
	if in.fault.lasts == nil {
		return
	}
	ctx, in.stop = context.WithCancel(ctx)
	in.ended = make(chan error, 1)
	go func() { in.ended <- in.fault.lasts(ctx, in) }() // halt waits for it
}

// halt stops fault.lasts and waits until it has returned.
func (in *Injection) halt() {
	if in.stop == nil {
		return
	}
	in.stop()
	if err := <-in.ended; err != nil && !errors.Is(err, context.Canceled) {
		in.log.Info("a fault ended early", "error", err) // because of other injections or the end of the run
		in.notes("ended early: %v", err)
	}
	in.stop = nil
}

// Heal reverts all effects of the injection, even if ctx has ended. What fails is tried again by
// the next call. Use AwaitWhole to wait for the cluster to recover.
func (in *Injection) Heal(ctx context.Context) error { return in.n.heal(ctx, in) }

// heal reverts several injections, stage by stage, the last effect first.
func (n *Nemesis) heal(ctx context.Context, injections ...*Injection) error {
	for _, in := range injections {
		in.halt()
	}
	var errs []error
	for at := range stages {
		for _, in := range slices.Backward(injections) {
			errs = append(errs, in.undoStage(ctx, at))
		}
	}
	for _, in := range injections {
		if len(in.undos) == 0 && !in.over {
			n.finish(in)
		}
	}
	return errors.Join(errs...)
}

// undoStage reverts the remaining effects of a stage and keeps those for which that fails.
func (in *Injection) undoStage(ctx context.Context, at stage) error {
	var errs []error
	left := slices.Clone(in.undos)
	for i, u := range slices.Backward(in.undos) {
		if u.stage != at {
			continue
		}
		if err := in.undoOne(ctx, u); err != nil {
			errs = append(errs, err)
			continue
		}
		left = slices.Delete(left, i, i+1)
	}
	in.undos = left
	return errors.Join(errs...)
}

func (in *Injection) undoOne(ctx context.Context, u undo) error {
	bound := actTimeout
	if u.stage == membership { // requires actions of the cluster, too
		bound = 2 * in.n.patience()
		in.rejoining = true
		defer func() { in.rejoining = false }()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), bound)
	defer cancel()
	if err := u.do(ctx); err != nil {
		return fmt.Errorf("%s: %s: %w", in.fault.Name, u.what, err)
	}
	return nil
}

// finish ends an injection whose effects are all reverted.
func (n *Nemesis) finish(in *Injection) {
	in.over = true
	n.excused = slices.Concat(n.excused, in.mayEnd, in.endings)
	n.suspects = append(n.suspects, in.mayEnd...)
	slices.Sort(n.suspects)
	n.suspects = slices.Compact(n.suspects)
	n.ledger.end(in, true)
	in.log.Info("healed", "nodes", in.Nodes(), "after", time.Since(in.record.At).Round(time.Millisecond))
}
