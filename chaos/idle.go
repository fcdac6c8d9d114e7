package chaos

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"quorate/chaos/check"
	"quorate/chaos/history"
	"quorate/chaos/nemesis"
	"quorate/chaos/workload"
)

const (
	// idleObjects is the number of objects that are written before an idle phase and read during
	// it.
	idleObjects = 24
	// idlePatience limits the time until an idle cluster is ready again.
	idlePatience = time.Minute
	// idleRound limits the wait for a response to every kind of read on every node after each act.
	// A read without a response by then is a finding.
	idleRound = 25 * time.Second
	// minQuiet is the minimum time between two acts.
	minQuiet = 500 * time.Millisecond
)

// IdleReport is the part of a report about a phase without writes.
type IdleReport struct {
	check.IdleCounts
	// Acts is the number of acts.
	Acts int `json:"acts"`
	// Entries is the number of log entries added while no act was in progress. Each entry may hide
	// a fault that lasts until the next write.
	Entries uint64 `json:"entries"`

	whole []time.Duration // when every read had been answered after an act
}

// idle runs and judges a phase without writes.
func (p *running) idle(ctx context.Context) (*PhaseReport, error) {
	began := time.Now()
	p.recorder = history.NewRecorder()
	load, err := workload.Prepare(ctx, workload.Config{
		Namespace: fmt.Sprintf("chaos-%d", began.UnixNano()), Targets: p.targets, Recorder: p.recorder, Seed: p.phase.Seed,
		Clients: 1, Keys: idleObjects, Log: p.Log,
	})
	if err != nil {
		return nil, err
	}
	p.load = load
	defer load.Close()
	if err := load.Fill(ctx); err != nil {
		return nil, err
	}
	readers, err := workload.StartIdle(ctx, load)
	if err != nil {
		return nil, err
	}
	n := p.idleNemesis()
	report := &PhaseReport{
		Phase: p.phase.Name, Planned: p.phase.planned(), Seed: p.phase.Seed, Namespace: load.Namespace, Began: began, Idle: &IdleReport{},
	}
	hurt := p.actAll(ctx, n, readers, report.Idle)
	reads := readers.Close()
	if ctx.Err() != nil {
		return nil, errors.Join(hurt, ctx.Err())
	}
	report.Injections, report.Ended, report.Seconds = n.Injections(), n.Ended(), time.Since(began).Seconds()
	limits := newLimits(report.Injections, p.recorder.Offset, p.recorder.Now(), cmp.Or(p.BoundScale, 1))
	limits.whole(report.Idle.whole)
	report.Verdict, report.Idle.IdleCounts = check.Idle(reads, limits.excuses)
	owed, failed := nemesis.Part(hurt)
	if owed != nil {
		report.NotRecovered = owed.Error()
	}
	if failed != nil {
		return report, failed
	}
	return report, p.tidy(ctx, report)
}

// idleNemesis returns a nemesis that does not wait for writes.
func (p *running) idleNemesis() *nemesis.Nemesis {
	return &nemesis.Nemesis{
		Fleet: p.Fleet, Cluster: p.observer, Rand: rand.New(rand.NewPCG(p.phase.Seed, 0)), Log: p.Log.With("phase", p.phase.Name),
		Writing: func() int { return 0 }, Patience: cmp.Or(p.Patience, idlePatience), Compacted: p.compacted,
	}
}

// actAll performs each act once, in random order, and then random acts until the time has passed.
// All reads must be answered after each act.
func (p *running) actAll(ctx context.Context, n *nemesis.Nemesis, readers *workload.Idle, report *IdleReport) error {
	if err := n.AwaitWhole(ctx, p.phase.Name); err != nil {
		return err
	}
	if err := round(ctx, "the beginning", readers); err != nil {
		return err
	}
	end := time.Now().Add(p.phase.Idle)
	quiet := max(minQuiet, p.phase.Idle/time.Duration(2*max(1, len(p.phase.Faults))))
	for _, at := range n.Rand.Perm(len(p.phase.Faults)) {
		if err := p.act(ctx, n, p.phase.Faults[at], readers, quiet, report); err != nil {
			return err
		}
	}
	for time.Now().Before(end) && ctx.Err() == nil && len(p.phase.Faults) > 0 {
		if err := p.act(ctx, n, p.phase.Faults[n.Rand.IntN(len(p.phase.Faults))], readers, quiet, report); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// act performs one act, waits until every read has been answered since, and pauses. Paged lists
// come last, because they may add a log entry, which could hide a fault.
func (p *running) act(
	ctx context.Context, n *nemesis.Nemesis, f nemesis.Fault, readers *workload.Idle, quiet time.Duration, report *IdleReport,
) error {
	switch err := n.InjectAndRecover(ctx, f); {
	case errors.Is(err, nemesis.ErrNoTarget): // contained in the report
		p.Log.Warn("an act found no target", "act", f.Name, "reason", err)
	case err != nil:
		return err
	default:
		report.Acts++
	}
	if err := round(ctx, f.Name, readers); err != nil {
		return err
	}
	report.whole = append(report.whole, p.recorder.Now())
	before := n.LastIndex(ctx)
	if err := nemesis.Pause(ctx, quiet); err != nil {
		return err
	}
	if after := n.LastIndex(ctx); before > 0 && after > before {
		report.Entries += after - before
	}
	readers.Page(ctx)
	return ctx.Err()
}

// round waits for a response to every kind of read on every node. A missing response is a finding.
func round(ctx context.Context, after string, readers *workload.Idle) error {
	bounded, cancel := context.WithTimeout(ctx, idleRound)
	defer cancel()
	err := readers.Round(bounded)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	default:
		return &nemesis.NotRecovered{Fault: after, What: "every read of the idle cluster is answered", After: idleRound, Err: err}
	}
}

// whole records the times at which every service was available again, for each episode.
func (l *limits) whole(at []time.Duration) {
	for i := range l.episodes {
		e := &l.episodes[i]
		if n := slices.IndexFunc(at, func(t time.Duration) bool { return t >= e.to }); n >= 0 {
			e.whole = at[n]
		}
	}
}

// excuses reports whether the injections explain that a read got no response, because its node was
// affected or there may have been no leader.
func (l *limits) excuses(r history.IdleRead) bool {
	for _, e := range l.episodes {
		most := e.bound(check.QuorumReads)
		until := e.to + l.scaled(most)
		if e.whole > 0 {
			until = min(until, e.whole)
		}
		if most == 0 || r.Answered < e.from || r.Invoked > until {
			continue
		}
		if e.affected(r.Node) || !r.Local && e.mayElect() {
			return true
		}
	}
	return false
}

// mayElect reports whether the injections may have caused an election or prevented every node from
// leading.
func (e *episode) mayElect() bool {
	return e.bound(check.Writes) > nemesis.Steady().Writes || len(e.injections) > 1 || !e.injections[0].Survivable
}
