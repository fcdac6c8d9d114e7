package main

import (
	"context"
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

// totalTimeout bounds the whole command.
const totalTimeout = 2 * time.Hour

// options holds the flags.
type options struct {
	binary, objects, tempDir string
	operations, writes       int
	value                    int // bytes
	phase                    time.Duration
	settle                   time.Duration // for which the node is left alone before its memory is read
	repeat                   time.Duration // of a list of a shape
	shapes                   bool
	part                     float64
}

func main() {
	if err := run(parse(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "size:", err)
		os.Exit(1)
	}
}

func parse() *options {
	var o options
	flag.StringVar(&o.binary, "binary", "bin/quorate", "the node's binary")
	flag.StringVar(&o.objects, "objects", "50000,200000,1000000", "numbers of objects to measure at")
	flag.StringVar(&o.tempDir, "dir", "", "folder for the data of the node (default: that for temporary files)")
	flag.IntVar(&o.value, "value", 64, "bytes of the value of each object")
	flag.IntVar(&o.operations, "operations", 100_000, "creates, and gets, that are measured at each number")
	flag.IntVar(&o.writes, "writes", 500, "writes in a second beside a snapshot")
	flag.DurationVar(&o.phase, "phase", 6*time.Second, "length of the phases with and without a snapshot being written")
	flag.DurationVar(&o.settle, "settle", 2*time.Second, "time for which the node is left alone before its memory is read")
	flag.DurationVar(&o.repeat, "repeat", time.Second, "time for which each list of a shape is repeated")
	flag.BoolVar(&o.shapes, "shapes", false, "measure states of other shapes")
	flag.Float64Var(&o.part, "part", 1, "part of the numbers of the shapes")
	flag.Parse()
	return &o
}

func run(o *options, out *os.File) error {
	return measure.InFolder(o.tempDir, "quorate-size-", totalTimeout, func(ctx context.Context, dir string) error {
		if o.shapes {
			return o.measureShapes(ctx, dir, out)
		}
		return o.measureSizes(ctx, dir, out)
	})
}

// sizes returns the numbers of objects, the smallest first.
func (o *options) sizes() (all []int, err error) {
	for text := range strings.SplitSeq(o.objects, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("-objects %s: no number of objects", text)
		}
		all = append(all, n)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

func (o *options) start(ctx context.Context, dir, name string) (*servers.Quorate, error) {
	return servers.StartQuorate(ctx, o.binary, filepath.Join(dir, name), 1, "--request-log", "none")
}
