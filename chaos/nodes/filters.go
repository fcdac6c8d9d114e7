package nodes

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"strings"
)

// The packet filter chains of a container that contain the fleet's rules.
const (
	chainIn  = "QUORATE_CHAOS_IN"
	chainOut = "QUORATE_CHAOS_OUT"
)

// Precise implements Network. Links can only be cut.
func (c *Containers) Precise() bool { return false }

// Shape implements Network with packet filters in the network namespaces of all running containers.
// It cuts a link between two nodes at both ends, so that the cut persists while one of the
// containers restarts. In a link, Clients stands for this machine, whose address is the gateway of
// the node's network.
func (c *Containers) Shape(ctx context.Context, rules map[Link]Rule) error {
	c.mu.Lock()
	c.rules = maps.Clone(rules)
	c.mu.Unlock()
	return c.filter(ctx)
}

// filterTries is the maximum number of attempts to set filters while containers end or start.
const filterTries = 10

// place is the current position of a container.
type place struct {
	pid     string // of its first process, which identifies its network
	address string
	gateway string
}

// filter sets the packet filters of all running containers according to the rules.
func (c *Containers) filter(ctx context.Context) error {
	c.filtering.Lock()
	defer c.filtering.Unlock()
	c.mu.Lock()
	rules := c.rules
	c.mu.Unlock()
	if !c.Able((*Network)(nil)) {
		return nil // no filters can have been set
	}
	for range filterTries {
		before, err := c.places(ctx)
		if err != nil {
			return err
		}
		failed := applyAll(ctx, before, rules)
		after, err := c.places(ctx)
		if err != nil {
			return err
		}
		if maps.Equal(before, after) {
			return failed
		} // otherwise a container has ended or started, possibly with another's address
	}
	return errors.New("filter packets: containers keep ending and starting")
}

func applyAll(ctx context.Context, places map[string]place, rules map[Link]Rule) error {
	var errs []error
	for name, p := range places {
		if err := p.apply(ctx, chains(name, p, places, rules)); err != nil {
			errs = append(errs, fmt.Errorf("filter packets of node %s: %w", name, err))
		}
	}
	return errors.Join(errs...)
}

// places returns the places of all running containers by node.
func (c *Containers) places(ctx context.Context) (map[string]place, error) {
	places := map[string]place{}
	for _, node := range c.nodes {
		p, runs, err := c.place(ctx, node.Name)
		if err != nil {
			return nil, err
		}
		if runs {
			places[node.Name] = p
		}
	}
	return places, nil
}

// place returns the place of a running container. Its address may change with each start.
func (c *Containers) place(ctx context.Context, name string) (p place, runs bool, err error) {
	const format = "{{.State.Pid}} {{range .NetworkSettings.Networks}}{{.IPAddress}} {{.Gateway}} {{end}}"
	found, err := c.inspect(ctx, name, format)
	if err != nil {
		return place{}, false, err
	}
	fields := strings.Fields(found)
	if len(fields) == 0 || fields[0] == "0" {
		return place{}, false, nil
	}
	if len(fields) != 3 {
		return place{}, false, fmt.Errorf("container of node %s: want one network, have %q", name, found)
	}
	return place{fields[0], fields[1], fields[2]}, true, nil
}

// chains returns the rules for one container as input of iptables-restore, which replaces the
// previous rules.
func chains(name string, p place, places map[string]place, rules map[Link]Rule) string {
	address := func(of string) string {
		if of == Clients {
			return p.gateway
		}
		return places[of].address // "" if it does not run
	}
	var text strings.Builder
	fmt.Fprintf(&text, "*filter\n:%s - [0:0]\n:%s - [0:0]\n", chainIn, chainOut)
	for _, link := range sortedLinks(rules) {
		switch {
		case !rules[link].Drop:
		case link.To == name && address(link.From) != "":
			fmt.Fprintf(&text, "-A %s -s %s -j DROP\n", chainIn, address(link.From))
		case link.From == name && address(link.To) != "":
			fmt.Fprintf(&text, "-A %s -d %s -j DROP\n", chainOut, address(link.To))
		}
	}
	text.WriteString("COMMIT\n")
	return text.String()
}

// apply sets the chains of a container's network and makes sure that packets pass through them.
func (p place) apply(ctx context.Context, chains string) error {
	restore := exec.CommandContext(ctx, "nsenter", "--target", p.pid, "--net", "iptables-restore", "--noflush", "--wait")
	restore.Stdin = strings.NewReader(chains)
	if out, err := restore.CombinedOutput(); err != nil {
		return fmt.Errorf("iptables-restore: %w: %s", err, strings.TrimSpace(string(out)))
	}
	for from, to := range map[string]string{"INPUT": chainIn, "OUTPUT": chainOut} {
		if _, err := p.iptables(ctx, "--check", from, "--jump", to); err == nil {
			continue // it exists
		}
		if _, err := p.iptables(ctx, "--insert", from, "--jump", to); err != nil {
			return err
		}
	}
	return nil
}

func (p place) iptables(ctx context.Context, args ...string) (string, error) {
	return output(ctx, "nsenter", append([]string{"--target", p.pid, "--net", "iptables", "--wait"}, args...)...)
}
