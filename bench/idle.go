package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"quorate/bench/generator"
)

const (
	// settleTime is how long nodes are left alone after their start before they count as idle.
	settleTime = 10 * time.Second
	idleTime   = 20 * time.Second
)

// idle measures the CPU time of three nodes that nobody uses.
func (b *bench) idle(ctx context.Context) (err error) {
	nodes, err := b.start(ctx, filepath.Join(b.dir, "idle"), 3)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, nodes.Stop()) }()
	if b.profile != "" {
		for i, p := range nodes.Processes {
			defer b.record(ctx, &nodes.Cluster, i, "idle-"+p.Name, settleTime+profileDelay)()
		}
	}
	m, err := generator.Idle(ctx, &nodes.Cluster, "idle", settleTime, idleTime)
	if err != nil {
		return err
	}
	b.measured = append(b.measured, m)
	b.shown.Add(1)
	fmt.Fprintf(b.shown.Beside(os.Stdout), "three idle nodes: %.1f %% of a core together\n", m.CPU/1e4)
	return nil
}
