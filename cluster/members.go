package cluster

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/raft"
	"golang.org/x/sync/errgroup"

	"quorate/cluster/bootstrap"
	"quorate/cluster/gossip"
	"quorate/cluster/voters"
	"quorate/proto/peerpb"
	"quorate/raftstore"
)

// askedAtOnce bounds the members that are asked concurrently.
const askedAtOnce = 16

// Role of a member.
type Role string

// The roles.
const (
	Leader   Role = "leader"
	Voter    Role = "voter"
	Nonvoter Role = "nonvoter"
)

// Member is a node of the cluster as this node sees it.
type Member struct {
	Name     string
	NodeID   string
	APIAddr  string // empty for a member that this node never saw alive
	PeerAddr string
	Role     Role
	Alive    bool // as gossip reports, which takes seconds to find a member dead
	// Report is what the member responded. It is nil if gossip reports the member as dead, or if it
	// did not respond in time.
	Report *Report
	// Alarms are those about this member, whoever raised them.
	Alarms []raftstore.Alarm
}

// Report is what a member says of itself.
type Report struct {
	AppliedIndex, LastIndex, Term uint64
	// The oldest entry of the log, the last that is known to be committed, and that of the newest
	// snapshot; 0 if there is none, or if the build of the member does not report it.
	FirstIndex, CommitIndex, SnapshotIndex uint64

	LastContact time.Duration // with the leader; negative if it never had any
	Build       string
	DiskFree    *int64 // in bytes; nil if unknown
}

// Members returns the nodes of the cluster, by name: those of Raft's configuration and those about
// to be added to it. It asks all that gossip reports as alive, for a second or two at most.
func (c *Cluster) Members(ctx context.Context) ([]Member, error) {
	members := c.compose(c.cfg.Store.Servers())
	ctx, cancel := context.WithTimeout(ctx, c.callTimeout())
	defer cancel()
	var (
		mu     sync.Mutex
		alarms = map[string][]raftstore.Alarm{} // by the member that they are about; guarded by mu
		group  errgroup.Group
	)
	group.SetLimit(askedAtOnce)
	for i, m := range members {
		if !m.Alive {
			continue
		}
		group.Go(func() error {
			response, err := c.ask(ctx, m.Name, m.NodeID, m.PeerAddr)
			if err != nil {
				c.logger.Debug("ask a member for its report", "member", m.Name, "reason", err)
				return nil
			}
			mu.Lock()
			defer mu.Unlock()
			members[i].Report = reportOf(response)
			for _, a := range response.Alarms {
				alarms[a.Node] = append(alarms[a.Node], raftstore.Alarm{Name: raftstore.AlarmName(a.Name), Node: a.Node, Message: a.Message})
			}
			return nil
		})
	}
	group.Wait() // the functions return nil
	for i := range members {
		members[i].Alarms = alarms[members[i].Name]
		slices.SortFunc(members[i].Alarms, func(a, b raftstore.Alarm) int { return cmp.Compare(a.Name, b.Name) })
	}
	return members, nil
}

// Known returns the nodes of the cluster as this node knows them, by name, without asking them.
func (c *Cluster) Known() []Member { return c.compose(c.cfg.Store.Servers()) }

func reportOf(r *peerpb.DescribeResponse) *Report {
	return &Report{
		AppliedIndex: r.AppliedIndex, LastIndex: r.LastIndex, Term: r.Term,
		FirstIndex: r.FirstIndex, CommitIndex: r.CommitIndex, SnapshotIndex: r.SnapshotIndex,
		LastContact: time.Duration(r.LastContactMs) * time.Millisecond, Build: r.Build, DiskFree: r.DiskFreeBytes,
	}
}

// compose merges Raft's configuration with what gossip reports.
func (c *Cluster) compose(servers []raft.Server) (members []Member) {
	self := gossip.Member{Meta: c.gossip.Self(), Alive: true}
	known := map[string]gossip.Member{c.self.Name: self}
	for _, m := range c.gossip.Members() {
		known[m.Name] = m
	}
	leader, _ := c.cfg.Store.Leader()
	for _, s := range servers {
		m := memberOf(known[string(s.ID)])
		m.Name, m.Role = string(s.ID), Nonvoter
		if s.Suffrage == raft.Voter {
			m.Role = Voter
		}
		if m.Name == leader {
			m.Role = Leader
		}
		if m.PeerAddr == "" {
			m.PeerAddr = string(s.Address)
		}
		members = append(members, m)
		delete(known, m.Name)
	}
	cluster := c.cfg.Store.ClusterID()
	for _, m := range known {
		if m.Alive && cluster != "" && m.Cluster == cluster && !m.Leaving {
			members = append(members, memberOf(m))
		}
	}
	slices.SortFunc(members, func(a, b Member) int { return strings.Compare(a.Name, b.Name) })
	return members
}

func memberOf(m gossip.Member) Member {
	return Member{Name: m.Name, NodeID: m.NodeID, APIAddr: m.APIAddr, PeerAddr: m.PeerAddr, Alive: m.Alive, Role: Nonvoter}
}

// ask asks a member to describe itself, and checks that the node at its address is that member.
func (c *Cluster) ask(ctx context.Context, name, nodeID, peerAddr string) (*peerpb.DescribeResponse, error) {
	if name == c.self.Name {
		return c.describe(), nil
	}
	client, err := c.links.membership(peerAddr)
	if err != nil {
		return nil, err
	}
	response, err := client.Describe(ctx, &peerpb.DescribeRequest{})
	if err != nil {
		c.metrics.failures.WithLabelValues("describe").Inc()
		return nil, err
	}
	if response.Name != name || response.NodeId != nodeID {
		return nil, fmt.Errorf("node %q (%s) answers at %s in the place of %q (%s)", response.Name, response.NodeId, peerAddr, name, nodeID)
	}
	return response, nil
}

// Responds reports whether the member with the name responds, for which it waits a second or two at
// most. An unknown member does not.
func (c *Cluster) Responds(ctx context.Context, name string) bool {
	for _, m := range c.compose(c.cfg.Store.Servers()) {
		if m.Name != name {
			continue
		}
		owner, _ := c.cfg.Roster.Owner(name) // gossip knows no id of a member that it never saw alive
		ctx, cancel := context.WithTimeout(ctx, c.callTimeout())
		defer cancel()
		_, err := c.ask(ctx, name, cmp.Or(m.NodeID, owner), m.PeerAddr)
		return err == nil
	}
	return false
}

// describe returns the description of this node.
func (c *Cluster) describe() *peerpb.DescribeResponse {
	self := c.gossip.Self()
	leader, _ := c.cfg.Store.Leader()
	log := c.cfg.Store.Positions()
	response := &peerpb.DescribeResponse{
		Name: self.Name, NodeId: self.NodeID, ClusterId: c.cfg.Store.ClusterID(), ApiAddr: self.APIAddr, PeerAddr: self.PeerAddr,
		AppliedIndex: c.cfg.Store.Applied(), LastIndex: c.cfg.Store.LastIndex(), Term: c.cfg.Store.Term(), Leader: leader, Build: self.Build,
		LastTerm: c.cfg.Store.LastLogTerm(), LastContactMs: -1,
		FirstIndex: log.First, CommitIndex: log.Committed, SnapshotIndex: log.Snapshot,
	}
	for _, a := range c.cfg.Store.Alarms() {
		response.Alarms = append(response.Alarms, a.Proto())
	}
	if free, known := c.cfg.Store.DiskFree(); known {
		response.DiskFreeBytes = &free
	}
	if since, heard := c.cfg.Store.SinceContact(); heard {
		response.LastContactMs = since.Milliseconds()
	}
	return response
}

// progress asks a member how much of the log it has, for autopilot.
func (c *Cluster) progress(ctx context.Context, m voters.Member) (voters.Progress, error) {
	response, err := c.ask(ctx, m.Name, m.NodeID, m.PeerAddr)
	if err != nil {
		return voters.Progress{}, err
	}
	return voters.Progress{
		LastTerm: response.LastTerm, LastIndex: response.LastIndex,
		LastContact: time.Duration(response.LastContactMs) * time.Millisecond,
	}, nil
}

// askPromise asks another node to promise an attempt.
func (c *Cluster) askPromise(ctx context.Context, to bootstrap.Server, p bootstrap.Attempt) (bootstrap.Response, error) {
	client, err := c.links.membership(to.PeerAddr)
	if err != nil {
		return bootstrap.Response{}, err
	}
	request := &peerpb.PromiseRequest{BootstrapId: p.ID, Proposer: p.Proposer}
	for _, s := range p.Servers {
		request.Servers = append(request.Servers, &peerpb.BootstrapServer{Name: s.Name, NodeId: s.NodeID, PeerAddr: s.PeerAddr})
	}
	response, err := client.Promise(ctx, request)
	if err != nil {
		c.metrics.failures.WithLabelValues("promise").Inc()
		return bootstrap.Response{}, err
	}
	return bootstrap.Response{
		Promised: response.Promised, Reason: response.Reason, NodeID: response.NodeId, Holder: response.Holder,
	}, nil
}

// clientOf returns a client of a member at its current address.
func (c *Cluster) clientOf(name string) (peerpb.MembershipClient, error) {
	for _, m := range c.compose(c.cfg.Store.Servers()) {
		if m.Name == name {
			return c.links.membership(m.PeerAddr)
		}
	}
	return nil, fmt.Errorf("%w: %q", ErrUnknownMember, name)
}
