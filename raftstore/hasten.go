package raftstore

import (
	"context"
	"time"

	"github.com/hashicorp/raft"
)

// hasten lets the only voter of a cluster lead at once. By itself it would first wait for a heartbeat timeout or two, for a
// leader that can't exist.
func (s *Store) hasten() {
	s.work.run(func() {
		ctx, cancel := context.WithTimeout(context.Background(), s.cfg.electionTimeout())
		defer cancel()
		for ctx.Err() == nil && s.open() == nil {
			stood, err := s.standAlone()
			if !stood || err == nil {
				return
			}
			s.logger.Debug("election not hastened yet", "error", err)
			pause(ctx, s.closing, 10*time.Millisecond) // the peer address may not be served yet
		}
	})
}

// standAlone stands if this node is alone. A new cluster asks for that as it begins and as it is bootstrapped, which may be at once: the
// second one must see that the first stands, or it deposes a leader that takes writes.
func (s *Store) standAlone() (stood bool, err error) {
	s.hastening.Lock()
	defer s.hastening.Unlock()
	if !s.alone() {
		return false, nil
	}
	return true, s.stand()
}

// alone reports whether this node is the only voter and waits for an election.
func (s *Store) alone() bool {
	others, voter := s.otherVoters()
	return voter && len(others) == 0 && s.raft.State() == raft.Follower
}

// stand begins an election here without delay. The library does so when it is told that a leader hands over to it, so that is
// what the node tells itself, over its own peer address. The others vote even if they still believe in a leader.
func (s *Store) stand() error {
	id, addr := raft.ServerID(s.cfg.Name), s.transport.LocalAddr()
	req := &raft.TimeoutNowRequest{RPCHeader: raft.RPCHeader{
		ProtocolVersion: raft.ProtocolVersionMax, ID: []byte(id), Addr: []byte(addr),
	}}
	return s.transport.TimeoutNow(id, addr, req, &raft.TimeoutNowResponse{})
}
