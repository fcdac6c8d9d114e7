package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"quorate/cluster/gossip"
	"quorate/cluster/roster"
	"quorate/cluster/voters"
	"quorate/proto/peerpb"
	"quorate/raftstore"
)

// Conditions that callers branch on.
var (
	// ErrUnavailable: there is no leader, or it changed meanwhile. The caller may retry.
	ErrUnavailable = errors.New("no leader to ask")
	// ErrUnknownMember: no member has that name.
	ErrUnknownMember = voters.ErrUnknownMember
	// ErrLastVoter: the only voter cannot leave.
	ErrLastVoter = voters.ErrLastVoter
	// ErrNoQuorum: without the member too few of the voters that are left are alive.
	ErrNoQuorum = voters.ErrNoQuorum
)

const (
	// leaderPause is the pause before a retry while there is no leader.
	leaderPause = 100 * time.Millisecond
	// exchangeInterval is the pause between exchanges of gossip state by which a node whose request
	// to leave got no response learns that it has left.
	exchangeInterval = time.Second
)

// Remove removes a member from the cluster permanently: its node id is barred, so that it cannot
// join again. A leader transfers leadership first. Any node accepts the call.
func (c *Cluster) Remove(ctx context.Context, name string) error {
	return c.atLeader(ctx, func() error { return c.removeHere(ctx, name) },
		func(leader peerpb.MembershipClient) error {
			_, err := leader.Remove(ctx, &peerpb.RemoveRequest{Name: name})
			return err
		})
}

// removeHere is Remove on the leader.
func (c *Cluster) removeHere(ctx context.Context, name string) error {
	if leader, ok := c.cfg.Store.Leader(); !ok || leader != c.self.Name {
		return voters.ErrNotLeader
	}
	if name == c.self.Name {
		if voters.OnlyVoter(c.cfg.Store.Servers(), name) {
			return ErrLastVoter
		}
		// The next leader removes this node: the caller retries, and reaches that leader. It
		// retries a transfer that timed out, too.
		_, err := c.transferHere(ctx, "")
		return errors.Join(voters.ErrNotLeader, err)
	}
	members := c.gossip.Members() // including the one that is removed
	if err := c.voters.Remove(ctx, name); err != nil {
		return err
	}
	c.exchange(members) // the members learn now which node is barred and which name is free
	return nil
}

// exchange exchanges the state of gossip with the members that are alive, in the background.
func (c *Cluster) exchange(members []gossip.Member) {
	for _, m := range members {
		if m.Alive {
			c.gossip.Exchange(m.GossipAddr)
		}
	}
}

// TransferLeader transfers leadership to a voter, or to one that Raft chooses if name is empty, and
// returns the new leader. Any node accepts the call.
func (c *Cluster) TransferLeader(ctx context.Context, name string) (leader string, err error) {
	err = c.atLeader(ctx,
		func() (err error) {
			leader, err = c.transferHere(ctx, name)
			return err
		},
		func(client peerpb.MembershipClient) error {
			response, err := client.TransferLeader(ctx, &peerpb.TransferLeaderRequest{Name: name})
			leader = response.GetLeader()
			return err
		})
	return leader, err
}

// transferHere is TransferLeader on the leader.
func (c *Cluster) transferHere(ctx context.Context, name string) (string, error) {
	if leader, ok := c.cfg.Store.Leader(); !ok || leader != c.self.Name {
		return "", voters.ErrNotLeader
	}
	if name == c.self.Name {
		return name, nil // the target leads already
	}
	if name != "" && !voters.Configures(c.cfg.Store.Servers(), name) {
		return "", fmt.Errorf("hand leadership to %q: %w", name, ErrUnknownMember)
	}
	if err := c.cfg.Store.TransferLeadership(name); err != nil {
		return "", err
	}
	for {
		if leader, ok := c.cfg.Store.Leader(); ok && leader != c.self.Name {
			return leader, nil
		}
		if err := pause(ctx, leaderPause); err != nil {
			return "", fmt.Errorf("wait for the next leader: %w", err)
		}
	}
}

// Snapshot writes a snapshot of this node's state now.
func (c *Cluster) Snapshot() (id string, index uint64, err error) { return c.cfg.Store.Snapshot() }

// Leave ends this node's membership permanently: its node id is barred, so that it cannot join
// again. If this node leads, it transfers leadership first; then the leader removes this node, and
// Leave returns when the removal is committed. The caller must then end Run. After ErrLastVoter,
// ErrNoQuorum or a *raftstore.NoLeaderError the node is still a member. If ctx ends first, the
// removal may be committed nevertheless.
func (c *Cluster) Leave(ctx context.Context) error {
	member, err := c.cfg.Store.HasState()
	if err != nil || !member {
		return err
	}
	if voters.OnlyVoter(c.cfg.Store.Servers(), c.self.Name) {
		return ErrLastVoter
	}
	if refused := c.cfg.Store.Refuse(); refused != nil && !c.hasLeft() {
		return refused // without the announcement, which waits for a response
	}
	// Announced first, so that no leader adds this node again, and gossip does not end it when the
	// others bar it.
	if err := c.gossip.Announce(ctx, func(m *gossip.Meta) { m.Leaving = true }); err != nil {
		return err
	}
	var exchanged time.Time
	var requested bool
	for {
		if err = c.leaveOnce(ctx, &requested); err == nil || c.hasLeft() {
			c.recordLeft()
			return nil
		}
		c.logger.Debug("leave the cluster", "reason", err)
		// A node that has been removed finds no leader either, so once a leader may have the request,
		// only gossip tells what came of it.
		if refused := c.cfg.Store.Refuse(); refused != nil && !requested {
			err = refused
		}
		if isFinal(err) || pause(ctx, leaderPause) != nil {
			stay := c.gossip.Announce(context.WithoutCancel(ctx), func(m *gossip.Meta) { m.Leaving = false })
			return errors.Join(fmt.Errorf("leave the cluster: %w", err), stay)
		}
		if time.Since(exchanged) > exchangeInterval {
			c.exchange(c.gossip.Members()) // the response may be lost: others refuse this node's calls then
			exchanged = time.Now()
		}
	}
}

// isFinal reports whether a request to leave that failed with err would fail again.
func isFinal(err error) bool {
	_, leaderless := errors.AsType[*raftstore.NoLeaderError](err)
	return leaderless || errors.Is(err, ErrLastVoter) || errors.Is(err, ErrNoQuorum)
}

// hasLeft reports whether the members have barred this node.
func (c *Cluster) hasLeft() bool {
	return errors.Is(c.cfg.Roster.Admit(c.self.Name, c.self.NodeID), roster.ErrRemoved)
}

// recordLeft bars this node in its own data directory, so that its next start ends at once. Without
// the record, on a full disk for instance, the other members refuse the next start.
func (c *Cluster) recordLeft() {
	if err := c.cfg.Roster.Remove(c.self.NodeID); err != nil {
		c.logger.Warn("record that this node has left the cluster", "error", err)
	}
	c.logger.Info("left the cluster")
}

// leaveOnce asks the leader to remove this node, and sets requested once it sends the request.
func (c *Cluster) leaveOnce(ctx context.Context, requested *bool) error {
	leader, ok := c.cfg.Store.Leader()
	if !ok {
		return ErrUnavailable
	}
	if leader == c.self.Name {
		_, err := c.transferHere(ctx, "")
		return errors.Join(err, ErrUnavailable) // the next round asks the new leader
	}
	client, err := c.clientOf(leader)
	if err != nil {
		return err
	}
	call, cancel := context.WithTimeout(ctx, 5*c.callTimeout()) // a commit takes longer than other calls
	defer cancel()
	*requested = true
	_, err = client.Leave(call, &peerpb.LeaveRequest{Name: c.self.Name, NodeId: c.self.NodeID})
	if err = errorOf(err); errors.Is(err, ErrUnknownMember) {
		return nil // an earlier request succeeded, and its response was lost
	}
	return err
}

// atLeader calls here if this node leads, and there with a client of the leader otherwise. While
// there is no leader it retries, until ctx ends or an election should have ended: then it returns a
// *raftstore.NoLeaderError.
func (c *Cluster) atLeader(ctx context.Context, here func() error, there func(peerpb.MembershipClient) error) error {
	for {
		err := c.atLeaderOnce(here, there)
		if !errors.Is(err, ErrUnavailable) {
			return err
		}
		if refused := c.cfg.Store.Refuse(); refused != nil {
			return refused
		}
		if pause(ctx, leaderPause) != nil {
			return err
		}
	}
}

func (c *Cluster) atLeaderOnce(here func() error, there func(peerpb.MembershipClient) error) error {
	leader, ok := c.cfg.Store.Leader()
	if !ok {
		return ErrUnavailable
	}
	if leader == c.self.Name {
		return errorOf(statusOf(here())) // the same conditions as through gRPC
	}
	client, err := c.clientOf(leader)
	if err != nil {
		return err
	}
	return errorOf(there(client))
}

// pause waits for d. It fails if ctx ends before.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
