package membership

import (
	"errors"
	"time"

	"github.com/hashicorp/raft"

	"quorate/raftstore/failure"
)

// ChangeTimeout bounds the wait for Raft to accept a change of the configuration, not for its
// commit.
const ChangeTimeout = 10 * time.Second

// AddVoter makes a server a voter with the given address, whether or not the configuration has the
// server. Like the other changes, it returns once the change is committed. It returns
// failure.ErrNotLeader if this node does not lead, is transferring leadership, or loses leadership
// before the commit; after a loss the change may still be committed.
func (m *Members) AddVoter(name, address string) error {
	return LeadershipError(m.cfg.Raft.AddVoter(raft.ServerID(name), raft.ServerAddress(address), 0, ChangeTimeout).Error())
}

// AddNonvoter adds a server as a non-voter. If the configuration has the server, it changes only
// the address.
func (m *Members) AddNonvoter(name, address string) error {
	return LeadershipError(m.cfg.Raft.AddNonvoter(raft.ServerID(name), raft.ServerAddress(address), 0, ChangeTimeout).Error())
}

// Remove removes a server from the configuration.
func (m *Members) Remove(name string) error {
	return LeadershipError(m.cfg.Raft.RemoveServer(raft.ServerID(name), 0, ChangeTimeout).Error())
}

// LeadershipError wraps an error of Raft with failure.ErrNotLeader if it means that this node does
// not lead or has lost leadership.
func LeadershipError(err error) error {
	for _, lost := range []error{raft.ErrNotLeader, raft.ErrLeadershipLost, raft.ErrLeadershipTransferInProgress} {
		if errors.Is(err, lost) {
			return errors.Join(failure.ErrNotLeader, err)
		}
	}
	return err
}
