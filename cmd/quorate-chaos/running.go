package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"quorate/chaos/client"
	"quorate/chaos/nodes"
)

// The names and addresses of the compose file.
const (
	containerPrefix   = "quorate-"
	containerMembers  = "n1=https://127.0.0.1:6443,n2=https://127.0.0.1:6444,n3=https://127.0.0.1:6445"
	containerKubeconf = "compose-data/admin.kubeconfig"
)

// running holds the flags for nodes that are already running: their addresses, and the commands
// that act on them.
type running struct {
	containers bool
	members    string
	kubeconfig string
	commands   nodes.CommandsConfig
}

func (r *running) flags(set *flag.FlagSet) {
	set.BoolVar(&r.containers, "containers", false, "test the running containers of the compose file (make up)")
	set.StringVar(&r.members, "members", "", "running nodes: name=https://host:port,...")
	set.StringVar(&r.kubeconfig, "kubeconfig", "", "running nodes: an administrator's kubeconfig")
	c := &r.commands
	set.StringVar(&c.Kill, "kill-command", "", "running nodes: kills node {name} at once")
	set.StringVar(&c.Start, "start-command", "", "running nodes: restarts node {name}")
	set.StringVar(&c.Stop, "stop-command", "", "running nodes: stops node {name} gracefully")
	set.StringVar(&c.Pause, "pause-command", "", "running nodes: pauses node {name}")
	set.StringVar(&c.Resume, "resume-command", "", "running nodes: resumes node {name}")
	set.StringVar(&c.Wipe, "wipe-command", "", "running nodes: deletes the data of node {name}, which has ended")
	set.StringVar(&c.Running, "running-command", "", "running nodes: exits with 0 while the process of node {name} exists")
	set.StringVar(&c.Cut, "cut-command", "", "running nodes: drops packets from node {from} to node {to}; the clients are a node called "+nodes.Clients)
	set.StringVar(&c.Heal, "heal-command", "", "running nodes: undoes --cut-command")
}

func (r *running) validate() error {
	if r.containers && r.members != "" {
		return errors.New("--containers and --members both select the nodes: give one")
	}
	if r.members != "" && (r.kubeconfig == "" || r.commands.Kill == "" || r.commands.Start == "") {
		return errors.New("--members needs --kubeconfig, --kill-command and --start-command")
	}
	return nil
}

// fleet returns the cluster to test, once it is ready.
func (o *options) fleet(ctx context.Context, log *slog.Logger) (*fleet, error) {
	switch {
	case o.running.containers:
		return containers(ctx)
	case o.running.members != "":
		return o.running.fleet(ctx, &o.local)
	default:
		return o.local.start(ctx, o.seed, log)
	}
}

// containers returns the cluster of the compose file, once it is ready.
func containers(ctx context.Context) (*fleet, error) {
	members, err := parseMembers(containerMembers)
	if err != nil {
		return nil, err
	}
	credentials, err := client.ReadKubeconfig(containerKubeconf)
	if err != nil {
		return nil, fmt.Errorf("%w: start the containers with make up", err)
	}
	fleetOf, err := nodes.NewContainers(ctx, containerPrefix, members)
	if err != nil {
		return nil, fmt.Errorf("%w: start the containers with make up", err)
	}
	return &fleet{Fleet: fleetOf, credentials: credentials, close: func(bool) error { return nil }}, nil
}

// fleet returns the cluster that the command line names. The faults that use the operator's
// commands need a binary on this machine; a binary that was named must exist.
func (r *running) fleet(ctx context.Context, l *local) (*fleet, error) {
	binary, err := l.built()
	if err != nil && l.binary != defaultBinary {
		return nil, err
	}
	members, err := parseMembers(r.members)
	if err != nil {
		return nil, fmt.Errorf("--members: %w", err)
	}
	credentials, err := client.ReadKubeconfig(r.kubeconfig)
	if err != nil {
		return nil, err
	}
	config := r.commands
	config.Nodes, config.Binary, config.Kubeconfig = members, binary, r.kubeconfig
	commands, err := nodes.NewCommands(config)
	if err != nil {
		return nil, err
	}
	if err := allNamed(ctx, members, credentials); err != nil {
		return nil, fmt.Errorf("--members: %w", err)
	}
	return &fleet{Fleet: commands, credentials: credentials, close: func(bool) error { return nil }}, nil
}

// askTimeout bounds the request for the list of members.
const askTimeout = 10 * time.Second

// allNamed returns an error unless the named nodes are exactly the members of their cluster. Any
// member may lead and be killed, and one that is not named would not be restarted.
func allNamed(ctx context.Context, named []nodes.Node, credentials client.Credentials) error {
	var told []client.Member
	var errs []error
	for _, node := range named {
		members, err := membersBy(ctx, node, credentials)
		if err == nil {
			told = members
			break
		}
		errs = append(errs, fmt.Errorf("ask %s: %w", node.Name, err))
	}
	if told == nil {
		return errors.Join(errs...)
	}
	for _, m := range told {
		if !slices.ContainsFunc(named, func(n nodes.Node) bool { return n.Name == m.Name }) {
			return fmt.Errorf("the cluster has a member %s: name all of its members", m.Name)
		}
	}
	for _, n := range named {
		if !slices.ContainsFunc(told, func(m client.Member) bool { return m.Name == n.Name }) {
			return fmt.Errorf("the cluster has no member %s: use the names of quorate members", n.Name)
		}
	}
	return nil
}

func membersBy(ctx context.Context, node nodes.Node, credentials client.Credentials) ([]client.Member, error) {
	one, err := client.New(node.API, credentials)
	if err != nil {
		return nil, err
	}
	defer one.Close()
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	return one.Members(ctx)
}

func parseMembers(text string) (members []nodes.Node, err error) {
	for member := range strings.SplitSeq(text, ",") {
		name, api, ok := strings.Cut(strings.TrimSpace(member), "=")
		if !ok || name == "" || !strings.HasPrefix(api, "https://") {
			return nil, fmt.Errorf("%q is not name=https://host:port", member)
		}
		if slices.ContainsFunc(members, func(n nodes.Node) bool { return n.Name == name || n.API == api }) {
			return nil, fmt.Errorf("%q is given twice", member)
		}
		members = append(members, nodes.Node{Name: name, API: api})
	}
	return members, nil
}
