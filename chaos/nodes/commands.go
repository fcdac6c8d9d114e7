package nodes

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
)

// Commands is a Fleet that somebody else runs: given addresses, and a command each that kills and starts a node, in which
// {name} stands for the node's name.
type Commands struct {
	nodes       []Node
	kill, start string
}

// NewCommands returns a fleet of running nodes. The commands are split at spaces and run without a shell.
func NewCommands(nodes []Node, kill, start string) *Commands {
	return &Commands{nodes: nodes, kill: kill, start: start}
}

// Nodes implements Fleet.
func (c *Commands) Nodes() []Node { return c.nodes }

// Kill implements Fleet.
func (c *Commands) Kill(ctx context.Context, name string) error { return run(ctx, c.kill, name) }

// Start implements Fleet.
func (c *Commands) Start(ctx context.Context, name string) error { return run(ctx, c.start, name) }

func run(ctx context.Context, command, name string) error {
	fields := strings.Fields(strings.ReplaceAll(command, "{name}", name))
	if len(fields) == 0 {
		return fmt.Errorf("no command to do this to node %s", name)
	}
	out, err := exec.CommandContext(ctx, fields[0], fields[1:]...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(fields, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}
