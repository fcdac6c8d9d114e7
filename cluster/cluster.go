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
	// formingInterval is the pause between two steps of bootstrap when nothing seems to change: an
	// answer may.
	formingInterval = 500 * time.Millisecond
	// settledInterval is the same once this node belongs to a cluster.
	settledInterval = time.Second
)

// Cluster is this node's part in its cluster.
type Cluster struct {
	cfg    Config
	self   roster.Identity
	logger *slog.Logger

	gossip  *gossip.Gossip
	book    *bootstrap.Book
	former  *bootstrap.Former
	voters  *voters.Voters
	links   *links
	metrics *metrics
}

// New checks the configuration and reads what the data directory says. Nothing is started before
// Run.
func New(cfg Config) (*Cluster, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	c := &Cluster{cfg: cfg, self: cfg.Roster.Self(), logger: cfg.Logger, links: newLinks(cfg.Connect)}
	var err error
	if c.book, err = bootstrap.Open(cfg.DataDir, c.self.NodeID, cfg.Store.HasState); err != nil {
		return nil, err
	}
	c.former = bootstrap.NewFormer(bootstrap.Config{Book: c.book, Store: cfg.Store, Ask: c.askPromise, Logger: cfg.Logger})
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
		Self: self, Addr: c.cfg.GossipAddr, AdvertiseHost: c.cfg.AdvertiseHost, Join: c.cfg.Join, Key: c.cfg.Key.Gossip(),
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

// Run takes part in the cluster until ctx ends; the membership stays. It returns *gossip.Refused
// when another node has the better right to this one's name or identity, and an error when the data
// directory cannot be written.
func (c *Cluster) Run(ctx context.Context) error {
	defer c.links.close()
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return c.gossip.Run(ctx) })
	group.Go(func() error { return c.voters.Run(ctx) })
	group.Go(func() error { return c.tend(ctx) })
	return group.Wait()
}

// Ready is closed once the gossip address is bound; GossipAddr is what others may join by from then
// on.
func (c *Cluster) Ready() <-chan struct{} { return c.gossip.Ready() }

// GossipAddr is the address that others gossip with; empty before Ready.
func (c *Cluster) GossipAddr() string { return c.gossip.Addr() }

// tend brings this node into a cluster, and keeps gossip and roster in step with what Raft says.
func (c *Cluster) tend(ctx context.Context) error {
	var said string
	for {
		changed := c.gossip.Changed()
		waiting, err := c.step(ctx)
		if log.OutOfSpace(err) && !errors.Is(err, bootstrap.ErrUnfinished) {
			c.logger.Warn("what changed among the members is not noted yet: the disk is full", "error", err)
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

// step says what this node waits for; nothing when it belongs to a cluster.
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
	if now.Member && c.book.Cluster() == "" {
		if err := c.claimPledged(); err != nil {
			return "", err
		}
	}
	if id != "" {
		if err := c.book.Belong(id); err != nil {
			return "", err
		}
	}
	err = c.gossip.Announce(ctx, func(m *gossip.Meta) { m.Member, m.Cluster = now.Member, now.Cluster })
	if err != nil || id == "" {
		return waiting, notCancelled(ctx, err)
	}
	return "", c.remember(id)
}

func (c *Cluster) form(ctx context.Context) (waiting string, err error) {
	if c.cfg.selfBootstrap() && c.book.Joining() == "" {
		return "the first election", c.former.Alone(c.server())
	}
	ctx, cancel := context.WithTimeout(ctx, c.callTimeout())
	defer cancel()
	return c.former.Step(ctx, c.node(c.gossip.Self()), c.liveNodes())
}

// standing fills in what this node says of its place in a cluster.
func (c *Cluster) standing(m *gossip.Meta) error {
	member, err := c.cfg.Store.HasState()
	if err != nil {
		return err
	}
	m.Member = member
	m.Cluster = cmp.Or(c.cfg.Store.ClusterID(), c.book.Cluster(), c.book.Joining())
	return nil
}

// claimPledged binds the names of the first members as soon as this node is one: from then on each
// belongs to the node that made or promised the bootstrap.
func (c *Cluster) claimPledged() error {
	p := c.book.Pledge()
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

// remember keeps the roster in step: a name of Raft's configuration belongs to the member that
// bears it, and addresses are the present ones.
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
			// Whatever it says of its cluster: one that has to hear from the leader first what it
			// belongs to can be reached by its present address only.
			err = c.cfg.Roster.Moved(bearer.Name, bearer.PeerAddr)
		case !bound && bearer.Member && bearer.Cluster == cluster && configured(servers, bearer.Name):
			// Only who has Raft state: a node that lost its own, and is empty, is not the member of
			// that name.
			err = c.cfg.Roster.Bind(bearer.Name,
				roster.Binding{NodeID: bearer.NodeID, PeerAddr: bearer.PeerAddr, Index: applied + 1})
		}
		if err != nil {
			return err
		}
	}
	c.links.keep(members)
	return c.releaseNames()
}

// releaseNames frees the names of members that are gone.
func (c *Cluster) releaseNames() error {
	applied := c.cfg.Store.Applied() // before the configuration is read, which is then no older
	inUse := map[string]bool{}
	for _, s := range c.cfg.Store.Servers() {
		inUse[string(s.ID)] = true
	}
	for _, m := range c.gossip.Members() {
		if m.Alive && !m.Leaving {
			inUse[m.Name] = true // bound, perhaps, and just being added
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
