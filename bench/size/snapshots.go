package main

import (
	"context"
	"errors"
	"time"

	"quorate/bench/measure"
	"quorate/bench/solo"
)

const (
	phaseWithout = "without"
	phaseWith    = "with"
)

// snapshot adds the row of what a snapshot costs.
func (g *growing) snapshot(ctx context.Context, t *measure.Table) error {
	w, err := measure.StartWriters(ctx, &g.node.Cluster, g.writes)
	if err != nil {
		return err
	}
	defer w.Stop()
	if err := measure.Sleep(ctx, g.phase/2); err != nil { // warm up
		return err
	}
	pid := g.node.PIDs()[0]
	peaks := make(map[string]int64)
	during := func(phase string, run func() error) error {
		if err := solo.ResetPeak(pid); err != nil {
			return err
		}
		w.Begin(phase)
		err := run()
		w.Begin("")
		if err != nil {
			return err
		}
		_, peaks[phase], err = solo.Memory(pid)
		return err
	}
	if err := during(phaseWithout, func() error { return measure.Sleep(ctx, g.phase) }); err != nil {
		return err
	}
	var count int
	var took time.Duration
	if err := during(phaseWith, func() (err error) { count, took, err = g.snapshots(ctx); return err }); err != nil {
		return err
	}
	metrics, err := g.node.Metrics(ctx, 0)
	if err != nil {
		return err
	}
	without, with := w.Phase(phaseWithout), w.Phase(phaseWith)
	if without.Len() == 0 || with.Len() == 0 {
		return errors.New("no write ended in a phase: make it longer")
	}
	before, after := without.Percentile(99), with.Percentile(99)
	extra := float64(peaks[phaseWith] - peaks[phaseWithout])
	t.Add(g.count, took.Seconds()/float64(count), metrics["quorate_raftstore_snapshot_last_bytes"]/mib, before, after,
		float64(after)/float64(before), extra/mib, 100*extra/float64(peaks[phaseWithout]))
	return nil
}

// snapshots writes one snapshot after the other for the length of a phase.
func (g *growing) snapshots(ctx context.Context) (count int, took time.Duration, err error) {
	for begun := time.Now(); took < g.phase; took = time.Since(begun) {
		if err := g.node.Post(ctx, 0, "/cluster/v1/snapshot"); err != nil {
			return 0, 0, err
		}
		count++
	}
	return count, took, nil
}
