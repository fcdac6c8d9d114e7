package leadership

import (
	"context"
	"slices"
	"time"

	"github.com/hashicorp/raft"

	"quorate/raftstore/lifecycle"
)

const (
	// probeLimit bounds one probe of the leader's peer address.
	probeLimit = time.Second
	// maxProbes bounds the probes that a voter makes while it still processes the leader's last
	// messages.
	maxProbes = 5
	// campaignsPerTimeout is the number of voters that may campaign, one after the other, within
	// one election timeout. Each campaign must be decided before the next one begins. Overlapping
	// campaigns split the vote, and the voters would have to wait for the election timeout after
	// all.
	campaignsPerTimeout = 2
	// checksPerStep is how often a waiting voter checks, within each such step, whether another
	// voter campaigns or leads.
	checksPerStep = 20
)

// FailOver replaces a leader whose process has ended, without waiting for missed heartbeats. It
// runs until ctx ends. It considers the process ended if a connection to it breaks and its host
// refuses new connections. Other failures, such as a partition, a host that is down or a process
// that hangs, look like a slow network, and FailOver leaves them to the heartbeat timeout.
//
// A wrong detection costs an unnecessary election, but is safe.
func (l *Leadership) FailOver(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case peer := <-l.cfg.Transport.Lost():
			l.replace(ctx, raft.ServerID(peer))
		}
	}
}

// replace campaigns if the given leader's process has ended and this node is a voter. The voters
// campaign in the order of their names, so that they do not split the vote. If a voter loses,
// because the log of another is more up to date, the next voter campaigns.
func (l *Leadership) replace(ctx context.Context, leader raft.ServerID) {
	addr, current := l.cfg.Raft.LeaderWithID()
	rank, voter := l.rank(leader)
	if current != leader || !voter {
		return
	}
	for range maxProbes { // this node may still be processing the leader's last messages
		probed := time.Now()
		if !l.hasEnded(ctx, leader, addr) || !l.awaitRank(ctx, leader, rank) {
			return
		}
		if l.cfg.Raft.LastContact().After(probed) {
			rank = 0
			continue
		}
		l.cfg.Logger.Info("campaigning: the leader's process has ended", "leader", leader)
		l.metrics.fastFailovers.Inc()
		if err := l.campaign(); err != nil {
			l.cfg.Logger.Warn("could not campaign", "error", err)
		}
		return
	}
}

// awaitRank waits while the voters of a lower rank campaign, each for longer than an election
// takes. It returns false if another node leads or this node already campaigns.
func (l *Leadership) awaitRank(ctx context.Context, leader raft.ServerID, rank int) bool {
	step := l.cfg.Timeout / campaignsPerTimeout
	deadline := time.Now().Add(time.Duration(rank) * step)
	term := l.cfg.Raft.CurrentTerm()
	for {
		_, current := l.cfg.Raft.LeaderWithID()
		if current != leader && current != "" || l.cfg.Raft.State() != raft.Follower || ctx.Err() != nil {
			return false
		}
		now := time.Now()
		if current := l.cfg.Raft.CurrentTerm(); current != term { // another voter campaigns
			term = current
			deadline = later(deadline, now.Add(step))
		}
		if !now.Before(deadline) {
			return true
		}
		lifecycle.Pause(ctx, nil, min(deadline.Sub(now), step/checksPerStep))
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// rank returns the number of voters that campaign before this node to replace a leader.
func (l *Leadership) rank(leader raft.ServerID) (rank int, voter bool) {
	own := raft.ServerID(l.cfg.Members.Name())
	others, voter := l.cfg.Members.OtherVoters()
	others = slices.DeleteFunc(others, func(o raft.Server) bool { return o.ID == leader || o.ID > own })
	return len(others), voter
}

// hasEnded reports whether a node's host refuses connections to the node's peer address.
func (l *Leadership) hasEnded(ctx context.Context, id raft.ServerID, addr raft.ServerAddress) bool {
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	return l.cfg.Transport.Refused(ctx, id, addr)
}
