// Command bench measures bin/quorate with bin/loadgen, on one node and on three on this machine,
// and prints the results next to the targets in targets.yaml. It must run in the root of the
// repository: `make bench`, or `make bench BENCH=quick`.
//
// Nodes use free loopback ports and, unless -dir is given, a temporary directory. Every measurement
// is bounded in operations and in time, and -total bounds all of them together.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run() error {
	mode := flag.String("mode", "full", "full (under 10 minutes) or quick (under 2)")
	phases := flag.String("phases", "floor,one,contended,capacity,three", "what to run")
	dir := flag.String("dir", "", "where the nodes keep their data (default: a temporary directory)")
	total := flag.Duration("total", 12*time.Minute, "longest time of everything")
	out := flag.String("out", "", "file for the measurements, one JSON line each")
	profile := flag.String("profile", "", "directory for a CPU profile of the server during each run")
	floor := flag.String("floor", "", "be the floor server at this address (used by the phase floor)")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, *total)
	defer cancel()
	targets, err := readTargets()
	if err != nil {
		return err
	}
	scale, ok := scales[*mode]
	if !ok {
		return fmt.Errorf("-mode %q: want full or quick", *mode)
	}
	if *floor != "" {
		return serveFloor(ctx, *floor, *dir, scale.objects)
	}
	if *dir == "" {
		if *dir, err = os.MkdirTemp("", "quorate-bench-"); err != nil {
			return err
		}
		defer os.RemoveAll(*dir)
	}
	b := &bench{dir: *dir, scale: scale, profile: *profile}
	runErr := b.phases(ctx, *phases)
	if err := b.save(*out); err != nil {
		return err
	}
	printTable(os.Stdout, targets, b.measured, scale)
	return runErr
}

// save writes the raw measurements, for comparisons with loadgen -compare.
func (b *bench) save(path string) error {
	if path == "" {
		return nil
	}
	return os.WriteFile(filepath.Clean(path), b.raw, 0o644)
}
