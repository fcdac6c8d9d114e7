package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"quorate/chaos"
	"quorate/chaos/workload"
)

// options holds the flags.
type options struct {
	seed     uint64
	faults   string
	rounds   int
	duration time.Duration
	phase    time.Duration
	calm     int
	workload string
	bounds   float64
	idle     time.Duration
	load     workload.Config
	mixture  chaos.MixtureConfig
	drawings string
	report   string
	json     bool
	quiet    bool
	list     bool

	local   local
	running running
}

const usage = `quorate-chaos injects faults into a Quorate cluster while clients use it, and reports whether every promise held.

  quorate-chaos [FLAGS]                                 three local processes, each fault once
  quorate-chaos --nodes 5 --duration 1h [FLAGS]         five, all faults mixed
  quorate-chaos --containers [FLAGS]                    the containers of the compose file
  quorate-chaos --members NAME=https://HOST:PORT,... --kubeconfig FILE \
      --kill-command 'ssh {name} ...' --start-command 'ssh {name} ...' [FLAGS]     a cluster of yours

Exit code 0: every promise held; 1: BROKEN, or undecided; 2: the run could not be completed.

Flags:
`

// parse parses the command line. It prints help to out.
func parse(args []string, out io.Writer) (*options, error) {
	o := &options{}
	set := flag.NewFlagSet("quorate-chaos", flag.ContinueOnError)
	set.SetOutput(io.Discard) // main prints errors, once
	set.Uint64Var(&o.seed, "seed", 0, "seed of all random choices of the run (default: a random one)")
	set.StringVar(&o.faults, "faults", "all", "comma-separated; all: whatever can be done to these nodes; idle: the phases without writes (--list says what there is); none, with --duration")
	set.IntVar(&o.rounds, "rounds", 1, "how often each fault is injected")
	set.Float64Var(&o.bounds, "bound-scale", 1, "multiplies how long each fault may interrupt writes and reads; use serve's --timeout-scale")
	set.DurationVar(&o.duration, "duration", 0, "mix overlapping faults for this long, instead of injecting them one after the other")
	set.DurationVar(&o.phase, "phase", 2*time.Minute, "how long faults are mixed before all are healed and the history is checked")
	set.DurationVar(&o.idle, "idle", time.Minute, "shortest duration of a phase without writes; 0: none unless --faults names them")
	set.IntVar(&o.calm, "calm", 0, "acknowledged writes that show that writes continue (default: a quarter more than clients)")
	set.StringVar(&o.workload, "workload", workloadAll, "what clients do: keys (the other clients), mixture (of watches), or all")
	set.IntVar(&o.mixture.Watches, "mixture-watches", 240, "watches of the mixture")
	set.Float64Var(&o.mixture.Rate, "mixture-rate", 80, "writes a second to the objects that the mixture watches")
	set.IntVar(&o.load.Clients, "clients", 240, "clients that create, read, replace and delete")
	set.IntVar(&o.load.Keys, "keys", 0, "concurrent objects (default: half as many as clients)")
	set.IntVar(&o.load.Listers, "listers", 4, "clients that list by quorum")
	set.IntVar(&o.load.Pagers, "pagers", 4, "clients that list in pages")
	set.IntVar(&o.load.CachedReaders, "cached-readers", 12, "clients that read the nodes' own states")
	set.IntVar(&o.load.Watchers, "watchers", 12, "clients that watch")
	set.Float64Var(&o.load.Rate, "rate", 800, "requests a second of all clients together; 0: as many as the cluster serves")
	set.StringVar(&o.drawings, "drawings", "", "folder for drawings of histories that are not linearizable (created if needed)")
	set.StringVar(&o.report, "report", "", "file for a report in HTML: verdict, faults against throughput, latency and outages, drawings")
	set.BoolVar(&o.json, "json", false, "print the report as JSON")
	set.BoolVar(&o.quiet, "quiet", false, "log warnings only")
	set.BoolVar(&o.list, "list", false, "list the faults and end")
	o.local.flags(set)
	o.running.flags(set)
	err := set.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(out, usage)
		set.SetOutput(out)
		set.PrintDefaults()
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("%w (--help lists the flags)", err)
	case set.NArg() > 0:
		return nil, fmt.Errorf("%q is no flag", set.Arg(0))
	}
	given := map[string]bool{}
	set.Visit(func(f *flag.Flag) { given[f.Name] = true })
	if !given["seed"] {
		o.seed = rand.Uint64()
	}
	if !given["calm"] {
		o.calm = o.load.Clients + o.load.Clients/4 + 1
	}
	if err := errors.Join(o.validate(), o.useless(given)); err != nil {
		return o, err
	}
	o.choose(given["calm"])
	return o, nil
}

// The values of --workload.
const (
	workloadAll     = "all"
	workloadKeys    = "keys"
	workloadMixture = "mixture"
)

// mixtureCalm is the number of writes of the mixture alone that show that writes continue: more
// than it has writers.
const mixtureCalm = 60

// choose removes the clients that --workload excludes. One watcher remains in addition to the
// mixture, by which the end of the run verifies that all nodes have the same state.
func (o *options) choose(calmGiven bool) {
	switch o.workload {
	case workloadKeys:
		o.mixture = chaos.MixtureConfig{}
	case workloadMixture:
		o.load.Clients, o.load.Listers, o.load.Pagers, o.load.CachedReaders, o.load.Watchers = 0, 0, 0, 0, 1
		if !calmGiven {
			o.calm = mixtureCalm
		}
	}
}

func (o *options) validate() error {
	l := o.load
	switch {
	case o.rounds < 1 || l.Clients < 1 || o.local.count < 1:
		return errors.New("--rounds, --clients and --nodes must be at least 1")
	case l.Watchers < 1:
		return errors.New("--watchers must be at least 1: their events verify the other clients")
	case l.Keys < 0 || l.Listers < 0 || l.Pagers < 0 || l.CachedReaders < 0 || l.Rate < 0:
		return errors.New("--keys, --listers, --pagers, --cached-readers and --rate must not be negative")
	case o.calm <= l.Clients:
		return fmt.Errorf("--calm must be more than the %d clients, each of which may have a pending response", l.Clients)
	case o.idle < 0:
		return errors.New("--idle must not be negative")
	case o.bounds <= 0:
		return errors.New("--bound-scale must be positive")
	case o.duration < 0 || o.phase <= 0:
		return errors.New("--duration and --phase must be positive")
	}
	if err := o.validateMixture(); err != nil {
		return err
	}
	if o.faults != allFaults && o.faults != noFaults {
		if err := known(o.faultNames()); err != nil {
			return fmt.Errorf("--faults: %w: --list says what there is", err)
		}
	}
	if o.drawings != "" {
		if err := os.MkdirAll(o.drawings, 0o755); err != nil {
			return fmt.Errorf("--drawings: %w", err)
		}
	}
	if o.report != "" {
		if _, err := os.Stat(filepath.Dir(o.report)); err != nil {
			return fmt.Errorf("--report: %w", err)
		}
	}
	return o.running.validate()
}

// noFaults is the value of --faults for a run without faults.
const noFaults = "none"

func (o *options) validateMixture() error {
	switch {
	case !slices.Contains([]string{workloadAll, workloadKeys, workloadMixture}, o.workload):
		return fmt.Errorf("--workload %q: want %s, %s or %s", o.workload, workloadAll, workloadKeys, workloadMixture)
	case o.workload != workloadKeys && (o.mixture.Watches < 1 || o.mixture.Rate <= 0):
		return errors.New("--mixture-watches and --mixture-rate must be positive")
	case o.faults == noFaults && o.duration == 0:
		return errors.New("--faults none needs --duration")
	}
	return nil
}

// useless returns an error for flags that would have no effect, because the user expects them to
// have one.
func (o *options) useless(given map[string]bool) error {
	var errs []error
	unless := func(fits bool, needs string, names ...string) {
		for _, name := range names {
			if given[name] && !fits {
				errs = append(errs, fmt.Errorf("--%s is only for %s", name, needs))
			}
		}
	}
	runs := o.running.containers || o.running.members != ""
	unless(!o.running.containers, "local processes and nodes given by --members", "binary")
	unless(!runs, "local processes, without --containers and --members", "dir", "nodes", "serve-flags", "failpoints", "plain")
	unless(o.running.members != "", "nodes given by --members", "kubeconfig", "kill-command", "start-command", "stop-command", "pause-command",
		"resume-command", "wipe-command", "running-command", "cut-command", "heal-command")
	unless(o.workload != workloadKeys, "the mixture of watches", "mixture-watches", "mixture-rate")
	unless(o.workload != workloadMixture, "the clients that --workload mixture leaves out",
		"clients", "keys", "listers", "pagers", "cached-readers", "watchers", "rate")
	unless(o.duration > 0, "faults that are mixed, by --duration", "phase")
	unless(o.duration == 0, "faults that are injected one at a time, without --duration", "rounds")
	return errors.Join(errs...)
}

func (o *options) faultNames() (names []string) {
	for name := range strings.SplitSeq(o.faults, ",") {
		names = append(names, strings.TrimSpace(name))
	}
	return names
}

func (o *options) level() slog.Level {
	if o.quiet {
		return slog.LevelWarn
	}
	return slog.LevelInfo
}
