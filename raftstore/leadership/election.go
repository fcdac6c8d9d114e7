package leadership

import (
	"context"
	"time"

	"github.com/hashicorp/raft"

	"quorate/raftstore/lifecycle"
)

// selfElectInterval is the pause before a lone voter campaigns again after an error.
const selfElectInterval = 10 * time.Millisecond

// SelfElect starts an election if this node is the only voter, so that it leads immediately instead
// of waiting one or two heartbeat timeouts for a leader that can't exist. It does nothing if there
// are other voters. It does not wait for the election, and retries a failed start until the
// election timeout has passed.
func (l *Leadership) SelfElect() {
	l.cfg.Lifecycle.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), l.cfg.Timeout)
		defer cancel()
		for ctx.Err() == nil && l.cfg.Lifecycle.Check() == nil {
			campaigned, err := l.campaignAlone()
			if !campaigned || err == nil {
				return
			}
			l.cfg.Logger.Debug("campaign of the only voter failed", "error", err)
			lifecycle.Pause(ctx, l.cfg.Lifecycle.Closing(), selfElectInterval) // the peer address may not be served yet
		}
	})
}

// campaignAlone campaigns if this node is the only voter, and reports whether it did. The start of
// a node and its bootstrap both call SelfElect, possibly at the same time. The lock makes the
// second call see the first one's campaign; a second campaign could depose a leader that already
// accepts writes.
func (l *Leadership) campaignAlone() (campaigned bool, err error) {
	l.electing.Lock()
	defer l.electing.Unlock()
	if !l.awaitsOwnElection() {
		return false, nil
	}
	return true, l.campaign()
}

// awaitsOwnElection reports whether this node is the only voter and neither leads nor campaigns.
func (l *Leadership) awaitsOwnElection() bool {
	others, voter := l.cfg.Members.OtherVoters()
	return voter && len(others) == 0 && l.cfg.Raft.State() == raft.Follower
}

// campaign makes this node a candidate immediately. The library does that when it receives
// TimeoutNow, which a leader sends to its transfer target; here the node sends it to its own peer
// address. The other voters may then grant their votes even if they still follow a leader.
func (l *Leadership) campaign() error {
	id, addr := raft.ServerID(l.cfg.Members.Name()), l.cfg.Transport.LocalAddr()
	req := &raft.TimeoutNowRequest{RPCHeader: raft.RPCHeader{
		ProtocolVersion: raft.ProtocolVersionMax, ID: []byte(id), Addr: []byte(addr),
	}}
	return l.cfg.Transport.TimeoutNow(id, addr, req, &raft.TimeoutNowResponse{})
}
