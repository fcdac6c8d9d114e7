package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"quorate/chaos/client"
	"quorate/chaos/disk"
	"quorate/chaos/nodes"
)

const (
	count        = 3
	namespace    = "conditions"
	startTimeout = time.Minute
	stopTimeout  = time.Minute
	// connections is the number of connections of the clients of one node.
	connections = 8
)

// cluster is three nodes with clients of each.
type cluster struct {
	*nodes.Processes
	clients map[string]*client.Client
	names   []string
	created int // names of objects are unique by it
}

// start starts the nodes on a good network and good disks.
func start(ctx context.Context, o *options, dir string) (*cluster, error) {
	p, err := nodes.NewProcesses(nodes.ProcessesConfig{
		Binary: o.binary, Dir: dir, Count: count, Network: true, Disks: true, Seed: 1, Flags: []string{"--request-log", "none"},
	})
	if err != nil {
		return nil, err
	}
	c := &cluster{Processes: p, clients: map[string]*client.Client{}}
	if err := c.connect(ctx); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

func (c *cluster) connect(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	credentials, err := c.StartAll(ctx)
	if err != nil {
		return err
	}
	for _, node := range c.Nodes() {
		one, err := client.New(node.API, credentials)
		if err != nil {
			return err
		}
		c.clients[node.Name] = one.Apart(connections, client.Window{})
		c.names = append(c.names, node.Name)
	}
	_, err = c.clients[c.names[0]].EnsureNamespace(ctx, namespace)
	return err
}

// close ends the nodes, also after the end of the context that they were started with.
func (c *cluster) close() error {
	for _, one := range c.clients {
		one.Close()
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	return c.Close(ctx)
}

// role is the leader and another node, in one term.
type role struct {
	leader, other string
	term          uint64
}

// roles waits for a leader that all nodes know.
func (c *cluster) roles(ctx context.Context) (r role, err error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	err = nodes.Await(ctx, func() bool {
		members, err := c.clients[c.names[0]].Members(ctx)
		i := slices.IndexFunc(members, func(m client.Member) bool { return m.Role == "leader" })
		if err != nil || i < 0 {
			return false
		}
		r.leader, r.term = members[i].Name, members[i].Term
		j := slices.IndexFunc(c.names, func(name string) bool { return name != r.leader })
		r.other = c.names[j]
		return !slices.ContainsFunc(members, func(m client.Member) bool { return m.Term != r.term })
	})
	if err != nil {
		return r, fmt.Errorf("wait for a leader: %w", err)
	}
	return r, nil
}

// shape applies a rule to the links between nodes.
func (c *cluster) shape(ctx context.Context, rule nodes.Rule) error {
	rules := map[nodes.Link]nodes.Rule{}
	for _, from := range c.names {
		for _, to := range c.names {
			if from != to {
				rules[nodes.Link{From: from, To: to}] = rule
			}
		}
	}
	return c.Shape(ctx, rules)
}

// slow adds a delay to each fsync of some nodes, and none to those of the others.
func (c *cluster) slow(delay time.Duration, names ...string) {
	for _, name := range c.names {
		f := disk.Faults{}
		if slices.Contains(names, name) {
			f.FsyncDelay = delay
		}
		c.Disk(name).Set(f)
	}
}

// spread returns a client for each worker, of one node after the other.
func (c *cluster) spread(workers int, names ...string) (all []*client.Client) {
	for i := range workers {
		all = append(all, c.clients[names[i%len(names)]].Lane(i/len(names)))
	}
	return all
}

// latencies are the times of a measurement's requests, and how long it took.
type latencies struct {
	all    []time.Duration
	failed int
	took   time.Duration
	err    error // of one that failed
}

func (l *latencies) rate() float64 { return float64(len(l.all)) / l.took.Seconds() }

// quantile returns the time within which a part of the requests ended.
func (l *latencies) quantile(part float64) time.Duration {
	if len(l.all) == 0 {
		return 0
	}
	slices.SortFunc(l.all, cmp.Compare)
	return l.all[int(part*float64(len(l.all)-1))]
}
