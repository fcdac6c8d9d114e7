package raftstore

import (
	"context"
	"time"

	"github.com/hashicorp/raft"
)

// hasten lets the only voter of a cluster lead at once. By itself it would first wait for a heartbeat timeout or two, for a
// leader that can't exist. The library begins an election without delay when it is told that a leader hands over to it, so
// that is what the node tells itself, over its own peer address.
func (s *Store) hasten() {
	s.work.run(func() {
		ctx, cancel := context.WithTimeout(context.Background(), s.cfg.timeout())
		defer cancel()
		for s.alone() && ctx.Err() == nil && s.open() == nil {
			req := &raft.TimeoutNowRequest{RPCHeader: raft.RPCHeader{
				ProtocolVersion: raft.ProtocolVersionMax, ID: []byte(s.cfg.Name), Addr: []byte(s.transport.LocalAddr()),
			}}
			id := raft.ServerID(s.cfg.Name)
			err := s.transport.TimeoutNow(id, s.transport.LocalAddr(), req, &raft.TimeoutNowResponse{})
			if err == nil {
				return
			}
			s.logger.Debug("election not hastened yet", "error", err)
			pause(ctx, s.closing, 10*time.Millisecond) // the peer address may not be served yet
		}
	})
}

// alone reports whether this node is the only voter and waits for an election.
func (s *Store) alone() bool {
	others, voter := s.otherVoters()
	return voter && len(others) == 0 && s.raft.State() == raft.Follower
}
