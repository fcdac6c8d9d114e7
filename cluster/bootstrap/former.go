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

// Config is what a Former needs.
type Config struct {
	Book  *Book
	Store Store
	// Ask puts a pledge to a server and returns its answer.
	Ask    func(ctx context.Context, to Server, p Pledge) (Answer, error)
	Logger *slog.Logger
}

// ErrUnfinished reports a first configuration that could not be written. The library may have
// written the term before it, which it takes for the state of a cluster: only a start, which looks
// at both, can tell, and repeats the bootstrap (raftstore.Open).
var ErrUnfinished = errors.New("the first configuration was not written")

// Former forms the cluster, or finds the one to join.
type Former struct{ cfg Config }

// NewFormer returns a Former.
func NewFormer(cfg Config) *Former { return &Former{cfg} }

// Alone forms a cluster of this node only, unless it is bound otherwise. A pledge of its own for
// more nodes is called off.
func (f *Former) Alone(self Server) error {
	if member, err := f.cfg.Store.HasState(); err != nil || member {
		return err
	}
	held := f.cfg.Book.Pledge()
	if held != nil && held.Proposer == self.NodeID {
		if err := f.cfg.Book.Release(held.ID); err != nil {
			return err
		}
	}
	p, err := f.cfg.Book.Propose([]Server{self})
	if err != nil {
		return fmt.Errorf("start a cluster of this node alone: %w", err)
	}
	return f.commit(*p)
}

// Step takes the protocol one step further in the light of the nodes that are alive now, and says
// what it waits for. It is to be taken again when they change, and from time to time, until the
// store has state.
func (f *Former) Step(ctx context.Context, self Node, others []Node) (waiting string, err error) {
	member, err := f.cfg.Store.HasState()
	if err != nil {
		return "", err
	}
	joining, held := f.cfg.Book.Joining(), f.cfg.Book.Pledge()
	switch {
	case member && joining == "" && held == nil && f.cfg.Book.Cluster() == "":
		return f.adopt(others)
	case member:
		return "the cluster's first entries", nil
	case joining != "":
		return "being added to cluster " + joining, nil
	case held == nil:
		return f.begin(ctx, self, others)
	case held.Proposer == self.NodeID:
		return f.pursue(ctx, *held, self, others)
	default:
		return f.confirm(ctx, *held, others)
	}
}

// adopt is for a node that has state from a leader, and was never added: a node under the name and
// at the address of one that was just removed, which the leader was still telling so. It says which
// cluster it waits for, or nobody would add it.
func (f *Former) adopt(others []Node) (string, error) {
	for _, n := range others {
		if n.Cluster != "" {
			return "being added to cluster " + n.Cluster, f.cfg.Book.Join(n.Cluster)
		}
	}
	return "the cluster's first entries", nil
}

// begin finds a cluster to join, or proposes one.
func (f *Former) begin(ctx context.Context, self Node, others []Node) (string, error) {
	for _, n := range others {
		if n.Cluster != "" {
			return "being added to cluster " + n.Cluster, f.cfg.Book.Join(n.Cluster)
		}
	}
	servers, waiting := Choose(self, others)
	if servers == nil {
		return waiting, nil
	}
	p, err := f.cfg.Book.Propose(servers)
	if errors.Is(err, ErrBound) {
		return "another node forms the cluster", nil // it asked in this moment
	}
	if err != nil {
		return "", err
	}
	f.cfg.Logger.Info("forming a cluster", "bootstrap", p.ID, "servers", names(servers))
	return f.pursue(ctx, *p, self, others)
}

// pursue asks all servers of this node's own pledge, and commits it when all have promised.
func (f *Former) pursue(ctx context.Context, p Pledge, self Node, others []Node) (string, error) {
	if slices.ContainsFunc(others, func(n Node) bool { return n.Member || n.Cluster != "" }) {
		return f.abandon(p, "there is a cluster to join")
	}
	if servers, _ := Choose(self, others); servers != nil && !slices.Equal(servers, p.Servers) {
		return f.abandon(p, "other nodes are here now")
	}
	result, why := weigh(p, f.askAll(ctx, p))
	switch {
	case ctx.Err() != nil:
		return "", nil
	case result == commit:
		return "the first election", f.commit(p)
	case result == abandon:
		return f.abandon(p, why)
	}
	return why, nil
}

func (f *Former) askAll(ctx context.Context, p Pledge) map[string]Answer {
	var (
		mu      sync.Mutex
		answers = map[string]Answer{} // guarded by mu
		group   errgroup.Group
	)
	for _, s := range p.Servers {
		if s.NodeID == p.Proposer {
			continue
		}
		group.Go(func() error {
			answer, err := f.cfg.Ask(ctx, s, p)
			if err != nil {
				f.cfg.Logger.Debug("ask for a promise", "node", s.Name, "reason", err)
				return nil
			}
			mu.Lock()
			defer mu.Unlock()
			answers[s.NodeID] = answer
			return nil
		})
	}
	group.Wait() // the functions return nil: a missing answer is the error
	return answers
}

// commit writes the first configuration. Repeated after a crash it finds the state and does
// nothing.
func (f *Former) commit(p Pledge) error {
	if member, err := f.cfg.Store.HasState(); err != nil || member {
		return err
	}
	servers := make([]raft.Server, 0, len(p.Servers))
	for _, s := range p.Servers {
		servers = append(servers, raft.Server{ID: raft.ServerID(s.Name), Address: raft.ServerAddress(s.PeerAddr)})
	}
	// gofail: var bootstrapBefore struct{}
	if err := f.cfg.Store.Bootstrap(servers); err != nil {
		return fmt.Errorf("%w: %w", ErrUnfinished, err)
	}
	// gofail: var bootstrapAfter struct{}
	f.cfg.Logger.Info("cluster formed", "bootstrap", p.ID, "servers", names(p.Servers))
	return nil
}

// abandon is final for the pledge's id: it is off the disk before anyone can learn of it, and never
// taken up again.
func (f *Former) abandon(p Pledge, why string) (string, error) {
	f.cfg.Logger.Info("bootstrap abandoned", "bootstrap", p.ID, "reason", why)
	return why, f.cfg.Book.Release(p.ID)
}

// confirm asks the proposer of the pledge that this node is party to whether it stands. Only the
// proposer itself can say that it does not: it may have committed, so silence, however long, binds.
func (f *Former) confirm(ctx context.Context, p Pledge, others []Node) (string, error) {
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
	answer, err := f.cfg.Ask(ctx, proposer, p)
	if err != nil {
		return fmt.Sprintf("%s (bootstrap %s; it cannot be reached, and only it can call that off)", waiting, p.ID), nil
	}
	if answer.NodeID != p.Proposer || answer.Promised {
		return waiting, nil
	}
	f.cfg.Logger.Info("released from a bootstrap", "bootstrap", p.ID, "proposer", proposer.Name, "reason", answer.Reason)
	return "nodes to form a cluster with", f.cfg.Book.Release(p.ID)
}

func names(servers []Server) []string {
	all := make([]string, 0, len(servers))
	for _, s := range servers {
		all = append(all, s.Name)
	}
	return all
}
