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
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

// options holds the flags.
type options struct {
	mode, base, cache, dir, out string
	use                         binaries
	rounds                      int
	total                       time.Duration
}

func run() error {
	var o options
	flag.StringVar(&o.mode, "mode", "full", "full (a quarter of an hour) or quick (some minutes)")
	flag.StringVar(&o.base, "base", "", "the commit of an older build of Quorate to measure, too, which takes a third longer")
	flag.IntVar(&o.rounds, "rounds", 0, "rounds, instead of those of the mode")
	flag.StringVar(&o.use.APIServer, "kube-apiserver", "", "binary of kube-apiserver (default: built from "+kubernetesVersion+")")
	flag.StringVar(&o.use.Etcd, "etcd", "", "binary of etcd (default: built from "+etcdVersion+")")
	flag.StringVar(&o.cache, "cache", "", "folder for what is built (default: in the user's cache folder)")
	flag.StringVar(&o.dir, "dir", "", "where the servers keep their data (default: a temporary directory)")
	flag.StringVar(&o.out, "out", "bin/peers", "folder for the results")
	flag.DurationVar(&o.total, "total", 30*time.Minute, "longest time of all rounds")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return o.compare(ctx)
}

// compare builds, measures and reports, also the rounds of a run that failed.
func (o *options) compare(ctx context.Context) (err error) {
	s, ok := scales[o.mode]
	if !ok {
		return fmt.Errorf("-mode %q: want full or quick", o.mode)
	}
	s.rounds = cmp.Or(o.rounds, s.rounds)
	if o.dir == "" {
		if o.dir, err = os.MkdirTemp("", "quorate-peers-"); err != nil {
			return err
		}
		defer os.RemoveAll(o.dir)
	}
	old, programs, err := o.build(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, o.total)
	defer cancel()
	about, err := describe(ctx, programs, o.dir, o.mode)
	if err != nil {
		return err
	}
	about.Base = old.commit
	m := &measurer{scale: s, dir: o.dir, systems: systemsOf(programs, old)}
	runErr := m.rounds(ctx)
	about.Rounds = m.done
	return errors.Join(runErr, writeResults(o.out, resultsOf(about, m.systems), m.systems))
}

// build builds what is measured beside bin/quorate.
func (o *options) build(ctx context.Context) (old baseBuild, programs binaries, err error) {
	if old, err = buildBase(ctx, o.dir, o.base); err != nil {
		return old, programs, fmt.Errorf("-base: %w", err)
	}
	if o.cache == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return old, programs, fmt.Errorf("-cache: %w", err)
		}
		o.cache = filepath.Join(cache, "quorate-peers")
	}
	programs, err = buildPeer(ctx, o.cache, o.use)
	return old, programs, err
}
