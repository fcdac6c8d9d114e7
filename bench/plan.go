package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"
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

// startTimeout bounds the wait for nodes to be ready.
const startTimeout = 90 * time.Second

// bench is one run and its measurements.
type bench struct {
	dir      string
	scale    scale
	profile  string
	began    time.Time
	measured []measurement
	raw      []byte
}

func (b *bench) phases(ctx context.Context, names string) error {
	phases := map[string]func(context.Context) error{
		"floor": b.measureFloor, "one": b.one, "capacity": b.capacity, "three": b.three, "contended": b.contended, "idle": b.idle,
	}
	for name := range strings.SplitSeq(names, ",") {
		phase, ok := phases[name]
		if !ok {
			return fmt.Errorf("-phases: no phase %q", name)
		}
		if err := phase(ctx); err != nil {
			return fmt.Errorf("phase %s: %w", name, err)
		}
	}
	return nil
}

// one measures a single node.
func (b *bench) one(ctx context.Context) (err error) {
	nodes, err := start(ctx, filepath.Join(b.dir, "one"), 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, nodes.stop()) }()
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
		if err := b.load(ctx, nodes, "one", args...); err != nil {
			return err
		}
	}
	return nil
}

// three measures three nodes on this machine; requests go to all of them.
func (b *bench) three(ctx context.Context) (err error) {
	nodes, err := start(ctx, filepath.Join(b.dir, "three"), 3)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, nodes.stop()) }()
	return b.load(ctx, nodes, "three", "-scenario", "create,update,get,get-rv0")
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
	nodes, err := start(ctx, filepath.Join(b.dir, label), count)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, nodes.stop()) }()
	return b.load(ctx, nodes, label, "-scenario", "update-contended,patch-contended", "-c", "8,32")
}

// capacity fills a node with pods, then restarts it.
func (b *bench) capacity(ctx context.Context) (err error) {
	nodes, err := start(ctx, filepath.Join(b.dir, "capacity"), 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, nodes.stop()) }()
	err = b.load(ctx, nodes, "capacity", "-scenario", "capacity", "-kind", "pods", "-keep",
		"-target", strconv.Itoa(b.scale.pods), "-steps", "4", "-max-time", "120s")
	if err != nil {
		return err
	}
	if err := nodes.stop(); err != nil {
		return err
	}
	began := time.Now()
	if err := nodes.startAll(ctx); err != nil {
		return err
	}
	m := measurement{Label: "capacity", Scenario: "restart", Seconds: time.Since(began).Seconds(), Ops: b.scale.pods}
	rss, err := residentMiB(nodes.list[0].pid())
	if err != nil {
		return err
	}
	m.Procs = []process{{Name: nodes.list[0].name, RSSMiB: rss}}
	b.measured = append(b.measured, m)
	fmt.Printf("restart with them: %.2f s to ready, %.0f MiB resident\n", m.Seconds, rss)
	return nil
}
