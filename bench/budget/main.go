package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"quorate/bench/generator"
	"quorate/bench/servers"
)

const (
	nodeBinary    = "bin/quorate"
	nodeCount     = 3
	maxOperations = 1_000_000
	// profileDelay is the time for the generator to prepare, and for the load to become steady.
	profileDelay = 2 * time.Second
	// totalTimeout bounds everything beside the load.
	totalTimeout = 5 * time.Minute
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "budget:", err)
		os.Exit(1)
	}
}

// options holds the flags.
type options struct {
	scenario, keep string
	clients        int
	length         time.Duration
}

func run() (err error) {
	var o options
	flag.StringVar(&o.scenario, "scenario", "create", "one scenario of the generator")
	flag.IntVar(&o.clients, "c", 32, "clients")
	flag.DurationVar(&o.length, "length", 20*time.Second, "how long the load takes")
	flag.StringVar(&o.keep, "keep", "", "folder for the profiles (default: removed)")
	flag.Parse()
	if o.length < 2*profileDelay+time.Second {
		return fmt.Errorf("-length: want at least %s", 2*profileDelay+time.Second)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, totalTimeout+o.length)
	defer cancel()
	dir, err := os.MkdirTemp("", "quorate-budget-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if o.keep == "" {
		o.keep = dir
	}
	if err := os.MkdirAll(o.keep, 0o755); err != nil {
		return err
	}
	nodes, err := servers.StartQuorate(ctx, nodeBinary, filepath.Join(dir, "nodes"), nodeCount)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, nodes.Stop()) }()
	m, leader, err := o.load(ctx, &nodes.Cluster)
	if err != nil {
		return err
	}
	var shares []share
	for i, p := range m.Procs {
		byStage, total, err := stagesOf(ctx, o.file(i))
		if err != nil {
			return err
		}
		shares = append(shares, share{leader: i == leader, perOp: p.CPUSec * 1e6 / float64(m.Ops), byStage: byStage, total: total})
	}
	fmt.Print(table(m, shares))
	return nil
}

// load loads the nodes, takes a profile of each, and returns what was measured and which node leads.
func (o *options) load(ctx context.Context, c *servers.Cluster) (m *generator.Measurement, leader int, err error) {
	group, ctx := errgroup.WithContext(ctx)
	for i := range c.Endpoints {
		group.Go(func() error { return o.profile(ctx, c, i) })
	}
	var measured []generator.Measurement
	group.Go(func() (err error) {
		_, measured, err = generator.Run(ctx, c, "three", "-scenario", o.scenario, "-c", strconv.Itoa(o.clients), "-n", strconv.Itoa(maxOperations),
			"-objects", "1000", "-max-time", o.length.String())
		return err
	})
	if err := group.Wait(); err != nil {
		return nil, 0, err
	}
	if len(measured) != 1 || len(measured[0].Errors) > 0 || measured[0].Ops == 0 {
		return nil, 0, fmt.Errorf("want one measurement without errors, got %+v", measured)
	}
	leader, err = leaderOf(context.WithoutCancel(ctx), c)
	return &measured[0], leader, err
}

func (o *options) file(node int) string {
	return filepath.Join(o.keep, o.scenario+"-n"+strconv.Itoa(node+1)+".pprof")
}

// profile takes a CPU profile of a node while the load lasts.
func (o *options) profile(ctx context.Context, c *servers.Cluster, node int) error {
	select {
	case <-time.After(profileDelay):
	case <-ctx.Done():
		return ctx.Err()
	}
	seconds := int((o.length - 2*profileDelay).Seconds())
	content, err := c.Get(ctx, node, "/debug/pprof/profile?seconds="+strconv.Itoa(seconds))
	if err != nil {
		return err
	}
	return os.WriteFile(o.file(node), content, 0o644)
}

// leaderOf returns the node that leads.
func leaderOf(ctx context.Context, c *servers.Cluster) (int, error) {
	for i := range c.Endpoints {
		metrics, err := c.Get(ctx, i, "/metrics")
		if err != nil {
			return 0, err
		}
		if strings.Contains(string(metrics), "\nquorate_raftstore_leader 1\n") {
			return i, nil
		}
	}
	return 0, errors.New("no node leads")
}
