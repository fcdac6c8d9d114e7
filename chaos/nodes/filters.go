package nodes

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"strings"
)

// The chains of a container's packet filter that hold a fleet's rules.
const (
	chainIn  = "QUORATE_CHAOS_IN"
	chainOut = "QUORATE_CHAOS_OUT"
)

// Precise implements Network: links are good, or cut.
func (c *Containers) Precise() bool { return false }

// Shape implements Network with a packet filter in the network of each container that runs. A cut
// is made at both ends, so that it holds while one of them starts again. The place of clients is
// this machine, as containers see it: their network's gateway.
func (c *Containers) Shape(ctx context.Context, rules map[Link]Rule) error {
	c.mu.Lock()
	c.rules = maps.Clone(rules)
	c.mu.Unlock()
	return c.filter(ctx)
}

// filterTries bounds how often filters are set again because containers ended or started meanwhile.
const filterTries = 10

// place is where a container is now.
type place struct {
	pid     string // of its first process, which has its network
	address string
	gateway string
}

// filter makes the packet filters of all containers that run be what the rules say.
func (c *Containers) filter(ctx context.Context) error {
	c.filtering.Lock()
	defer c.filtering.Unlock()
	c.mu.Lock()
	rules := c.rules
	c.mu.Unlock()
	if !c.Able((*Network)(nil)) {
		return nil // nobody could have set any
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
		} // else a container has ended or started meanwhile, maybe at another's address
	}
	return errors.New("filter packets: containers end and start all the while")
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

// places are those of all containers that run, by node.
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

// place finds a container that runs. Its address may be another after each start.
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

// chains is what one container is to drop, as iptables-restore reads it: it empties the chains
// first.
func chains(name string, p place, places map[string]place, rules map[Link]Rule) string {
	address := func(of string) string {
		if of == Clients {
			return p.gateway
		}
		return places[of].address // empty while it doesn't run
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

// apply sets the chains of a container's network and sees to it that packets pass them.
func (p place) apply(ctx context.Context, chains string) error {
	restore := exec.CommandContext(ctx, "nsenter", "--target", p.pid, "--net", "iptables-restore", "--noflush", "--wait")
	restore.Stdin = strings.NewReader(chains)
	if out, err := restore.CombinedOutput(); err != nil {
		return fmt.Errorf("iptables-restore: %w: %s", err, strings.TrimSpace(string(out)))
	}
	for from, to := range map[string]string{"INPUT": chainIn, "OUTPUT": chainOut} {
		if _, err := p.iptables(ctx, "--check", from, "--jump", to); err == nil {
			continue // it is there
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
