package nodes

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"sync"
)

// CommandsConfig contains the nodes of a running cluster and the commands that operate on them. In
// a command, {name} stands for the node's name. Commands are split at spaces and run without a
// shell. Kill and Start are required. The fleet lacks each capability whose command is empty.
type CommandsConfig struct {
	Nodes         []Node
	Kill, Start   string
	Stop          string
	Pause, Resume string
	Wipe          string
	// Running exits with 0 while the node's process exists. Exit status 255 is an error of ssh and
	// means that this is unknown.
	Running string
	// Cut drops the packets from node {from} to node {to}, and Heal ends that. Clients is the name
	// for all clients.
	Cut, Heal string
	// Binary and Kubeconfig are used to run operator commands on this machine.
	Binary, Kubeconfig string
}

// Commands is a Fleet of nodes that already run.
type Commands struct {
	c CommandsConfig

	mu  sync.Mutex
	cut map[Link]bool // guarded by mu
}

// NewCommands returns a fleet of running nodes.
func NewCommands(c CommandsConfig) (*Commands, error) {
	switch {
	case len(c.Nodes) == 0:
		return nil, errors.New("there are no nodes")
	case strings.TrimSpace(c.Kill) == "" || strings.TrimSpace(c.Start) == "":
		return nil, errors.New("there must be commands that kill and start a node")
	case (c.Pause == "") != (c.Resume == ""):
		return nil, errors.New("the commands that pause a node and let it go on belong together")
	case c.Binary != "" && c.Kubeconfig == "":
		return nil, errors.New("the operator's commands need a kubeconfig")
	case (c.Cut == "") != (c.Heal == ""):
		return nil, errors.New("the commands that cut and heal a link belong together")
	}
	return &Commands{c: c, cut: map[Link]bool{}}, nil
}

// Able reports whether the commands for a capability are configured; see As.
func (c *Commands) Able(capability any) bool {
	switch capability.(type) {
	case *Stopper:
		return c.c.Stop != ""
	case *Pauser:
		return c.c.Pause != ""
	case *Wiper:
		return c.c.Wipe != ""
	case *Running:
		return c.c.Running != ""
	case *Operator:
		return c.c.Binary != ""
	case *Network:
		return c.c.Cut != ""
	default:
		return true // or there is no method for the capability
	}
}

// Nodes implements Fleet.
func (c *Commands) Nodes() []Node { return slices.Clone(c.c.Nodes) }

// Kill implements Fleet.
func (c *Commands) Kill(ctx context.Context, name string) error {
	return run(ctx, c.c.Kill, "{name}", name)
}

// Start implements Fleet.
func (c *Commands) Start(ctx context.Context, name string) error {
	return run(ctx, c.c.Start, "{name}", name)
}

// Stop implements Stopper.
func (c *Commands) Stop(ctx context.Context, name string) error {
	return run(ctx, c.c.Stop, "{name}", name)
}

// Pause implements Pauser.
func (c *Commands) Pause(ctx context.Context, name string) error {
	return run(ctx, c.c.Pause, "{name}", name)
}

// Resume implements Pauser.
func (c *Commands) Resume(ctx context.Context, name string) error {
	return run(ctx, c.c.Resume, "{name}", name)
}

// Wipe implements Wiper.
func (c *Commands) Wipe(ctx context.Context, name string) error {
	return run(ctx, c.c.Wipe, "{name}", name)
}

// sshFailed is the exit status of ssh if it could not run the command.
const sshFailed = 255

// Running implements Running.
func (c *Commands) Running(ctx context.Context, name string) (bool, error) {
	err := run(ctx, c.c.Running, "{name}", name)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.Exited() && exit.ExitCode() != sshFailed {
		return false, nil
	}
	return err == nil, err
}

// Operate implements Operator. The command uses the node's API.
func (c *Commands) Operate(ctx context.Context, name string, args ...string) (string, error) {
	i := slices.IndexFunc(c.c.Nodes, func(n Node) bool { return n.Name == name })
	if i < 0 {
		return "", fmt.Errorf("there is no node %s", name)
	}
	return output(ctx, c.c.Binary, append(slices.Clone(args), "--kubeconfig", c.c.Kubeconfig, "--server", c.c.Nodes[i].API)...)
}

// Precise implements Network. Commands can only cut and heal links.
func (c *Commands) Precise() bool { return false }

// Shape implements Network. It runs a command for each link that changes. If a command fails, the
// next call runs it again.
func (c *Commands) Shape(ctx context.Context, rules map[Link]Rule) error {
	c.mu.Lock()
	defer c.mu.Unlock() // held throughout, so that commands for the same link run in order
	var errs []error
	for _, link := range sortedLinks(c.cut) {
		if rules[link].Drop {
			continue
		}
		err := run(ctx, c.c.Heal, "{from}", link.From, "{to}", link.To)
		if err == nil {
			delete(c.cut, link)
		}
		errs = append(errs, err)
	}
	for _, link := range sortedLinks(rules) {
		if !rules[link].Drop || c.cut[link] {
			continue
		}
		err := run(ctx, c.c.Cut, "{from}", link.From, "{to}", link.To)
		if err == nil {
			c.cut[link] = true
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func sortedLinks[V any](links map[Link]V) []Link {
	return slices.SortedFunc(maps.Keys(links), func(a, b Link) int { return strings.Compare(a.String(), b.String()) })
}

// run runs a command. words are pairs of placeholders and their replacements.
func run(ctx context.Context, command string, words ...string) error {
	fields := strings.Fields(command)
	if len(fields) == 0 {
		return errors.New("there is no command for this")
	}
	replace := strings.NewReplacer(words...)
	for i := range fields { // a replacement is one word, even if it contains spaces
		fields[i] = replace.Replace(fields[i])
	}
	_, err := output(ctx, fields[0], fields[1:]...)
	return err
}

// output runs a command and returns its standard output. Errors contain its standard error.
func output(ctx context.Context, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		said := strings.TrimSpace(stderr.String() + " " + string(out))
		return "", fmt.Errorf("%s: %w: %s", strings.Join(append([]string{name}, args...), " "), err, said)
	}
	return string(out), nil
}
