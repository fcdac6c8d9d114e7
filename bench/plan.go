package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"quorate/bench/generator"
	"quorate/bench/servers"
	"quorate/bench/solo"
	"quorate/progress"
)

// scale is the amount of work of a run.
type scale struct {
	name            string
	ops, objects    int
	maxTime, fanout time.Duration
	pods            int
}

var scales = map[string]scale{
	"full":  {name: "full", ops: 30000, objects: 10000, maxTime: 12 * time.Second, fanout: 10 * time.Second, pods: 100000},
	"quick": {name: "quick", ops: 3000, objects: 10000, maxTime: 2 * time.Second, fanout: 3 * time.Second, pods: 8000},
}

const nodeBinary = "bin/quorate"

// bench is one run and its measurements.
type bench struct {
	dir      string
	scale    scale
	profile  string
	began    time.Time
	measured []generator.Measurement
	raw      []byte
	shown    *progress.Progress
}

// start starts count nodes with data below dir.
func (b *bench) start(ctx context.Context, dir string, count int) (*servers.Quorate, error) {
	return servers.StartQuorate(ctx, nodeBinary, dir, count)
}

// phase is a part of a run, with the number of steps that it counts as.
type phase struct {
	name  string
	run   func(context.Context) error
	steps int64
}

// chosen returns the phases with these names, separated by commas.
func (b *bench) chosen(names string) (chosen []phase, err error) {
	all := []phase{
		{"floor", b.measureFloor, 1}, {"one", b.one, 7}, {"capacity", b.capacity, 2}, {"three", b.three, 1}, {"contended", b.contended, 2}, {"idle", b.idle, 1},
	}
	for name := range strings.SplitSeq(names, ",") {
		i := slices.IndexFunc(all, func(p phase) bool { return p.name == name })
		if i < 0 {
			return nil, fmt.Errorf("-phases: no phase %q", name)
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

// phases runs the phases with these names, and shows how far it is.
func (b *bench) phases(ctx context.Context, names string) error {
	chosen, err := b.chosen(names)
	if err != nil {
		return err
	}
	steps := int64(0)
	for _, p := range chosen {
		steps += p.steps
	}
	b.shown.Begin("bench", steps, progress.Count("steps"))
	b.shown.Tick()
	defer b.shown.End()
	for _, p := range chosen {
		if err := p.run(ctx); err != nil {
			return fmt.Errorf("phase %s: %w", p.name, err)
		}
	}
	return nil
}

// one measures a single node.
func (b *bench) one(ctx context.Context) (err error) {
	nodes, err := b.start(ctx, filepath.Join(b.dir, "one"), 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, nodes.Stop()) }()
	runs := [][]string{
		{"-scenario", "create,update,patch,get,get-rv0"},
		{"-scenario", "create", "-kind", "pods"},
		{"-scenario", "list,list-selector"},
		{"-scenario", "delete-collection", "-objects", "5000"},
		{"-scenario", "watch-resume"},
		{"-scenario", "watch-fanout", "-watchers", "1000", "-rates", "50"},
		{"-scenario", "watch-fanout", "-watchers", "5000", "-rates", "2"},
	}
	for _, args := range runs {
		if err := b.load(ctx, &nodes.Cluster, "one", args...); err != nil {
			return err
		}
	}
	return nil
}

// three measures three nodes on this machine; requests go to all of them.
func (b *bench) three(ctx context.Context) (err error) {
	nodes, err := b.start(ctx, filepath.Join(b.dir, "three"), 3)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, nodes.Stop()) }()
	return b.load(ctx, &nodes.Cluster, "three", "-scenario", "create,update,get,get-rv0")
}

// contended measures writers of one object, on one node and spread over three.
func (b *bench) contended(ctx context.Context) error {
	for label, count := range map[string]int{"contended-one": 1, "contended-three": 3} {
		if err := b.contendedOn(ctx, label, count); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) contendedOn(ctx context.Context, label string, count int) (err error) {
	nodes, err := b.start(ctx, filepath.Join(b.dir, label), count)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, nodes.Stop()) }()
	return b.load(ctx, &nodes.Cluster, label, "-scenario", "update-contended,patch-contended", "-c", "8,32")
}

// capacity fills a node with pods, then restarts it.
func (b *bench) capacity(ctx context.Context) (err error) {
	nodes, err := b.start(ctx, filepath.Join(b.dir, "capacity"), 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, nodes.Stop()) }()
	err = b.load(ctx, &nodes.Cluster, "capacity", "-scenario", "capacity", "-kind", "pods", "-keep",
		"-target", strconv.Itoa(b.scale.pods), "-steps", "4", "-max-time", "120s")
	if err != nil {
		return err
	}
	if err := nodes.Stop(); err != nil {
		return err
	}
	began := time.Now()
	if err := nodes.StartAll(ctx); err != nil {
		return err
	}
	m := generator.Measurement{Label: "capacity", Scenario: "restart", Seconds: time.Since(began).Seconds(), Ops: b.scale.pods}
	node := nodes.Processes[0]
	bytes, _, err := solo.Memory(node.PID())
	if err != nil {
		return err
	}
	m.Procs = []generator.Process{{Name: node.Name, RSSMiB: float64(bytes) / (1 << 20)}}
	b.measured = append(b.measured, m)
	b.shown.Add(1)
	fmt.Fprintf(b.shown.Beside(os.Stdout), "restart with them: %.2f s to ready, %.0f MiB resident\n", m.Seconds, m.RSS())
	return nil
}
