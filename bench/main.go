// Command bench measures bin/quorate with bin/loadgen, on one node and on three on this machine,
// and prints the results next to the targets in targets.yaml. It must run in the root of the
// repository: `make bench`, or `make bench BENCH=quick`.
//
// Nodes use free loopback ports and, unless -dir is given, a temporary directory. Every measurement
// is bounded in operations and in time, and -total bounds all of them together.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"quorate/progress"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// options holds the flags.
type options struct {
	mode, phases, dir, out, report, peers, profile, floor string
	total                                                 time.Duration
}

func run() error {
	var o options
	flag.StringVar(&o.mode, "mode", "full", "full (under 10 minutes) or quick (under 2)")
	flag.StringVar(&o.phases, "phases", "floor,one,contended,capacity,three,idle", "what to run")
	flag.StringVar(&o.dir, "dir", "", "where the nodes keep their data (default: a temporary directory)")
	flag.DurationVar(&o.total, "total", 12*time.Minute, "longest time of everything")
	flag.StringVar(&o.out, "out", "", "file for the measurements, one JSON line each")
	flag.StringVar(&o.report, "report", "", "file for a report in HTML")
	flag.StringVar(&o.peers, "peers", "", "measurements of a peer, made with loadgen under the labels of targets.yaml: files, separated by commas")
	flag.StringVar(&o.profile, "profile", "", "directory for a CPU profile of the server during each run")
	flag.StringVar(&o.floor, "floor", "", "be the floor server at this address (used by the phase floor)")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, o.total)
	defer cancel()
	scale, ok := scales[o.mode]
	if !ok {
		return fmt.Errorf("-mode %q: want full or quick", o.mode)
	}
	if o.floor != "" {
		return serveFloor(ctx, o.floor, o.dir, scale.objects)
	}
	return o.measure(ctx, scale)
}

// measure runs the phases and reports the results, also those of a run that failed.
func (o *options) measure(ctx context.Context, s scale) error {
	targets, err := readTargets()
	if err != nil {
		return err
	}
	peers, err := readPeers(o.peers)
	if err != nil {
		return err
	}
	if o.dir == "" {
		if o.dir, err = os.MkdirTemp("", "quorate-bench-"); err != nil {
			return err
		}
		defer os.RemoveAll(o.dir)
	}
	b := &bench{dir: o.dir, scale: s, profile: o.profile, began: time.Now(), shown: progress.New(os.Stderr, "bench", 0, progress.Count("steps"))}
	runErr := b.phases(ctx, o.phases)
	if err := b.save(o.out); err != nil {
		return err
	}
	pace := pacesOf(targets, b.measured)
	rows := rowsOf(targets, b.measured, peers, pace, s)
	printTable(os.Stdout, rows, pace, s)
	if o.report != "" {
		runErr = errors.Join(runErr, writePage(o.report, rows, b, pace, cmp.Or(o.peers, peerOfTargets)))
	}
	return runErr
}

// peerOfTargets describes the peer of targets.yaml.
const peerOfTargets = "kube-apiserver 1.36 with one etcd 3.6, measured when the targets were set"

// save writes the raw measurements, for comparisons with loadgen -compare.
func (b *bench) save(path string) error {
	if path == "" {
		return nil
	}
	return os.WriteFile(filepath.Clean(path), b.raw, 0o644)
}
