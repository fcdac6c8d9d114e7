package cluster

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"quorate/cluster/bootstrap"
	"quorate/cluster/gossip"
	"quorate/cluster/roster"
	"quorate/cluster/voters"
	"quorate/raftstore/log"
)

const (
	// formingInterval is the pause between two steps of bootstrap if gossip reports no change: the
	// responses of other nodes may change.
	formingInterval = 500 * time.Millisecond
	// settledInterval is that pause once this node belongs to a cluster.
	settledInterval = time.Second
)

// Cluster is this node's part in its cluster.
type Cluster struct {
	cfg    Config
	self   roster.Identity
	logger *slog.Logger

	gossip       *gossip.Gossip
	addresses    *addresses
	record       *bootstrap.Record
	bootstrapper *bootstrap.Bootstrapper
	voters       *voters.Voters
	links        *links
	metrics      *metrics
}

// New checks the configuration and reads the data directory. It starts nothing.
func New(cfg Config) (*Cluster, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	c := &Cluster{cfg: cfg, self: cfg.Roster.Self(), logger: cfg.Logger, links: newLinks(cfg.Connect)}
	var err error
	if c.record, err = bootstrap.Open(cfg.DataDir, c.self.NodeID, cfg.Store.HasState); err != nil {
		return nil, err
	}
	c.addresses = openAddresses(cfg.DataDir, cmp.Or(cfg.Store.ClusterID(), c.record.Cluster()), c.logger)
	c.bootstrapper = bootstrap.New(bootstrap.Config{Record: c.record, Store: cfg.Store, Ask: c.askPromise, Logger: cfg.Logger})
	if c.gossip, err = c.newGossip(); err != nil {
		return nil, err
	}
	c.voters = c.newVoters()
	c.metrics = newMetrics(cfg.Registerer, c)
	return c, nil
}

func (c *Cluster) newGossip() (*gossip.Gossip, error) {
	self := gossip.Meta{
		Name: c.self.Name, NodeID: c.self.NodeID, Start: c.self.Start, Nonce: c.self.Nonce,
		APIAddr: c.cfg.APIAddr, PeerAddr: c.cfg.PeerAddr,
		Expect: c.cfg.BootstrapExpect, NonVoter: c.cfg.NonVoter, Build: c.cfg.Build,
	}
	if err := c.standing(&self); err != nil {
		return nil, err
	}
	return gossip.New(gossip.Config{
		Self: self, Addr: c.cfg.GossipAddr, AdvertiseHost: c.cfg.AdvertiseHost, Join: c.cfg.Join, Remembered: c.addresses.list, Key: c.cfg.Key.Gossip(),
		WAN: c.cfg.WAN, Scale: c.cfg.TimeoutScale, Roster: c.cfg.Roster, Logger: c.logger, Registerer: c.cfg.Registerer,
	})
}

func (c *Cluster) newVoters() *voters.Voters {
	return voters.New(voters.Config{
		Self: c.self.Name, Store: c.cfg.Store, Roster: c.cfg.Roster, Cluster: c.cfg.Store.ClusterID,
		Freed:   c.releaseNames,
		Members: c.voterView, Changed: c.gossip.Changed, Progress: c.progress, MinVoters: c.minVoters,
		DeadServerAfter: c.cfg.DeadServerAfter, Scale: c.cfg.TimeoutScale, Logger: c.logger, Registerer: c.cfg.Registerer,
	})
}

// Run takes part in the cluster until ctx ends and then returns nil; the node remains a member. It
// returns *gossip.Refused if another node owns this node's name or identity. It also returns an
// error if gossip cannot start, or if the data directory cannot be read or written. It retries
// after a full disk, unless the first configuration could not be written (bootstrap.ErrUnfinished).
func (c *Cluster) Run(ctx context.Context) error {
	defer c.links.close()
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return c.gossip.Run(ctx) })
	group.Go(func() error { return c.voters.Run(ctx) })
	group.Go(func() error { return c.tend(ctx) })
	return group.Wait()
}

// Ready returns a channel that is closed once the gossip address is bound, and others can join at
// GossipAddr.
func (c *Cluster) Ready() <-chan struct{} { return c.gossip.Ready() }

// GossipAddr returns the address at which others reach this node by gossip, "" before Ready.
func (c *Cluster) GossipAddr() string { return c.gossip.Addr() }

// tend brings this node into a cluster, and updates gossip and roster as Raft's configuration
// changes.
func (c *Cluster) tend(ctx context.Context) error {
	var said string
	for {
		changed := c.gossip.Changed()
		waiting, err := c.step(ctx)
		if log.OutOfSpace(err) && !errors.Is(err, bootstrap.ErrUnfinished) {
			c.logger.Warn("changes of the members are not recorded yet: the disk is full", "error", err)
		} else if err != nil {
			return err
		}
		if waiting != said && waiting != "" {
			c.logger.Info("not in a cluster yet", "waiting", waiting)
		}
		said = waiting
		interval := formingInterval
		if waiting == "" {
			interval = settledInterval
		}
		timer := time.NewTimer(time.Duration(float64(interval) * c.cfg.TimeoutScale))
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-timer.C:
		case <-changed:
			timer.Stop()
		}
	}
}

// step returns what this node waits for, "" once it belongs to a cluster.
func (c *Cluster) step(ctx context.Context) (waiting string, err error) {
	id := c.cfg.Store.ClusterID()
	if id == "" {
		waiting, err = c.form(ctx)
	}
	if err != nil {
		return "", err
	}
	now := gossip.Meta{}
	if err := c.standing(&now); err != nil {
		return "", err
	}
	if now.Member && c.record.Cluster() == "" {
		if err := c.bindFirstMembers(); err != nil {
			return "", err
		}
	}
	if id != "" {
		if err := c.record.Belong(id); err != nil {
			return "", err
		}
	}
	err = c.gossip.Announce(ctx, func(m *gossip.Meta) { m.Member, m.Cluster = now.Member, now.Cluster })
	if err != nil {
		return waiting, notCancelled(ctx, err)
	}
	if id == "" {
		return waiting, c.followMoves() // a node that restarted learns its cluster from a leader, which it must reach
	}
	return "", c.remember(id)
}

func (c *Cluster) form(ctx context.Context) (waiting string, err error) {
	if c.cfg.selfBootstrap() && c.record.Joining() == "" {
		return "the first election", c.bootstrapper.Alone(c.server())
	}
	ctx, cancel := context.WithTimeout(ctx, c.callTimeout())
	defer cancel()
	return c.bootstrapper.Step(ctx, c.node(c.gossip.Self()), c.liveNodes())
}

// standing sets the fields of this node's meta about its membership.
func (c *Cluster) standing(m *gossip.Meta) error {
	member, err := c.cfg.Store.HasState()
	if err != nil {
		return err
	}
	m.Member = member
	m.Cluster = cmp.Or(c.cfg.Store.ClusterID(), c.record.Cluster(), c.record.Joining())
	return nil
}

// bindFirstMembers binds the names of the first members to the nodes of this node's attempt, once
// this node is a member.
func (c *Cluster) bindFirstMembers() error {
	p := c.record.Attempt()
	if p == nil {
		return nil
	}
	for _, s := range p.Servers {
		if err := c.cfg.Roster.Bind(s.Name, roster.Binding{NodeID: s.NodeID, PeerAddr: s.PeerAddr, Index: 1}); err != nil {
			return err
		}
	}
	return nil
}

// followMoves records the current addresses of members that restarted elsewhere.
func (c *Cluster) followMoves() error {
	for _, m := range c.gossip.Members() {
		owner, _ := c.cfg.Roster.Owner(m.Name)
		if !m.Alive || owner != m.NodeID {
			continue
		}
		if err := c.cfg.Roster.Moved(m.Name, m.PeerAddr); err != nil {
			return err
		}
	}
	return nil
}

// remember updates the roster: it binds each name of Raft's configuration to the member that uses
// it, and records current addresses, those of gossip included.
func (c *Cluster) remember(cluster string) error {
	applied := c.cfg.Store.Applied()
	servers := c.cfg.Store.Servers()
	members := c.gossip.Members()
	bearers := []gossip.Member{{Meta: c.gossip.Self(), Alive: true}}
	for _, bearer := range append(bearers, members...) {
		var err error
		owner, bound := c.cfg.Roster.Owner(bearer.Name)
		switch {
		case !bearer.Alive:
		case owner == bearer.NodeID:
			// Whatever cluster it announces: a node that learns its cluster from the leader can be
			// reached only at its current address.
			err = c.cfg.Roster.Moved(bearer.Name, bearer.PeerAddr)
		case !bound && bearer.Member && bearer.Cluster == cluster && voters.Configures(servers, bearer.Name):
			// Only a node with Raft state: an empty one, which lost its state, is not the member of
			// that name.
			err = c.cfg.Roster.Bind(bearer.Name,
				roster.Binding{NodeID: bearer.NodeID, PeerAddr: bearer.PeerAddr, Index: applied + 1})
		}
		if err != nil {
			return err
		}
	}
	c.links.keep(members)
	return errors.Join(c.rememberAddresses(cluster, members), c.releaseNames())
}

// releaseNames frees the names of former members.
func (c *Cluster) releaseNames() error {
	applied := c.cfg.Store.Applied() // before the configuration is read, which is then no older
	inUse := map[string]bool{}
	for _, s := range c.cfg.Store.Servers() {
		inUse[string(s.ID)] = true
	}
	for _, m := range c.gossip.Members() {
		if m.Alive && !m.Leaving {
			inUse[m.Name] = true // it may be bound and not added yet
		}
	}
	return c.cfg.Roster.Release(inUse, applied)
}

// notCancelled drops the error of a context that ended because this node stops.
func notCancelled(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}
