package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"quorate/bench/measure"
	"quorate/bench/servers"
)

// totalTimeout bounds the whole command.
const totalTimeout = time.Hour

// options holds the flags.
type options struct {
	binary, only, tempDir    string
	watches, connections     int
	creates, rounds, samples int
	rest                     time.Duration
	reflectors, objects      int
	failover                 bool
	failoverWatches          int
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "watchers:", err)
		os.Exit(1)
	}
}

func parse() *options {
	var o options
	flag.StringVar(&o.binary, "binary", "bin/quorate", "the node's binary")
	flag.StringVar(&o.only, "only", "", "the only kind of idle watches to measure (default: all)")
	flag.StringVar(&o.tempDir, "dir", "", "folder for the data of the nodes (default: that for temporary files)")
	flag.IntVar(&o.watches, "watches", 20_000, "idle watches")
	flag.IntVar(&o.connections, "connections", 100, "connections of the watches, at 250 each at most")
	flag.IntVar(&o.creates, "creates", 20_000, "objects created in each turn that concern no watch")
	flag.IntVar(&o.rounds, "rounds", 3, "turns of each node")
	flag.IntVar(&o.samples, "samples", 300, "objects created that concern one watch each")
	flag.DurationVar(&o.rest, "rest", 5*time.Second, "time at rest over which the processor time is taken")
	flag.IntVar(&o.reflectors, "reflectors", 0, "measure so many reflectors instead of idle watches")
	flag.IntVar(&o.objects, "objects", 100_000, "objects that the reflectors list")
	flag.BoolVar(&o.failover, "failover", false, "measure the death of a leader instead of idle watches")
	flag.IntVar(&o.failoverWatches, "failover-watches", 10_000, "watches for -failover")
	flag.Parse()
	o.connections = max(o.connections, (o.watches+streamsPerConnection-1)/streamsPerConnection)
	return &o
}

func run() error {
	o := parse()
	return measure.InFolder(o.tempDir, "quorate-watchers-", totalTimeout, func(ctx context.Context, dir string) error {
		switch {
		case o.failover:
			return o.failOver(ctx, dir)
		case o.reflectors > 0:
			return o.reflect(ctx, dir)
		}
		return o.idle(ctx, dir)
	})
}

// start starts nodes that allow as many watches as the experiment has.
func (o *options) start(ctx context.Context, dir, name string, count int, flags ...string) (*servers.Quorate, error) {
	bound := strconv.Itoa(max(o.watches, o.failoverWatches, o.reflectors) + 1000)
	flags = append(flags, "--request-log", "none", "--max-watches", bound, "--max-watches-per-user", bound, "--max-watches-per-address", bound)
	return servers.StartQuorate(ctx, o.binary, filepath.Join(dir, name), count, flags...)
}
