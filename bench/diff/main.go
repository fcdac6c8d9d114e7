package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"syscall"
	"time"

	"quorate/bench/checkout"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "diff:", err)
		os.Exit(1)
	}
}

// scale is the amount of work of a run.
type scale struct {
	rounds    int
	alpha     float64       // of the test; the rounds suffice to go below
	benchTime time.Duration // of a micro-benchmark
	length    time.Duration // of one kind of work on three nodes
	short     bool          // only the suites for a quick look
}

var scales = map[string]scale{
	"full":  {rounds: 6, alpha: 0.01, benchTime: 200 * time.Millisecond, length: 3 * time.Second},
	"short": {rounds: 4, alpha: 0.05, benchTime: 50 * time.Millisecond, length: time.Second, short: true},
}

// options holds the flags.
type options struct {
	base, mode, only, out string
	threshold             float64
	total                 time.Duration
}

func run() error {
	var o options
	flag.StringVar(&o.base, "base", "", "the commit to compare with")
	flag.StringVar(&o.mode, "mode", "full", "full (a quarter of an hour) or short (some minutes)")
	flag.StringVar(&o.only, "only", "", "regular expression of the names of suites to run; all by default")
	flag.Float64Var(&o.threshold, "threshold", 0.05, "how much worse a figure may be")
	flag.StringVar(&o.out, "out", "", "file for the table, beside standard output")
	flag.DurationVar(&o.total, "total", 45*time.Minute, "longest time of everything")
	flag.Parse()
	s, ok := scales[o.mode]
	if !ok {
		return fmt.Errorf("-mode %q: want full or short", o.mode)
	}
	if o.base == "" {
		return errors.New("-base: want a commit")
	}
	only, err := regexp.Compile(o.only)
	if err != nil {
		return fmt.Errorf("-only: %w", err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, o.total)
	defer cancel()
	return o.compare(ctx, s, only)
}

// compare builds both, measures them and judges.
func (o *options) compare(ctx context.Context, s scale, only *regexp.Regexp) (err error) {
	dir, err := os.MkdirTemp("", "quorate-diff-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	old, err := checkout.Add(ctx, filepath.Join(dir, "source"), o.base)
	if err != nil {
		return fmt.Errorf("-base: %w", err)
	}
	defer func() { err = errors.Join(err, old.Remove(ctx)) }()
	head, err := checkout.WorkingCopy(ctx)
	if err != nil {
		return err
	}
	b := [builds]build{base: {source: old.Dir, dir: filepath.Join(dir, "base")}, changed: {source: ".", dir: filepath.Join(dir, "head")}}
	suites, err := prepare(ctx, s, only, b)
	if err != nil {
		return err
	}
	figures, err := measureAll(suites, inTurns(ctx, b, s.rounds), s.alpha, o.threshold)
	if err != nil {
		return err
	}
	text := table(figures, s, o.threshold, old.Commit, head)
	fmt.Print(text)
	if o.out != "" {
		err = os.WriteFile(o.out, []byte(text), 0o644)
	}
	return errors.Join(err, verdictOf(figures, o.threshold))
}
