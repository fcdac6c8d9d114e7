package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"quorate/bench/measure"
	"quorate/bench/servers"
)

const (
	voters = 3
	// totalTimeout bounds the whole command.
	totalTimeout = time.Hour
)

// options holds the flags.
type options struct {
	binary, nonvoters, tempDir string
	rate, size, objects        int
	phase                      time.Duration
}

func main() {
	if err := run(parse(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "replicas:", err)
		os.Exit(1)
	}
}

func parse() *options {
	var o options
	flag.StringVar(&o.binary, "binary", "bin/quorate", "the nodes' binary")
	flag.StringVar(&o.nonvoters, "nonvoters", "0,3,6,12", "numbers of non-voters to measure with")
	flag.StringVar(&o.tempDir, "dir", "", "folder for the data of the nodes (default: that for temporary files)")
	flag.IntVar(&o.rate, "rate", 200, "writes in a second of the phase with a fixed rate")
	flag.IntVar(&o.size, "size", 1024, "bytes of the value in each object")
	flag.IntVar(&o.objects, "objects", 1000, "objects that are written and read")
	flag.DurationVar(&o.phase, "phase", 10*time.Second, "length of each phase")
	flag.Parse()
	return &o
}

func run(o *options, out *os.File) error {
	counts, err := o.counts()
	if err != nil {
		return err
	}
	return measure.InFolder(o.tempDir, "quorate-replicas-", totalTimeout, func(ctx context.Context, dir string) (err error) {
		q, err := servers.StartQuorate(ctx, o.binary, filepath.Join(dir, "nodes"), voters, "--request-log", "none")
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, q.Stop()) }()
		return o.measure(ctx, q, counts, out)
	})
}

// counts returns the numbers of non-voters, the smallest first.
func (o *options) counts() (all []int, err error) {
	for text := range strings.SplitSeq(o.nonvoters, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return nil, fmt.Errorf("-nonvoters %s: no number of nodes", text)
		}
		all = append(all, n)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}
