package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"quorate/bench/servers"
)

const (
	// profileDelay is the time for the generator to prepare before the profile begins.
	profileDelay = 2 * time.Second
	profilePath  = "/debug/pprof/profile?seconds=6"
)

// record takes a CPU profile of a node of a cluster, after a delay, until the function it returns is
// called.
func (b *bench) record(ctx context.Context, c *servers.Cluster, node int, name string, delay time.Duration) (done func()) {
	name = strings.NewReplacer("-scenario", "", ",", "+", "/", "").Replace(name) + ".pprof"
	file := filepath.Join(b.profile, name)
	finished := make(chan error, 1)
	go func() { finished <- fetchProfile(ctx, c, node, file, delay) }()
	return func() {
		if err := <-finished; err != nil {
			fmt.Fprintf(os.Stderr, "bench: profile %s: %v\n", name, err)
			return
		}
		fmt.Fprintf(os.Stderr, "bench: profile in %s\n", file)
	}
}

func fetchProfile(ctx context.Context, c *servers.Cluster, node int, file string, delay time.Duration) error {
	begin := time.NewTimer(delay)
	defer begin.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-begin.C:
	}
	content, err := c.Get(ctx, node, profilePath)
	if err != nil {
		return err
	}
	return os.WriteFile(file, content, 0o644)
}
