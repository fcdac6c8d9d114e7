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
	"syscall"
	"time"

	"quorate/bench/generator"
	"quorate/bench/servers"
)

const (
	nodeBinary = "bin/quorate"
	// The node that joins listens at joinerHost, and the proxy in front of it at proxyHost.
	joinerHost = "127.0.0.2"
	proxyHost  = "127.0.0.1"
	// totalTimeout bounds the whole command.
	totalTimeout = time.Hour
	loadClients  = "64"
)

// options holds the flags.
type options struct {
	objects, size, writes, count    int
	logBytes, snapshotRate, tempDir string
	before, timeout                 time.Duration
	breakOnce, keep                 bool
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "join:", err)
		os.Exit(1)
	}
}

func parse() *options {
	var o options
	flag.IntVar(&o.objects, "objects", 1_000_000, "small objects in the cluster")
	flag.IntVar(&o.size, "size", 64, "bytes of the value in each object, which do not compress")
	flag.IntVar(&o.writes, "writes", 1000, "writes in a second, to other objects")
	flag.IntVar(&o.count, "nodes", 3, "nodes before the one that joins")
	flag.StringVar(&o.logBytes, "log-bytes", "16MiB", "--log-bytes of the nodes")
	flag.StringVar(&o.snapshotRate, "snapshot-rate", "", "--snapshot-rate of the nodes (default: theirs)")
	flag.StringVar(&o.tempDir, "dir", "", "folder for the data of the nodes (default: that for temporary files)")
	flag.DurationVar(&o.before, "before", 20*time.Second, "length of the phase before the node joins")
	flag.DurationVar(&o.timeout, "timeout", 5*time.Minute, "longest wait for the node to become a voter")
	flag.BoolVar(&o.breakOnce, "break", false, "break the connections to the node once, when half of the snapshot has passed")
	flag.BoolVar(&o.keep, "keep", false, "keep the data and the logs of the nodes")
	flag.Parse()
	return &o
}

func run() (err error) {
	o := parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, totalTimeout)
	defer cancel()
	dir, err := os.MkdirTemp(o.tempDir, "quorate-join-")
	if err != nil {
		return err
	}
	if o.keep {
		fmt.Println("data and logs:", dir)
	} else {
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	flags := []string{"--log-bytes", o.logBytes, "--request-log", "none"}
	if o.snapshotRate != "" {
		flags = append(flags, "--snapshot-rate", o.snapshotRate)
	}
	nodes, err := servers.StartQuorate(ctx, nodeBinary, filepath.Join(dir, "nodes"), o.count, flags...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, nodes.Stop()) }()
	if err := load(ctx, nodes, o); err != nil {
		return err
	}
	return compare(ctx, nodes, o)
}

// load creates the objects, and lets the log forget how they were created.
func load(ctx context.Context, nodes *servers.Quorate, o *options) error {
	_, measured, err := generator.Run(ctx, &nodes.Cluster, "load", "-scenario", "create", "-keep",
		"-n", strconv.Itoa(o.objects), "-sizes", strconv.Itoa(o.size), "-c", loadClients, "-max-time", "30m")
	if err != nil {
		return err
	}
	if len(measured) != 1 || measured[0].Ops != o.objects || len(measured[0].Errors) > 0 {
		return fmt.Errorf("the objects were not created: %+v", measured)
	}
	for i := range nodes.Processes {
		if err := nodes.Post(ctx, i, "/cluster/v1/snapshot"); err != nil {
			return err
		}
	}
	return nil
}
