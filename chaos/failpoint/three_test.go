package failpoint_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"quorate/chaos/client"
)

// trio is a cluster of three processes.
type trio struct {
	t     *testing.T
	nodes []*server
}

// newTrio starts three nodes, and waits until they are one cluster.
func newTrio(t *testing.T, flags ...string) *trio {
	t.Helper()
	c := prepareTrio(t, flags...)
	for _, n := range c.nodes {
		n.start(nil)
	}
	c.awaitReady()
	c.awaitVoters()
	return c
}

// prepareTrio makes three nodes that are to form a cluster.
func prepareTrio(t *testing.T, flags ...string) *trio {
	t.Helper()
	c := &trio{t: t}
	key := filepath.Join(t.TempDir(), "cluster.key")
	if err := os.WriteFile(key, []byte(strings.Repeat("q", 43)+"=\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var gossip []string
	for i := range 3 {
		n := newServer(t, fmt.Sprintf("n%d", i+1), append([]string{
			"--bootstrap-expect", "3", "--cluster-key-file", key,
		}, flags...)...)
		c.nodes = append(c.nodes, n)
		gossip = append(gossip, n.gossip())
	}
	for _, n := range c.nodes {
		n.flags = append(n.flags, "--join", strings.Join(gossip, ","))
	}
	return c
}

// in is the cluster as a subtest sees it.
func (c *trio) in(t *testing.T) *trio {
	c.t = t
	for _, n := range c.nodes {
		n.t = t
	}
	return c
}

func (c *trio) awaitReady() {
	c.t.Helper()
	for _, n := range c.nodes {
		if !n.awaitReady() {
			c.t.Fatalf("%s ended instead of getting ready:\n%s", n.name, tail(n.process.output.String(), 2000))
		}
	}
}

// members asks any node for the roles of the members by name.
func (c *trio) members() map[string]string {
	ctx, cancel := context.WithTimeout(c.t.Context(), requestTimeout)
	defer cancel()
	roles := map[string]string{}
	for _, n := range c.nodes {
		if n.gone() {
			continue
		}
		members, err := n.client.Members(ctx)
		if err != nil {
			continue
		}
		for _, m := range members {
			roles[m.Name] = m.Role
		}
		return roles
	}
	return roles
}

// awaitVoters waits until all three may vote.
func (c *trio) awaitVoters() {
	c.t.Helper()
	await(c.t, "three voters", func() bool {
		voters := 0
		for _, role := range c.members() {
			if role == "voter" || role == "leader" {
				voters++
			}
		}
		return voters == len(c.nodes)
	})
}

// leading returns the node that leads and runs, nil when there is none.
func (c *trio) leading() *server {
	roles := c.members()
	for _, n := range c.nodes {
		if roles[n.name] == "leader" && !n.gone() {
			return n
		}
	}
	return nil
}

// leader waits for a node that leads.
func (c *trio) leader() (leader *server) {
	c.t.Helper()
	await(c.t, "a leader", func() bool {
		leader = c.leading()
		return leader != nil
	})
	return leader
}

// followers are all nodes but one.
func (c *trio) followers(leader *server) []*server {
	return slices.DeleteFunc(slices.Clone(c.nodes), func(n *server) bool { return n == leader })
}

func clients(nodes ...*server) []*client.Client {
	var all []*client.Client
	for _, n := range nodes {
		all = append(all, n.client)
	}
	return all
}

// each runs a subtest for each point, in which end must have a node end there, and checks
// everything once all are back.
func (c *trio) each(t *testing.T, l *ledger, points []string, end func(point string) *server) {
	for _, point := range points {
		if !t.Run(point, func(t *testing.T) {
			c.in(t)
			l.in(t)
			dead := end(point)
			dead.awaitKilled(point)
			dead.run()
			c.verify(l)
		}) {
			return // the nodes may be in any state
		}
	}
	c.in(t).agree()
}

// verify waits until all nodes are back, and finds everything on each.
func (c *trio) verify(l *ledger) {
	c.t.Helper()
	c.awaitReady()
	for _, n := range c.nodes {
		l.verify(n.client)
	}
	l.some(handful, clients(c.nodes...)...)
}

// agree compares the states of all nodes.
func (c *trio) agree() {
	c.t.Helper()
	var sums client.Checksums
	await(c.t, "the checksums of all nodes", func() (known bool) {
		ctx, cancel := context.WithTimeout(c.t.Context(), requestTimeout)
		defer cancel()
		var err error
		sums, err = c.nodes[0].client.Checksums(ctx)
		return err == nil && len(sums.Nodes) == len(c.nodes) &&
			!slices.ContainsFunc(sums.Nodes, func(n client.Checksum) bool { return n.Problem != "" })
	})
	if len(sums.Diverged) > 0 {
		c.t.Errorf("checksums: %+v", sums)
	}
}
