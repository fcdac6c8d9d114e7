package voters

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/hashicorp/raft"
	autopilot "github.com/hashicorp/raft-autopilot"
	"golang.org/x/sync/errgroup"

	"quorate/raftstore/logbridge"
)

const (
	updateInterval    = 2 * time.Second // how often the leader asks servers for their progress
	reconcileInterval = 2 * time.Second // how often promotions are considered
	// stabilization is how long a server must have been healthy before it votes.
	stabilization = 10 * time.Second
	// lastContact is the longest time since a healthy server's last contact with the leader. Raft
	// sends heartbeats ten times as often.
	lastContact = 3 * time.Second
	// trailing is how many entries a healthy server may be behind.
	trailing = 1000
	// askedAtOnce bounds the servers asked at a time.
	askedAtOnce = 16

	nonVoterKey = "nonVoter"
	typeReplica = autopilot.NodeType("replica")
)

// startAutopilot runs an autopilot for this epoch. The function that it returns stops the autopilot
// and waits for its end.
func (v *Voters) startAutopilot(ctx context.Context) (stop func()) {
	a := autopilot.New(configuration{v}, integration{v},
		autopilot.WithLogger(logbridge.Hclog(v.cfg.Logger, true)),
		autopilot.WithUpdateInterval(v.scaled(updateInterval)),
		autopilot.WithReconcileInterval(v.scaled(reconcileInterval)),
		autopilot.WithPromoter(promoter{new(autopilot.StablePromoter)}))
	a.Start(ctx)
	return func() {
		<-a.Stop()
		v.metrics.healthy.Set(0)
		v.metrics.tolerance.Set(0)
	}
}

// promoter promotes healthy and stable servers, except for permanent non-voters.
type promoter struct{ *autopilot.StablePromoter }

func (p promoter) CalculatePromotionsAndDemotions(c *autopilot.Config, s *autopilot.State) autopilot.RaftChanges {
	changes := p.StablePromoter.CalculatePromotionsAndDemotions(c, s)
	changes.Promotions = slices.DeleteFunc(changes.Promotions, func(id raft.ServerID) bool { return replica(s.Servers[id].Server) })
	slices.Sort(changes.Promotions)
	return changes
}

func (promoter) GetNodeTypes(_ *autopilot.Config, s *autopilot.State) map[raft.ServerID]autopilot.NodeType {
	types := map[raft.ServerID]autopilot.NodeType{}
	for id, server := range s.Servers {
		types[id] = autopilot.NodeVoter
		if replica(server.Server) {
			types[id] = typeReplica
		}
	}
	return types
}

func replica(s autopilot.Server) bool { return s.Meta[nonVoterKey] != "" }

// configuration is Raft as autopilot sees it: autopilot may read everything, and promote.
type configuration struct{ v *Voters }

// AddVoter promotes a non-voter. Autopilot decides on a view that is some seconds old, and Raft's
// AddVoter adds a server that the configuration lacks. So AddVoter refuses a server that is no
// longer a non-voter: one that has been removed meanwhile would otherwise return as a voter.
func (c configuration) AddVoter(id raft.ServerID, _ raft.ServerAddress, _ uint64, _ time.Duration) raft.IndexFuture {
	c.v.change.lock()
	defer c.v.change.unlock()
	servers := c.v.cfg.Store.Servers()
	i := slices.IndexFunc(servers, func(s raft.Server) bool { return s.ID == id })
	if i < 0 || servers[i].Suffrage == raft.Voter {
		return settled{fmt.Errorf("promote %q: it is no longer a non-voter", id)}
	}
	// gofail: var memberBeforePromote struct{}
	err := c.v.cfg.Store.AddVoter(string(id), string(servers[i].Address))
	if err == nil {
		// gofail: var memberAfterPromote struct{}
		c.v.metrics.changes.WithLabelValues("promote").Inc()
		c.v.cfg.Logger.Info("Raft configuration changed", "change", "promote", "member", string(id), "reason", "caught up and stable")
	}
	return settled{err}
}

// errNotForAutopilot refuses the changes that Plan and operators decide on.
var errNotForAutopilot = errors.New("autopilot may only promote")

// AddNonvoter is part of autopilot.Raft.
func (configuration) AddNonvoter(raft.ServerID, raft.ServerAddress, uint64, time.Duration) raft.IndexFuture {
	return settled{errNotForAutopilot}
}

// DemoteVoter is part of autopilot.Raft.
func (configuration) DemoteVoter(raft.ServerID, uint64, time.Duration) raft.IndexFuture {
	return settled{errNotForAutopilot}
}

// RemoveServer is part of autopilot.Raft.
func (configuration) RemoveServer(raft.ServerID, uint64, time.Duration) raft.IndexFuture {
	return settled{errNotForAutopilot}
}

// LeadershipTransferToServer is part of autopilot.Raft.
func (configuration) LeadershipTransferToServer(raft.ServerID, raft.ServerAddress) raft.Future {
	return settled{errNotForAutopilot}
}

// LastIndex is part of autopilot.Raft.
func (c configuration) LastIndex() uint64 { return c.v.cfg.Store.LastIndex() }

// Leader is part of autopilot.Raft, which asks only when KnownServers doesn't name the leader: this
// node.
func (configuration) Leader() raft.ServerAddress { return "" }

// State is part of autopilot.Raft.
func (c configuration) State() raft.RaftState {
	if c.v.cfg.Store.IsLeader() {
		return raft.Leader
	}
	return raft.Follower
}

// Stats is part of autopilot.Raft, which looks for the last term in it.
func (c configuration) Stats() map[string]string {
	return map[string]string{"last_log_term": strconv.FormatUint(c.v.cfg.Store.LastLogTerm(), 10)}
}

// GetConfiguration is part of autopilot.Raft.
func (c configuration) GetConfiguration() raft.ConfigurationFuture {
	return latest(c.v.cfg.Store.Servers())
}

// settled is a future that has its result.
type settled struct{ err error }

func (s settled) Error() error { return s.err }
func (settled) Index() uint64  { return 0 }

// latest is a future that has a configuration as its result.
type latest []raft.Server

func (latest) Error() error                        { return nil }
func (latest) Index() uint64                       { return 0 }
func (l latest) Configuration() raft.Configuration { return raft.Configuration{Servers: l} }

// integration is what autopilot needs of the application.
type integration struct{ v *Voters }

func (p integration) AutopilotConfig() *autopilot.Config {
	return &autopilot.Config{
		CleanupDeadServers:      false, // Plan removes them, after DeadServerAfter
		LastContactThreshold:    p.v.scaled(lastContact),
		MaxTrailingLogs:         trailing,
		ServerStabilizationTime: p.v.scaled(stabilization),
	}
}

// NotifyState is called with autopilot's lock held.
func (p integration) NotifyState(s *autopilot.State) {
	healthy := 0.0
	for _, server := range s.Servers {
		if server.Health.Healthy {
			healthy++
		}
	}
	p.v.metrics.healthy.Set(healthy)
	p.v.metrics.tolerance.Set(float64(s.FailureTolerance))
}

func (p integration) KnownServers() map[raft.ServerID]*autopilot.Server {
	known := map[raft.ServerID]*autopilot.Server{}
	for _, m := range p.v.cfg.Members() {
		s := &autopilot.Server{
			ID: raft.ServerID(m.Name), Name: m.Name, Address: raft.ServerAddress(m.PeerAddr), NodeStatus: autopilot.NodeFailed,
			RaftVersion: int(raft.ProtocolVersionMax), IsLeader: m.Name == p.v.cfg.Self, NodeType: autopilot.NodeVoter,
		}
		if m.Alive {
			s.NodeStatus = autopilot.NodeAlive
		}
		if m.NonVoter {
			s.Meta = map[string]string{nonVoterKey: "true"}
			s.NodeType = typeReplica
		}
		known[s.ID] = s
	}
	return known
}

func (p integration) FetchServerStats(ctx context.Context, servers map[raft.ServerID]*autopilot.Server) map[raft.ServerID]*autopilot.ServerStats {
	var (
		mu    sync.Mutex
		stats = map[raft.ServerID]*autopilot.ServerStats{} // guarded by mu
		group errgroup.Group
	)
	group.SetLimit(askedAtOnce)
	for _, m := range p.v.cfg.Members() {
		id := raft.ServerID(m.Name)
		if servers[id] == nil || !m.Alive {
			continue
		}
		group.Go(func() error {
			progress, err := p.v.cfg.Progress(ctx, m)
			if err != nil {
				return nil // without fresh figures it is not healthy
			}
			mu.Lock()
			defer mu.Unlock()
			stats[id] = &autopilot.ServerStats{
				LastContact: progress.LastContact, LastTerm: progress.LastTerm, LastIndex: progress.LastIndex,
			}
			return nil
		})
	}
	group.Wait() // the functions return nil
	return stats
}

// RemoveFailedServer is not called, since CleanupDeadServers is false.
func (p integration) RemoveFailedServer(*autopilot.Server) {}
