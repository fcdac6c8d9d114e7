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
	"golang.org/x/sync/errgroup"

	"quorate/cluster/roster"
	"quorate/raftstore"
)

// reviewInterval is how often the configuration is looked at when nothing seems to change.
const reviewInterval = 5 * time.Second

// Store is what this package needs of raftstore.
type Store interface {
	// WhileLeader runs fn each time this node is a ready leader and cancels it when it is no more.
	WhileLeader(ctx context.Context, fn func(ctx context.Context) error) error
	IsLeader() bool
	LastIndex() uint64
	LastLogTerm() uint64
	// TakeConfigurations returns the committed configurations that this node has applied since the
	// last call, oldest first, and a channel that is closed when there are more.
	TakeConfigurations() (taken []raftstore.Configuration, more <-chan struct{})
	Configuration
}

// Configuration is Raft's, as the leader changes it. Changes return when they are committed and
// applied here, and raftstore.ErrNotLeader when this node doesn't lead, or not to the end.
type Configuration interface {
	Servers() []raft.Server
	AddVoter(name, address string) error
	// AddNonvoter adds a server, or changes the address of one that is there.
	AddNonvoter(name, address string) error
	RemoveServer(name string) error
	// CommitPending returns when the configuration that Servers returns is committed.
	CommitPending(ctx context.Context) error
}

// Roster is told which node a name belongs to.
type Roster interface {
	Bind(name string, b roster.Binding) error
	Owner(name string) (nodeID string, ok bool)
	Remove(nodeID string) error
	// Departures returns the starts that this node has noted as departed, and SetDepartures
	// replaces them.
	Departures() roster.Departures
	SetDepartures(roster.Departures) error
}

// Progress is how far a server has come, by its own account.
type Progress struct {
	LastTerm    uint64
	LastIndex   uint64
	LastContact time.Duration // negative when the leader was never heard of
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
	// Progress asks a member how far it has come.
	Progress func(ctx context.Context, m Member) (Progress, error)
	// Freed is called when a member was removed: its name may be free.
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

	change     turn              // held while the configuration is changed
	departed   roster.Departures // guarded by change
	unsaved    bool              // guarded by change; departed is not on the disk yet
	configured []string          // guarded by change; names in the last configuration that was taken
}

// New returns a Voters; it watches from now on.
func New(cfg Config) *Voters {
	return &Voters{cfg: cfg, metrics: newMetrics(cfg.Registerer), watching: time.Now(), change: make(turn, 1)}
}

// Run notes who leaves the configuration, and tends it whenever this node leads, until ctx ends.
func (v *Voters) Run(ctx context.Context) error {
	v.change.take()
	v.departed = v.cfg.Roster.Departures() // as noted by earlier starts
	v.change.give()
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return v.followConfigurations(ctx) })
	group.Go(func() error { return v.cfg.Store.WhileLeader(ctx, v.lead) })
	return group.Wait()
}

func (v *Voters) lead(ctx context.Context) error {
	stop := v.startAutopilot(ctx)
	defer stop()
	ticker := time.NewTicker(v.scaled(reviewInterval))
	defer ticker.Stop()
	var said string
	for ctx.Err() == nil { // which the wait below may not have looked at
		changed := v.cfg.Changed()
		again, obstacles, err := v.review()
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

// review takes the next step, and says whether there may be more at once.
func (v *Voters) review() (again bool, obstacles []string, err error) {
	v.change.take()
	defer v.change.give()
	cluster := v.cfg.Cluster()
	if cluster == "" {
		return false, nil, nil
	}
	v.noteDepartures() // a leader has applied what its predecessors committed
	action, obstacles := Plan(Input{
		Now: time.Now(), Self: v.cfg.Self, Cluster: cluster, Servers: v.cfg.Store.Servers(), Members: v.cfg.Members(),
		Watching: v.watching, Departed: v.departed, DeadServerAfter: v.cfg.DeadServerAfter, MinVoters: v.cfg.MinVoters(),
	})
	if action == nil {
		return false, obstacles, nil
	}
	if err := v.apply(*action); err != nil {
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
// leader changes it, and hashicorp/raft can't compare, since GetConfiguration().Index() is always 0.
//
// Before it adds a member, apply binds the member's name to its node in the roster. It returns a
// *roster.NameTaken if the name belongs to another node.
func (v *Voters) apply(a Action) error {
	switch {
	case a.Kind == Remove:
		return v.cfg.Store.RemoveServer(a.Name)
	case a.Kind == Move && a.Voter:
		return v.cfg.Store.AddVoter(a.Name, a.PeerAddr)
	case a.Kind == Move:
		return v.cfg.Store.AddNonvoter(a.Name, a.PeerAddr)
	}
	// Bound first, so that from the first entry on no other node can bear the name.
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

// Remove takes a member out of the configuration; ErrNotLeader when this node does not lead. With
// bar its node id never comes back. A name that is not in the configuration, and of no node that
// bar could keep out, is ErrUnknownMember.
func (v *Voters) Remove(ctx context.Context, name string, bar bool) error {
	v.change.take()
	defer v.change.give()
	if !v.cfg.Store.IsLeader() {
		return ErrNotLeader
	}
	servers := v.cfg.Store.Servers()
	if !slices.ContainsFunc(servers, func(s raft.Server) bool { return string(s.ID) == name }) {
		// The removal may stand in a configuration that is not committed yet: the answer must wait
		// for that.
		if err := v.cfg.Store.CommitPending(ctx); err != nil {
			return notLeader(err)
		}
		return v.finishRemoval(name, bar)
	}
	if onlyVoter(servers, name) {
		return ErrLastVoter
	}
	if err := keepsQuorum(servers, v.cfg.Members(), v.cfg.Self, name); err != nil {
		return err
	}
	owner := v.ownerOf(name)
	// gofail: var memberBeforeRemove struct{}
	if err := v.cfg.Store.RemoveServer(name); err != nil {
		return notLeader(err)
	}
	// gofail: var memberAfterRemove struct{}
	v.metrics.changes.WithLabelValues(string(Remove)).Inc()
	v.cfg.Logger.Info("Raft configuration changed", "change", Remove, "member", name, "reason", "asked for")
	v.noteDepartures() // before the name is free
	if bar && owner != "" {
		if err := v.cfg.Roster.Remove(owner); err != nil {
			return err
		}
	}
	return v.cfg.Freed()
}

// finishRemoval bars the node of a name that is in no configuration any more. Whoever took it out
// may have ended before it barred it, or had no space to note that: alive, the node would be added
// anew, and whoever asked again would hear that there is none.
func (v *Voters) finishRemoval(name string, bar bool) error {
	owner := v.ownerOf(name)
	if !bar || owner == "" {
		return ErrUnknownMember
	}
	if err := v.cfg.Roster.Remove(owner); err != nil {
		return err
	}
	return v.cfg.Freed()
}

// ownerOf is the node id that bears a name: by the roster, or before that has heard of it by
// gossip.
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

func onlyVoter(servers []raft.Server, name string) bool {
	return !slices.ContainsFunc(servers, func(s raft.Server) bool { return s.Suffrage == raft.Voter && string(s.ID) != name })
}

// notLeader is the error of a change with this package's condition in it.
func notLeader(err error) error {
	if errors.Is(err, raftstore.ErrNotLeader) {
		return errors.Join(ErrNotLeader, err)
	}
	return err
}

// turn is a lock that is held for as long as a change takes to commit. It is a channel, which
// unlike a mutex lets simulated time pass (testing/synctest) while somebody waits for it.
type turn chan struct{}

func (t turn) take() { t <- struct{}{} }
func (t turn) give() { <-t }

func (v *Voters) scaled(d time.Duration) time.Duration {
	return time.Duration(float64(d) * v.cfg.Scale)
}
