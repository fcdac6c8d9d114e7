package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const (
	// settleTime is how long nodes are left alone after their start before they count as idle.
	settleTime = 10 * time.Second
	idleTime   = 20 * time.Second
	// tickTime is the unit of the CPU times in /proc on Linux.
	tickTime = 10 * time.Millisecond
)

// idle measures the CPU time of three nodes that nobody uses. An operation is a second.
func (b *bench) idle(ctx context.Context) (err error) {
	nodes, err := start(ctx, filepath.Join(b.dir, "idle"), 3)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, nodes.stop()) }()
	if err := pause(ctx, settleTime); err != nil {
		return err
	}
	before, err := nodes.cpuTime()
	if err != nil {
		return err
	}
	if b.profile != "" {
		for _, n := range nodes.list {
			defer b.record(ctx, n, "idle-"+n.name)()
		}
	}
	began := time.Now()
	if err := pause(ctx, idleTime); err != nil {
		return err
	}
	after, err := nodes.cpuTime()
	if err != nil {
		return err
	}
	took := time.Since(began).Seconds()
	m := measurement{Label: "idle", Scenario: "idle", Seconds: took, Ops: int(took), CPU: float64((after - before).Microseconds()) / took}
	b.measured = append(b.measured, m)
	fmt.Printf("three idle nodes: %.1f %% of a core together\n", m.CPU/1e4)
	return nil
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// cpuTime returns the CPU time that the processes have used.
func (c *cluster) cpuTime() (total time.Duration, err error) {
	for _, n := range c.list {
		used, err := cpuTime(n.pid())
		if err != nil {
			return 0, err
		}
		total += used
	}
	return total, nil
}

// cpuTime returns the CPU time that a process has used, in the kernel and outside of it.
func cpuTime(pid int) (time.Duration, error) {
	path := fmt.Sprintf("/proc/%d/stat", pid)
	stat, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(stat), ") ") // the command's name may have spaces
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0, fmt.Errorf("%s has no CPU times", path)
	}
	var ticks int64
	for _, field := range fields[11:13] { // utime and stime
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", path, err)
		}
		ticks += n
	}
	return time.Duration(ticks) * tickTime, nil
}
