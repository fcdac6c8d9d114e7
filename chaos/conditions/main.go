package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// options are the flags.
type options struct {
	binary  string
	only    string
	each    time.Duration
	hold    time.Duration
	clients int
}

func main() {
	var o options
	flag.StringVar(&o.binary, "binary", "bin/quorate", "the nodes' binary")
	flag.StringVar(&o.only, "only", "distance,disks", "the tables to make, separated by commas")
	flag.DurationVar(&o.each, "each", 5*time.Second, "length of each measurement")
	flag.DurationVar(&o.hold, "hold", 0, "how long to watch for elections under the largest round trip")
	flag.IntVar(&o.clients, "clients", 1000, "clients of the measurement of throughput at a distance")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, &o); err != nil {
		fmt.Fprintln(os.Stderr, "conditions:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o *options) error {
	tables := map[string]func(context.Context, *options) error{"distance": distance, "disks": disks}
	for name := range strings.SplitSeq(o.only, ",") {
		table, ok := tables[name]
		if !ok {
			return fmt.Errorf("-only: there is no table %q: want distance or disks", name)
		}
		if err := table(ctx, o); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// with runs work on a cluster of three nodes in a temporary directory.
func with(ctx context.Context, o *options, work func(*cluster) error) (err error) {
	dir, err := os.MkdirTemp("", "quorate-conditions-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	c, err := start(ctx, o, dir)
	if err != nil {
		return err
	}
	return errors.Join(work(c), c.close())
}
