package nodes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// dataMount is the data directory in the image, and containerBinary is the server.
const (
	dataMount       = "/data"
	containerBinary = "/quorate"
)

// Containers is a Fleet of containers on this machine's Docker engine, such as those of
// docker-compose.yml. It uses the docker command. Links and data can only be accessed by root.
type Containers struct {
	prefix string
	nodes  []Node

	mu    sync.Mutex
	rules map[Link]Rule // guarded by mu
	// filtering serializes setting packet filters.
	filtering sync.Mutex
}

// NewContainers returns a fleet of existing containers. A node's container is named prefix followed
// by the node's name, such as quorate-n1.
func NewContainers(ctx context.Context, prefix string, nodes []Node) (*Containers, error) {
	c := &Containers{prefix: prefix, nodes: slices.Clone(nodes)}
	if len(nodes) == 0 {
		return nil, errors.New("there are no nodes")
	}
	for _, node := range nodes {
		if _, err := c.inspect(ctx, node.Name, "{{.Id}}"); err != nil {
			return nil, fmt.Errorf("container of node %s: %w", node.Name, err)
		}
	}
	return c, nil
}

// Able reports whether this process has the permissions for a capability; see As.
func (c *Containers) Able(capability any) bool {
	switch capability.(type) {
	case *Wiper:
		return os.Geteuid() == 0
	case *Network:
		return os.Geteuid() == 0 && installed("nsenter") && installed("iptables") && installed("iptables-restore")
	default:
		return true // or there is no method for the capability
	}
}

func installed(command string) bool {
	_, err := exec.LookPath(command)
	return err == nil
}

// Nodes implements Fleet.
func (c *Containers) Nodes() []Node { return slices.Clone(c.nodes) }

// Kill implements Fleet.
func (c *Containers) Kill(ctx context.Context, name string) error {
	if err := c.docker(ctx, "kill", name); err != nil {
		return err
	}
	return c.awaitEnd(ctx, name)
}

// Start implements Fleet. It restores active cuts, because the container gets a new network.
func (c *Containers) Start(ctx context.Context, name string) error {
	if err := c.docker(ctx, "start", name); err != nil {
		return err
	}
	c.mu.Lock()
	shaped := len(c.rules) > 0
	c.mu.Unlock()
	if !shaped {
		return nil
	}
	return c.filter(ctx)
}

// Stop implements Stopper.
func (c *Containers) Stop(ctx context.Context, name string) error {
	if err := c.docker(ctx, "stop", name); err != nil {
		return err
	}
	return c.awaitEnd(ctx, name)
}

func (c *Containers) awaitEnd(ctx context.Context, name string) error {
	var runs bool
	var err error
	waited := Await(ctx, func() bool {
		runs, err = c.Running(ctx, name)
		return err == nil && !runs
	})
	if waited != nil {
		return fmt.Errorf("node %s has not ended: %w", name, errors.Join(waited, err))
	}
	return nil
}

// Pause implements Pauser.
func (c *Containers) Pause(ctx context.Context, name string) error {
	return c.docker(ctx, "pause", name)
}

// Resume implements Pauser.
func (c *Containers) Resume(ctx context.Context, name string) error {
	return c.docker(ctx, "unpause", name)
}

// Running implements Running.
func (c *Containers) Running(ctx context.Context, name string) (bool, error) {
	running, err := c.inspect(ctx, name, "{{.State.Running}}")
	return running == "true", err
}

// Wipe implements Wiper. It does not remove the volume itself.
func (c *Containers) Wipe(ctx context.Context, name string) error {
	runs, err := c.Running(ctx, name)
	if err != nil {
		return err
	}
	if runs {
		return fmt.Errorf("wipe node %s: it runs", name)
	}
	dir, err := c.inspect(ctx, name, `{{range .Mounts}}{{if eq .Destination "`+dataMount+`"}}{{.Source}}{{end}}{{end}}`)
	if err != nil {
		return err
	}
	if !filepath.IsAbs(dir) {
		return fmt.Errorf("wipe node %s: nothing is mounted at %s", name, dataMount)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if err := os.RemoveAll(filepath.Join(dir, entry.Name())); err != nil {
			return err
		}
	}
	return nil
}

// Operate implements Operator. The command runs in the node's container.
func (c *Containers) Operate(ctx context.Context, name string, args ...string) (string, error) {
	command := append([]string{"exec", c.prefix + name, containerBinary}, args...)
	return output(ctx, "docker", append(command, "--data-dir", dataMount)...)
}

// LogTail returns the last lines of a node's log.
func (c *Containers) LogTail(name string, count int) (string, error) {
	out, err := exec.Command("docker", "logs", "--tail", fmt.Sprint(count), c.prefix+name).CombinedOutput()
	return string(out), err
}

// docker runs a docker command for one container.
func (c *Containers) docker(ctx context.Context, verb, name string) error {
	_, err := output(ctx, "docker", verb, c.prefix+name)
	return err
}

func (c *Containers) inspect(ctx context.Context, name, format string) (string, error) {
	out, err := output(ctx, "docker", "inspect", "--type", "container", "--format", format, c.prefix+name)
	return strings.TrimSpace(out), err
}
