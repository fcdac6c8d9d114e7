package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"github.com/hashicorp/raft"
	"golang.org/x/sync/errgroup"
)

// Store is what bootstrap needs of raftstore.
type Store interface {
	HasState() (bool, error)
	Bootstrap([]raft.Server) error
}

// Config is what a Bootstrapper needs.
type Config struct {
	Record *Record
	Store  Store
	// Ask asks a server to promise an attempt, and returns its response.
	Ask    func(ctx context.Context, to Server, p Attempt) (Response, error)
	Logger *slog.Logger
}

// ErrUnfinished reports that the first configuration could not be written. The library may have
// written the term before the failure, and would take that term for the state of a cluster. Only
// the next start can bootstrap again: raftstore.Open resets the term if there is neither an entry
// nor a snapshot.
var ErrUnfinished = errors.New("the first configuration was not written")

// Bootstrapper forms the cluster, or finds the one to join.
type Bootstrapper struct{ cfg Config }

// New returns a Bootstrapper.
func New(cfg Config) *Bootstrapper { return &Bootstrapper{cfg} }

// Alone forms a cluster of this node only, unless it has promised another attempt or has a cluster.
// It abandons an attempt of its own for more nodes.
func (b *Bootstrapper) Alone(self Server) error {
	if member, err := b.cfg.Store.HasState(); err != nil || member {
		return err
	}
	held := b.cfg.Record.Attempt()
	if held != nil && held.Proposer == self.NodeID {
		if err := b.cfg.Record.Release(held.ID); err != nil {
			return err
		}
	}
	p, err := b.cfg.Record.Propose([]Server{self})
	if err != nil {
		return fmt.Errorf("start a cluster of this node alone: %w", err)
	}
	return b.commit(*p)
}

// Step takes one step of the bootstrap protocol. self is this node; others are the other nodes that
// are alive now. Step returns, for the log, what this node waits for. The caller calls it
// periodically, and whenever the nodes that are alive change, until this node knows its cluster's
// id.
func (b *Bootstrapper) Step(ctx context.Context, self Node, others []Node) (waiting string, err error) {
	member, err := b.cfg.Store.HasState()
	if err != nil {
		return "", err
	}
	joining, held := b.cfg.Record.Joining(), b.cfg.Record.Attempt()
	switch {
	case member && joining == "" && held == nil && b.cfg.Record.Cluster() == "":
		return b.adopt(others)
	case member:
		return "the cluster's first entries", nil
	case joining != "":
		return "being added to cluster " + joining, nil
	case held == nil:
		return b.begin(ctx, self, others)
	case held.Proposer == self.NodeID:
		return b.pursue(ctx, *held, self, others)
	default:
		return b.confirm(ctx, *held, others)
	}
}

// adopt handles a node that has Raft state but no record of a cluster: it has the name and the
// address of a node that was just removed, and received entries that the leader was still sending
// to that node. adopt records the cluster of a live node as the one to join; without that record,
// no leader would add this node.
func (b *Bootstrapper) adopt(others []Node) (string, error) {
	for _, n := range others {
		if n.Cluster != "" {
			return "being added to cluster " + n.Cluster, b.cfg.Record.Join(n.Cluster)
		}
	}
	return "the cluster's first entries", nil
}

// begin finds a cluster to join, or proposes one.
func (b *Bootstrapper) begin(ctx context.Context, self Node, others []Node) (string, error) {
	for _, n := range others {
		if n.Cluster != "" {
			return "being added to cluster " + n.Cluster, b.cfg.Record.Join(n.Cluster)
		}
	}
	servers, waiting := Choose(self, others)
	if servers == nil {
		return waiting, nil
	}
	p, err := b.cfg.Record.Propose(servers)
	if errors.Is(err, ErrBound) {
		return "another node forms the cluster", nil // its request came since the check above
	}
	if err != nil {
		return "", err
	}
	b.cfg.Logger.Info("forming a cluster", "bootstrap", p.ID, "servers", names(servers))
	return b.pursue(ctx, *p, self, others)
}

// pursue asks all servers of this node's own attempt, and commits the attempt if all have promised.
func (b *Bootstrapper) pursue(ctx context.Context, p Attempt, self Node, others []Node) (string, error) {
	if slices.ContainsFunc(others, func(n Node) bool { return n.Member || n.Cluster != "" }) {
		return b.abandon(p, "there is a cluster to join")
	}
	if servers, _ := Choose(self, others); servers != nil && !slices.Equal(servers, p.Servers) {
		return b.abandon(p, "other nodes are here now")
	}
	result, why := weigh(p, b.askAll(ctx, p))
	switch {
	case ctx.Err() != nil:
		return "", nil
	case result == commit:
		return "the first election", b.commit(p)
	case result == abandon:
		return b.abandon(p, why)
	}
	return why, nil
}

func (b *Bootstrapper) askAll(ctx context.Context, p Attempt) map[string]Response {
	var (
		mu        sync.Mutex
		responses = map[string]Response{} // guarded by mu
		group     errgroup.Group
	)
	for _, s := range p.Servers {
		if s.NodeID == p.Proposer {
			continue
		}
		group.Go(func() error {
			response, err := b.cfg.Ask(ctx, s, p)
			if err != nil {
				b.cfg.Logger.Debug("ask for a promise", "node", s.Name, "reason", err)
				return nil
			}
			mu.Lock()
			defer mu.Unlock()
			responses[s.NodeID] = response
			return nil
		})
	}
	group.Wait() // the functions return nil: a missing response is the error
	return responses
}

// commit writes the first configuration. After a crash it may be repeated: it does nothing if the
// store has state.
func (b *Bootstrapper) commit(p Attempt) error {
	if member, err := b.cfg.Store.HasState(); err != nil || member {
		return err
	}
	servers := make([]raft.Server, 0, len(p.Servers))
	for _, s := range p.Servers {
		servers = append(servers, raft.Server{ID: raft.ServerID(s.Name), Address: raft.ServerAddress(s.PeerAddr)})
	}
	// gofail: var bootstrapBefore struct{}
	if err := b.cfg.Store.Bootstrap(servers); err != nil {
		return fmt.Errorf("%w: %w", ErrUnfinished, err)
	}
	// gofail: var bootstrapAfter struct{}
	b.cfg.Logger.Info("cluster formed", "bootstrap", p.ID, "servers", names(p.Servers))
	return nil
}

// abandon ends an attempt. Its id is removed from the disk before another node can learn of that,
// and is never used again.
func (b *Bootstrapper) abandon(p Attempt, why string) (string, error) {
	b.cfg.Logger.Info("bootstrap abandoned", "bootstrap", p.ID, "reason", why)
	return why, b.cfg.Record.Release(p.ID)
}

// confirm asks the proposer about the attempt that this node has promised, and releases this node
// if the proposer has abandoned the attempt. Only the proposer can release it: a proposer that does
// not respond may have committed the attempt.
func (b *Bootstrapper) confirm(ctx context.Context, p Attempt, others []Node) (string, error) {
	proposer := Server{NodeID: p.Proposer}
	for _, s := range p.Servers {
		if s.NodeID == p.Proposer {
			proposer = s
		}
	}
	for _, n := range others {
		if n.NodeID == p.Proposer {
			proposer = n.Server // it may have moved
		}
	}
	waiting := fmt.Sprintf("node %q to form the cluster", proposer.Name)
	response, err := b.cfg.Ask(ctx, proposer, p)
	if err != nil {
		return fmt.Sprintf("%s (bootstrap %s; it cannot be reached, and only it can call that off)", waiting, p.ID), nil
	}
	if response.NodeID != p.Proposer || response.Promised {
		return waiting, nil
	}
	b.cfg.Logger.Info("released from a bootstrap", "bootstrap", p.ID, "proposer", proposer.Name, "reason", response.Reason)
	return "nodes to form a cluster with", b.cfg.Record.Release(p.ID)
}

func names(servers []Server) []string {
	all := make([]string, 0, len(servers))
	for _, s := range servers {
		all = append(all, s.Name)
	}
	return all
}
