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

// askedAtOnce bounds the members asked at a time.
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
	Name         string `json:"name"`
	NodeID       string `json:"nodeID,omitempty"`
	APIAddr      string `json:"apiAddr,omitempty"` // empty for a member that this node never saw alive
	PeerAddr     string `json:"peerAddr"`
	Role         Role   `json:"role"`
	Alive        bool   `json:"alive"`
	AppliedIndex uint64 `json:"appliedIndex"` // 0 when it did not answer in time
	LastIndex    uint64 `json:"lastIndex"`
	// Alarms are those about this member, whoever raised them.
	Alarms []raftstore.Alarm `json:"alarms"`
}

// Members are the nodes of the cluster, by name: those of Raft's configuration and those about to
// be added to it. Each is asked how far it has come, all at once and for a second or two at most.
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
			answer, err := c.ask(ctx, m.Name, m.NodeID, m.PeerAddr)
			if err != nil {
				c.logger.Debug("ask a member how far it is", "member", m.Name, "reason", err)
				return nil // the zero indexes say so
			}
			mu.Lock()
			defer mu.Unlock()
			members[i].AppliedIndex, members[i].LastIndex = answer.AppliedIndex, answer.LastIndex
			for _, a := range answer.Alarms {
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

// compose puts Raft's configuration and gossip together.
func (c *Cluster) compose(servers []raft.Server) []Member {
	self := gossip.Member{Meta: c.gossip.Self(), Alive: true}
	known := map[string]gossip.Member{c.self.Name: self}
	for _, m := range c.gossip.Members() {
		known[m.Name] = m
	}
	leader, _ := c.cfg.Store.Leader()
	var members []Member
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

// ask describes a member, and makes sure that it is the one meant.
func (c *Cluster) ask(ctx context.Context, name, nodeID, peerAddr string) (*peerpb.DescribeResponse, error) {
	if name == c.self.Name {
		return c.describe(), nil
	}
	client, err := c.links.membership(peerAddr)
	if err != nil {
		return nil, err
	}
	answer, err := client.Describe(ctx, &peerpb.DescribeRequest{})
	if err != nil {
		c.metrics.failures.WithLabelValues("describe").Inc()
		return nil, err
	}
	if answer.Name != name || answer.NodeId != nodeID {
		return nil, fmt.Errorf("node %q (%s) answers at %s in the place of %q (%s)", answer.Name, answer.NodeId, peerAddr, name, nodeID)
	}
	return answer, nil
}

// describe is what this node says of itself when it is asked.
func (c *Cluster) describe() *peerpb.DescribeResponse {
	self := c.gossip.Self()
	leader, _ := c.cfg.Store.Leader()
	answer := &peerpb.DescribeResponse{
		Name: self.Name, NodeId: self.NodeID, ClusterId: c.cfg.Store.ClusterID(), ApiAddr: self.APIAddr, PeerAddr: self.PeerAddr,
		AppliedIndex: c.cfg.Store.Applied(), LastIndex: c.cfg.Store.LastIndex(), Term: c.cfg.Store.Term(), Leader: leader, Build: self.Build,
		LastTerm: c.cfg.Store.LastLogTerm(), LastContactMs: -1,
	}
	for _, a := range c.cfg.Store.Alarms() {
		answer.Alarms = append(answer.Alarms, a.Proto())
	}
	if since, heard := c.cfg.Store.SinceContact(); heard {
		answer.LastContactMs = since.Milliseconds()
	}
	return answer
}

// progress is how far a member has come, for autopilot.
func (c *Cluster) progress(ctx context.Context, m voters.Member) (voters.Progress, error) {
	answer, err := c.ask(ctx, m.Name, m.NodeID, m.PeerAddr)
	if err != nil {
		return voters.Progress{}, err
	}
	return voters.Progress{
		LastTerm: answer.LastTerm, LastIndex: answer.LastIndex,
		LastContact: time.Duration(answer.LastContactMs) * time.Millisecond,
	}, nil
}

// askPromise puts a pledge to another node.
func (c *Cluster) askPromise(ctx context.Context, to bootstrap.Server, p bootstrap.Pledge) (bootstrap.Answer, error) {
	client, err := c.links.membership(to.PeerAddr)
	if err != nil {
		return bootstrap.Answer{}, err
	}
	request := &peerpb.PromiseRequest{BootstrapId: p.ID, Proposer: p.Proposer}
	for _, s := range p.Servers {
		request.Servers = append(request.Servers, &peerpb.BootstrapServer{Name: s.Name, NodeId: s.NodeID, PeerAddr: s.PeerAddr})
	}
	answer, err := client.Promise(ctx, request)
	if err != nil {
		c.metrics.failures.WithLabelValues("promise").Inc()
		return bootstrap.Answer{}, err
	}
	return bootstrap.Answer{
		Promised: answer.Promised, Reason: answer.Reason, NodeID: answer.NodeId, Holder: answer.Holder,
	}, nil
}

// clientOf is a client of a member at its present address.
func (c *Cluster) clientOf(name string) (peerpb.MembershipClient, error) {
	for _, m := range c.compose(c.cfg.Store.Servers()) {
		if m.Name == name {
			return c.links.membership(m.PeerAddr)
		}
	}
	return nil, fmt.Errorf("%w: %q", ErrUnknownMember, name)
}
