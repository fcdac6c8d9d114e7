package chaos

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"quorate/chaos/check"
	"quorate/chaos/history"
	"quorate/chaos/nemesis"
	"quorate/chaos/nodes"
	"quorate/chaos/workload"
	"quorate/chaos/workload/mixture"
)

// tidyTimeout limits the deletion of a phase's objects.
const tidyTimeout = 2 * time.Minute

// running is a phase in progress.
type running struct {
	Config
	phase    Phase
	targets  *workload.Targets
	observer *nemesis.Observer
	recorder *history.Recorder
	load     *workload.Load
	mixture  *mixture.Mixture // nil if there is none
	// compacted means that an injection of an earlier phase may have made some node's log begin
	// with a snapshot.
	compacted bool
}

// run runs and judges the phase, with or without writes.
func (p *running) run(ctx context.Context) (*PhaseReport, error) {
	if p.phase.Idle > 0 {
		return p.idle(ctx)
	}
	return p.work(ctx)
}

// work runs and judges a phase with writes. It returns a report unless the clients could not start
// or ctx has ended.
func (p *running) work(ctx context.Context) (*PhaseReport, error) {
	began := time.Now()
	p.recorder = history.NewRecorder()
	load := p.Load
	load.Namespace = fmt.Sprintf("chaos-%d", began.UnixNano())
	load.Targets, load.Recorder, load.Seed, load.Log = p.targets, p.recorder, p.phase.Seed, p.Log
	started, err := workload.Start(ctx, load)
	if err != nil {
		return nil, err
	}
	p.load = started
	defer p.close()
	if err := p.startMixture(ctx, load.Namespace); err != nil {
		return nil, err
	}

	n := &nemesis.Nemesis{
		Fleet: p.Fleet, Cluster: p.observer, Rand: rand.New(rand.NewPCG(p.phase.Seed, 0)), Log: p.Log.With("phase", p.phase.Name),
		Writing: p.acknowledged, Calm: p.Calm, Patience: p.Patience, Compacted: p.compacted,
	}
	hurt := p.hurt(ctx, n)
	p.stop()
	settled := p.settle(ctx)
	if ctx.Err() != nil { // nobody has waited for the cluster to recover, so there is nothing to judge
		return nil, errors.Join(hurt, ctx.Err())
	}
	report := &PhaseReport{
		Phase: p.phase.Name, Planned: p.phase.planned(), Seed: p.phase.Seed, Namespace: load.Namespace, Began: began,
		Injections: n.Injections(), Ended: n.Ended(), Calm: len(p.phase.Faults) == 0,
	}
	report.Verdict = p.judge(ctx, report.Injections)
	report.Seconds = time.Since(began).Seconds()
	owed, failed := nemesis.Part(hurt)
	if failed == nil { // the nodes have recovered, so from here on everything missing is a finding
		owed = errors.Join(owed, settled)
	} else {
		failed = errors.Join(failed, settled)
	}
	if owed != nil {
		report.NotRecovered = owed.Error()
	}
	if ctx.Err() != nil && report.cutShort() {
		return nil, errors.Join(hurt, ctx.Err())
	}
	if failed != nil {
		return report, failed
	}
	return report, p.tidy(ctx, report)
}

// cutShort reports whether a judgement was interrupted before it found anything. Findings made
// before an interruption are valid.
func (p *PhaseReport) cutShort() bool {
	return p.Outcome() == Undecided && p.Verdict.Linearizable == check.Undecided
}

// hurt injects faults while clients work. All faults are healed when it returns.
func (p *running) hurt(ctx context.Context, n *nemesis.Nemesis) error {
	if err := n.AwaitWrites(ctx, p.phase.Name); err != nil {
		return fmt.Errorf("before the first fault: %w", err)
	}
	switch {
	case len(p.phase.Faults) == 0:
		return p.rest(ctx, n)
	case p.phase.Rounds == 0:
		return n.Mix(ctx, p.phase.Faults, p.phase.Lasting)
	}
	for range p.phase.Rounds {
		for _, f := range p.phase.Faults {
			err := n.InjectAndRecover(ctx, f)
			if errors.Is(err, nemesis.ErrNoTarget) { // contained in the report
				p.Log.Warn("a fault found no target", "fault", f.Name, "reason", err)
				err = n.AwaitWhole(ctx, f.Name)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// rest lets clients work without faults.
func (p *running) rest(ctx context.Context, n *nemesis.Nemesis) error {
	timer := time.NewTimer(p.phase.Lasting)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return n.AwaitWhole(ctx, p.phase.Name)
	}
}

// settle waits until all watchers have received all events, and reads the state of every node.
func (p *running) settle(ctx context.Context) error {
	for _, step := range []func(context.Context) error{p.load.Settle, p.settleMixture, p.load.Finals} {
		bounded, cancel := context.WithTimeout(ctx, cmp.Or(p.Patience, nemesis.DefaultPatience))
		err := step(bounded)
		cancel()
		if err != nil {
			return err
		}
	}
	return nil
}

// judge stops the remaining clients and checks their records against the promises.
func (p *running) judge(ctx context.Context, injections []nemesis.Record) *check.Verdict {
	record := p.load.Record()
	positions, lists := excuses(injections, p.recorder.Offset)
	options := check.Options{
		VisualizationDir: p.VisualizationDir, ExpiredPositions: positions, ExpiredLists: lists,
		Allowed: newLimits(injections, p.recorder.Offset, p.recorder.Now(), cmp.Or(p.BoundScale, 1)).allowed,
	}
	verdict := check.All(ctx, &record, options)
	p.judgeMixture(verdict, options)
	return verdict
}

// excuses returns the times from which a node may answer that a watch position or a paged list has
// expired. A node that lost its log (Record.Forgot) no longer has older positions. From then on any
// node may refuse the next page of a list, because the other one may have been the last that
// retained the list's state. The same holds after a change of a clock, because nodes retain such
// states for a limited time by their own clocks.
func excuses(injections []nemesis.Record, offset func(time.Time) time.Duration) (positions, lists []check.Excuse) {
	for _, s := range injections {
		for _, node := range s.Forgot {
			positions = append(positions, check.Excuse{Node: node, From: offset(s.At)})
		}
		if len(s.Forgot) > 0 || s.Skewed {
			lists = append(lists, check.Excuse{From: offset(s.At)})
		}
	}
	return positions, lists
}

// tidy deletes the objects of a phase, unless a finding makes them worth inspecting.
func (p *running) tidy(ctx context.Context, report *PhaseReport) error {
	if !report.OK() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, tidyTimeout)
	defer cancel()
	var err error
	waited := nodes.Await(ctx, func() bool {
		for _, target := range p.targets.All() {
			if _, err = target.Client.DeleteNamespace(ctx, report.Namespace); err == nil {
				return true
			}
		}
		return false
	})
	if waited != nil {
		return fmt.Errorf("delete namespace %s: %w: %w", report.Namespace, waited, err)
	}
	return p.tidyMixture(ctx)
}
