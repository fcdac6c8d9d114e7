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

// stage orders how things are undone: what surrounds a node before its process, and both before
// anything that takes a quorum.
type stage int

const (
	surroundings stage = iota // network, disk, clock
	process
	membership
	stages
)

const (
	// actTimeout bounds one thing that is done to a node, such as killing it.
	actTimeout = time.Minute
	// DefaultPatience bounds how long a cluster may take for each thing that it has to do by
	// itself: to be ready again after a fault, to write on during one, to take in a node.
	DefaultPatience = 2 * time.Minute
)

// undo takes back one harm.
type undo struct {
	stage stage
	what  string
	do    func(ctx context.Context) error
}

// Strike is one blow of a fault. It is used by one goroutine at a time.
type Strike struct {
	n      *Nemesis
	fault  Fault
	rand   *rand.Rand
	log    *slog.Logger
	alone  bool   // no other strike may disturb it: the cluster owes what the fault promises
	over   bool   // it is healed
	record Record // guarded by the ledger
	harm

	stop  context.CancelFunc // of what goes on by itself; nil: nothing
	ended chan error         // its result
}

// harm is what a strike has done.
type harm struct {
	undos   []undo
	down    map[string]bool // nodes that it has ended
	deposed []string        // lead no more if the fault did what it should
	mayEnd  []string        // may end by themselves for what was done to them, until the cluster is whole
	endings []string        // may end by themselves, and must not once it is healed
	emptied []string        // are to be removed, and to join again with empty directories
	change  *change         // of the membership; nil: none
	late    bool            // healing takes a quorum, and so can't be done while others strike

	rejoining bool // what takes a quorum is being undone
}

// Fault is what struck.
func (s *Strike) Fault() Fault { return s.fault }

// Nodes are those that were struck.
func (s *Strike) Nodes() []string {
	s.n.ledger.mu.Lock()
	defer s.n.ledger.mu.Unlock()
	return slices.Clone(s.record.Nodes)
}

// acting is a context for one harm or its undoing: such a thing is done whole, or its outcome would
// not be known.
func acting(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), actTimeout)
}

// hurts takes down that a node is struck.
func (s *Strike) hurts(name string) { s.n.ledger.note(s, name, "") }

// forgets takes down that nodes may have lost their log, or have it replaced by a snapshot.
func (s *Strike) forgets(names ...string) { s.n.ledger.forgot(s, names...) }

// notes takes down a decision, or what came of it.
func (s *Strike) notes(format string, values ...any) {
	s.n.ledger.note(s, "", fmt.Sprintf(format, values...))
}

// undo takes down how a harm is undone, before it is done. It must be safe where the harm came to
// nothing, and safe to repeat.
func (s *Strike) undo(at stage, what string, do func(ctx context.Context) error) {
	s.undos = append(s.undos, undo{at, what, do})
}

// await waits for what the cluster owes.
func (s *Strike) await(ctx context.Context, what string, condition func(context.Context) error) error {
	return await(ctx, s.fault.Name, what, s.n.patience(), func(ctx context.Context) error {
		err := condition(ctx)
		if err != nil && s.rejoining {
			s.n.reviveOthers(ctx, s)
		}
		return err
	})
}

// between is a random duration, evenly from low up to high.
func (s *Strike) between(low, high time.Duration) time.Duration {
	return low + time.Duration(s.rand.Int64N(int64(high-low)+1))
}

// goOn runs what lasts, until it ends by itself or halt is called.
func (s *Strike) goOn(ctx context.Context) {
	if s.fault.lasts == nil {
		return
	}
	ctx, s.stop = context.WithCancel(ctx)
	s.ended = make(chan error, 1)
	go func() { s.ended <- s.fault.lasts(ctx, s) }() // owned by halt
}

// halt ends what goes on by itself and waits for its end.
func (s *Strike) halt() {
	if s.stop == nil {
		return
	}
	s.stop()
	if err := <-s.ended; err != nil && !errors.Is(err, context.Canceled) {
		s.log.Info("a fault came to an end before its time", "error", err) // others struck meanwhile, or the run ends
		s.notes("ended early: %v", err)
	}
	s.stop = nil
}

// Heal undoes the strike: all of it, and also when ctx has ended. What can't be undone is tried
// again by the next call. That the cluster is whole again is for AwaitWhole to say.
func (s *Strike) Heal(ctx context.Context) error { return s.n.heal(ctx, s) }

// heal undoes several strikes, stage by stage and the last harm first.
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

// undoStage does what is left to undo at a stage, and keeps what fails.
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
	if u.stage == membership { // takes the cluster's part as well
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

// forgiven ends a strike of which nothing is left.
func (n *Nemesis) forgiven(s *Strike) {
	s.over = true
	n.excused = slices.Concat(n.excused, s.mayEnd, s.endings)
	n.suspects = append(n.suspects, s.mayEnd...)
	slices.Sort(n.suspects)
	n.suspects = slices.Compact(n.suspects)
	n.ledger.end(s, true)
	s.log.Info("healed", "nodes", s.Nodes(), "after", time.Since(s.record.At).Round(time.Millisecond))
}
