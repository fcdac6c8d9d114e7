package voters

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/hashicorp/raft"
	"github.com/prometheus/client_golang/prometheus"

	"quorate/cluster/roster"
	"quorate/raftstore"
	"quorate/raftstore/state"
)

// reviewInterval is how often the leader reviews the configuration when gossip reports no change.
const reviewInterval = 5 * time.Second

// Store is what this package needs of raftstore.
type Store interface {
	// WhileLeader runs fn each time this node becomes a ready leader, and cancels it when this node
	// stops leading.
	WhileLeader(ctx context.Context, fn func(ctx context.Context) error) error
	IsLeader() bool
	LastIndex() uint64
	LastLogTerm() uint64
	// View, Create and Update read and write the departures.
	View(ctx context.Context, r raftstore.Read) (*state.Root, error)
	Create(ctx context.Context, c raftstore.Create) (*state.Object, error)
	Update(ctx context.Context, u raftstore.Update) (*state.Object, error)
	Configuration
}

// Configuration is Raft's configuration as the leader changes it. A change returns when it is
// committed and applied on this node. It returns raftstore.ErrNotLeader if this node does not lead,
// or loses leadership before that; in the second case, the change may still be committed.
type Configuration interface {
	Servers() []raft.Server
	AddVoter(name, address string) error
	// AddNonvoter adds a server, or changes the address of a configured one.
	AddNonvoter(name, address string) error
	RemoveServer(name string) error
	// CommitPending returns when the configuration that Servers returns is committed.
	CommitPending(ctx context.Context) error
}

// Roster records which node owns a name, and which nodes were removed.
type Roster interface {
	Bind(name string, b roster.Binding) error
	Owner(name string) (nodeID string, ok bool)
	Remove(nodeID string) error
}

// Progress is how much of the log a server has, as the server itself reports it.
type Progress struct {
	LastTerm    uint64
	LastIndex   uint64
	LastContact time.Duration // negative if the server never had contact with a leader
}

// Config is what a Voters needs.
type Config struct {
	Self    string
	Store   Store
	Roster  Roster
	Cluster func() string
	// Members are the nodes that gossip knows, this one included; Changed is closed when they
	// change.
	Members func() []Member
	Changed func() <-chan struct{}
	// Progress asks a member how much of the log it has.
	Progress func(ctx context.Context, m Member) (Progress, error)
	// Freed is called after a member has been removed, whose name may be free now.
	Freed func() error
	// MinVoters is the number of voters below which no dead server is removed.
	MinVoters func() int
	// DeadServerAfter is how long a server must be dead to be removed; 0 is never.
	DeadServerAfter time.Duration
	Scale           float64
	Logger          *slog.Logger
	Registerer      prometheus.Registerer
}

// Voters changes Raft's configuration while this node leads.
type Voters struct {
	cfg      Config
	metrics  *metrics
	watching time.Time

	change changeLock // held while the configuration is changed
}

// New returns a Voters. Servers that it never sees alive count as dead from now on.
func New(cfg Config) *Voters {
	return &Voters{cfg: cfg, metrics: newMetrics(cfg.Registerer), watching: time.Now(), change: make(changeLock, 1)}
}

// Run changes the configuration whenever this node leads, until ctx ends.
func (v *Voters) Run(ctx context.Context) error { return v.cfg.Store.WhileLeader(ctx, v.lead) }

func (v *Voters) lead(ctx context.Context) error {
	stop := v.startAutopilot(ctx)
	defer stop()
	ticker := time.NewTicker(v.scaled(reviewInterval))
	defer ticker.Stop()
	var said string
	for ctx.Err() == nil { // the wait below need not have seen its end
		changed := v.cfg.Changed()
		again, obstacles, err := v.review(ctx)
		if err != nil && ctx.Err() == nil {
			v.cfg.Logger.Warn("change the Raft configuration", "reason", err)
		}
		if now := fmt.Sprint(obstacles); len(obstacles) > 0 && now != said {
			v.cfg.Logger.Warn("members wait to be placed", "obstacles", obstacles)
			said = now
		}
		if again {
			continue
		}
		select {
		case <-ctx.Done():
		case <-ticker.C:
		case <-changed:
		}
	}
	return nil
}

// review takes the next step, and reports whether another step may follow immediately.
func (v *Voters) review(ctx context.Context) (again bool, obstacles []string, err error) {
	v.change.lock()
	defer v.change.unlock()
	cluster := v.cfg.Cluster()
	if cluster == "" {
		return false, nil, nil
	}
	departed, _, err := v.departures(ctx) // a leader has applied what its predecessors committed
	if err != nil {
		return false, nil, err
	}
	servers, members := v.cfg.Store.Servers(), v.cfg.Members()
	if err := v.finishRemovals(departed, servers, members); err != nil {
		return false, nil, err
	}
	action, obstacles := Plan(Input{
		Now: time.Now(), Self: v.cfg.Self, Cluster: cluster, Servers: servers, Members: members,
		Watching: v.watching, Departed: departed, DeadServerAfter: v.cfg.DeadServerAfter, MinVoters: v.cfg.MinVoters(),
	})
	if action == nil {
		return false, obstacles, nil
	}
	if err := v.apply(ctx, *action); err != nil {
		return false, obstacles, fmt.Errorf("%s %q: %w", action.Kind, action.Name, err)
	}
	// gofail: var memberAfterChange struct{}
	v.metrics.changes.WithLabelValues(string(action.Kind)).Inc()
	v.cfg.Logger.Info("Raft configuration changed", "change", action.Kind, "member", action.Name,
		"peerAddr", action.PeerAddr, "reason", action.Reason)
	return true, obstacles, nil
}

// apply makes one change of the configuration and waits until it is committed. The caller holds
// change, so that the configuration is still the one for which the change was planned: only the
// leader changes it. hashicorp/raft can't check that, since GetConfiguration().Index() is always 0.
//
// Before it adds a member, apply binds the member's name to its node in the roster, and returns a
// *roster.NameTaken if the name belongs to another node. Before it removes a server, it commits the
// departure of the server's node.
func (v *Voters) apply(ctx context.Context, a Action) error {
	switch {
	case a.Kind == Remove:
		if err := v.recordDeparture(ctx, v.ownerOf(a.Name), false); err != nil {
			return err
		}
		return v.cfg.Store.RemoveServer(a.Name)
	case a.Kind == Move && a.Voter:
		return v.cfg.Store.AddVoter(a.Name, a.PeerAddr)
	case a.Kind == Move:
		return v.cfg.Store.AddNonvoter(a.Name, a.PeerAddr)
	}
	// Bound first, so that no other node can use the name from the first entry on.
	binding := roster.Binding{NodeID: a.NodeID, PeerAddr: a.PeerAddr, Index: v.cfg.Store.LastIndex() + 1}
	if err := v.cfg.Roster.Bind(a.Name, binding); err != nil {
		return err
	}
	if owner, _ := v.cfg.Roster.Owner(a.Name); owner != a.NodeID {
		return &roster.NameTaken{Name: a.Name, Owner: owner, Claims: a.NodeID}
	}
	// gofail: var memberBeforeAdd struct{}
	return v.cfg.Store.AddNonvoter(a.Name, a.PeerAddr)
}

// Remove removes the named member from the configuration, and bars its node id permanently, so that
// the node can never rejoin. It returns ErrNotLeader if this node does not lead, and ErrLastVoter
// or ErrNoQuorum if the cluster would lose its quorum. If the configuration has no server of that
// name, it only bars the node of that name, and returns ErrUnknownMember if no such node is known.
func (v *Voters) Remove(ctx context.Context, name string) error {
	v.change.lock()
	defer v.change.unlock()
	return v.expel(ctx, name, v.ownerOf(name))
}

// Leave is Remove for a member that leaves by its own request. nodeID is the id of that member, to
// which the name belongs or belonged: by a repeated request another node may have the name.
func (v *Voters) Leave(ctx context.Context, name, nodeID string) error {
	v.change.lock()
	defer v.change.unlock()
	return v.expel(ctx, name, nodeID)
}

// expel removes a member from the configuration and bars its node. The caller holds change.
func (v *Voters) expel(ctx context.Context, name, nodeID string) error {
	if !v.cfg.Store.IsLeader() {
		return ErrNotLeader
	}
	servers := v.cfg.Store.Servers()
	if !Configures(servers, name) {
		// The latest configuration, which lacks the server, may be uncommitted: wait until it is
		// committed.
		if err := v.cfg.Store.CommitPending(ctx); err != nil {
			return notLeader(err)
		}
		if nodeID == "" {
			return ErrUnknownMember
		}
		// The leader that removed the server may have stopped before it barred the node, or had no
		// space to record that.
		if err := v.recordDeparture(ctx, nodeID, true); err != nil {
			return err
		}
		return v.bar(nodeID)
	}
	if OnlyVoter(servers, name) {
		return ErrLastVoter
	}
	if err := keepsQuorum(servers, v.cfg.Members(), v.cfg.Self, name); err != nil {
		return err
	}
	if err := v.recordDeparture(ctx, nodeID, true); err != nil {
		return err
	}
	// gofail: var memberBeforeRemove struct{}
	if err := v.cfg.Store.RemoveServer(name); err != nil {
		return notLeader(err)
	}
	// gofail: var memberAfterRemove struct{}
	v.metrics.changes.WithLabelValues(string(Remove)).Inc()
	v.cfg.Logger.Info("Raft configuration changed", "change", Remove, "member", name, "reason", "asked for")
	return v.bar(nodeID)
}

// bar bars a node that is no longer in the configuration, and frees its name.
func (v *Voters) bar(nodeID string) error {
	if nodeID != "" {
		if err := v.cfg.Roster.Remove(nodeID); err != nil {
			return err
		}
	}
	return v.cfg.Freed()
}

// ownerOf returns the id of the node that owns a name, by the roster, or by gossip if the roster
// has no binding yet.
func (v *Voters) ownerOf(name string) string {
	if owner, ok := v.cfg.Roster.Owner(name); ok {
		return owner
	}
	for _, m := range v.cfg.Members() {
		if m.Name == name && m.Cluster == v.cfg.Cluster() {
			return m.NodeID
		}
	}
	return ""
}

// Conditions that callers branch on.
var (
	ErrNotLeader     = errors.New("this node does not lead")
	ErrUnknownMember = errors.New("no member of that name")
	ErrLastVoter     = errors.New("the only voter cannot leave: without it the cluster is gone")
)

// Configures reports whether a configuration has a server of that name.
func Configures(servers []raft.Server, name string) bool {
	return slices.ContainsFunc(servers, func(s raft.Server) bool { return string(s.ID) == name })
}

// OnlyVoter reports whether a configuration has no voter besides the server of that name.
func OnlyVoter(servers []raft.Server, name string) bool {
	return !slices.ContainsFunc(servers, func(s raft.Server) bool { return s.Suffrage == raft.Voter && string(s.ID) != name })
}

// notLeader is the error of a change with this package's condition in it.
func notLeader(err error) error {
	if errors.Is(err, raftstore.ErrNotLeader) {
		return errors.Join(ErrNotLeader, err)
	}
	return err
}

// changeLock is a lock that is held until a change is committed. It is a channel: simulated time
// (testing/synctest) passes while a goroutine waits for a channel, but not for a mutex.
type changeLock chan struct{}

func (l changeLock) lock()   { l <- struct{}{} }
func (l changeLock) unlock() { <-l }

func (v *Voters) scaled(d time.Duration) time.Duration {
	return time.Duration(float64(d) * v.cfg.Scale)
}
