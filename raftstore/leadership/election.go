package leadership

import (
	"context"
	"time"

	"github.com/hashicorp/raft"

	"quorate/raftstore/lifecycle"
)

// selfElectInterval is how long a lone voter waits before it campaigns again after an error.
const selfElectInterval = 10 * time.Millisecond

// SelfElect lets the only voter of a cluster become leader at once. Without it, the voter would
// wait one or two heartbeat timeouts for a leader that can't exist. SelfElect returns at once and
// does nothing when there are other voters.
func (l *Leadership) SelfElect() {
	l.cfg.Lifecycle.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), l.cfg.Timeout)
		defer cancel()
		for ctx.Err() == nil && l.cfg.Lifecycle.Check() == nil {
			campaigned, err := l.campaignAlone()
			if !campaigned || err == nil {
				return
			}
			l.cfg.Logger.Debug("the only voter has not elected itself yet", "error", err)
			lifecycle.Pause(ctx, l.cfg.Lifecycle.Closing(), selfElectInterval) // the peer address may not be served yet
		}
	})
}

// campaignAlone campaigns if this node is the only voter. A new cluster calls SelfElect when it
// starts and when it is bootstrapped, possibly at once: the second call must see the first one's
// campaign, or it deposes a leader that already accepts writes.
func (l *Leadership) campaignAlone() (campaigned bool, err error) {
	l.electing.Lock()
	defer l.electing.Unlock()
	if !l.awaitsOwnElection() {
		return false, nil
	}
	return true, l.campaign()
}

// awaitsOwnElection reports whether this node is the only voter and does not lead or campaign yet.
func (l *Leadership) awaitsOwnElection() bool {
	others, voter := l.cfg.Members.OtherVoters()
	return voter && len(others) == 0 && l.cfg.Raft.State() == raft.Follower
}

// campaign begins an election here without delay. The library does so on TimeoutNow, which a leader
// sends to its transfer target; this node sends it to its own peer address. The other voters grant
// their votes even if they still believe in a leader.
func (l *Leadership) campaign() error {
	id, addr := raft.ServerID(l.cfg.Members.Name()), l.cfg.Transport.LocalAddr()
	req := &raft.TimeoutNowRequest{RPCHeader: raft.RPCHeader{
		ProtocolVersion: raft.ProtocolVersionMax, ID: []byte(id), Addr: []byte(addr),
	}}
	return l.cfg.Transport.TimeoutNow(id, addr, req, &raft.TimeoutNowResponse{})
}
