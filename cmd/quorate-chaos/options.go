package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"quorate/chaos"
	"quorate/chaos/client"
	"quorate/chaos/nemesis"
	"quorate/chaos/nodes"
)

// readyTimeout bounds how long the nodes may take to form a cluster.
const readyTimeout = time.Minute

// options is the command line.
type options struct {
	seed                             uint64
	rounds, calm                     int
	writers, readers, watchers, keys int
	faults                           string
	json                             bool

	binary     string
	dir        string
	count      int
	flags      string
	members    string
	kubeconfig string
	kill       string
	start      string
}

func parse(args []string) (*options, error) {
	o := &options{}
	set := flag.NewFlagSet("quorate-chaos", flag.ContinueOnError)
	set.Uint64Var(&o.seed, "seed", rand.Uint64(), "decides what is random in the run")
	set.IntVar(&o.rounds, "rounds", 3, "how often each fault strikes")
	set.StringVar(&o.faults, "faults", "kill-leader,kill-follower,kill-all", "comma-separated")
	set.IntVar(&o.calm, "calm", 300, "writes acknowledged between two faults")
	set.IntVar(&o.writers, "writers", 8, "writing clients")
	set.IntVar(&o.readers, "readers", 2, "clients reading by quorum")
	set.IntVar(&o.watchers, "watchers", 6, "watching clients")
	set.IntVar(&o.keys, "keys", 20, "objects each writer cycles through")
	set.BoolVar(&o.json, "json", false, "print the report as JSON")
	set.StringVar(&o.binary, "binary", "bin/quorate", "local processes: the server")
	set.StringVar(&o.dir, "dir", "", "local processes: where data and logs go (default: a temporary folder, kept when the run fails)")
	set.IntVar(&o.count, "nodes", 3, "local processes: how many")
	set.StringVar(&o.flags, "serve-flags", "", "local processes: further flags of serve, separated by spaces")
	set.StringVar(&o.members, "members", "", "running nodes instead: name=https://host:port,...")
	set.StringVar(&o.kubeconfig, "kubeconfig", "", "running nodes: an administrator's kubeconfig")
	set.StringVar(&o.kill, "kill-command", "", "running nodes: kills node {name} at once")
	set.StringVar(&o.start, "start-command", "", "running nodes: starts node {name} again")
	if err := set.Parse(args); err != nil {
		return nil, err
	}
	return o, o.validate()
}

func (o *options) validate() error {
	known := nemesis.Faults()
	for _, f := range o.faultList() {
		if !slices.Contains(known, f) {
			return fmt.Errorf("--faults: %q is none of %v", f, known)
		}
	}
	if o.rounds < 1 || o.calm < 1 || o.writers < 1 || o.keys < 1 || o.count < 1 {
		return errors.New("--rounds, --calm, --writers, --keys and --nodes must be at least 1")
	}
	if o.members != "" && (o.kubeconfig == "" || o.kill == "" || o.start == "") {
		return errors.New("--members needs --kubeconfig, --kill-command and --start-command")
	}
	return nil
}

func (o *options) faultList() (faults []nemesis.Fault) {
	for name := range strings.SplitSeq(o.faults, ",") {
		faults = append(faults, nemesis.Fault(strings.TrimSpace(name)))
	}
	return faults
}

// fleet is a ready cluster and how to be rid of it.
type fleet struct {
	nodes.Fleet
	credentials client.Credentials
	close       func(held bool)
}

func (o *options) config(f *fleet, log *slog.Logger) chaos.Config {
	return chaos.Config{
		Fleet: f.Fleet, Credentials: f.credentials, Seed: o.seed, Rounds: o.rounds, Faults: o.faultList(), Calm: o.calm,
		Writers: o.writers, Readers: o.readers, Watchers: o.watchers, Keys: o.keys, Log: log,
	}
}

// fleet returns the cluster to hurt, ready.
func (o *options) fleet(ctx context.Context, log *slog.Logger) (*fleet, error) {
	if o.members != "" {
		return o.running()
	}
	dir := o.dir
	if dir == "" {
		made, err := os.MkdirTemp("", "quorate-chaos-")
		if err != nil {
			return nil, err
		}
		dir = made
	}
	binary, err := filepath.Abs(o.binary)
	if err != nil {
		return nil, err
	}
	processes, err := nodes.NewProcesses(binary, dir, o.count, strings.Fields(o.flags)...)
	if err != nil {
		return nil, err
	}
	log.Info("start nodes", "count", o.count, "dir", dir)
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	credentials, err := processes.StartAll(ctx)
	f := &fleet{Fleet: processes, credentials: credentials, close: func(held bool) {
		if err := processes.Close(context.Background()); err != nil {
			log.Error("end nodes", "error", err)
		}
		if held && o.dir == "" {
			os.RemoveAll(dir)
		}
	}}
	if err != nil {
		f.close(false)
		return nil, err
	}
	return f, nil
}

// running returns the cluster that the command line names.
func (o *options) running() (*fleet, error) {
	var members []nodes.Node
	for member := range strings.SplitSeq(o.members, ",") {
		name, api, ok := strings.Cut(strings.TrimSpace(member), "=")
		if !ok {
			return nil, fmt.Errorf("--members: %q is not name=https://host:port", member)
		}
		members = append(members, nodes.Node{Name: name, API: api})
	}
	credentials, err := client.ReadKubeconfig(o.kubeconfig)
	if err != nil {
		return nil, err
	}
	commands := nodes.NewCommands(members, o.kill, o.start)
	return &fleet{Fleet: commands, credentials: credentials, close: func(bool) {}}, nil
}
