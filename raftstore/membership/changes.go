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

// AddVoter makes a server a voter at an address, whether the configuration has it or not. Like the
// other changes it returns when the change is committed, and failure.ErrNotLeader when this node
// does not lead or loses leadership before the commit.
func (m *Members) AddVoter(name, address string) error {
	return LeadershipError(m.cfg.Raft.AddVoter(raft.ServerID(name), raft.ServerAddress(address), 0, ChangeTimeout).Error())
}

// AddNonvoter adds a server as a non-voter, or changes the address of a server that the
// configuration has, whose suffrage stays as it is.
func (m *Members) AddNonvoter(name, address string) error {
	return LeadershipError(m.cfg.Raft.AddNonvoter(raft.ServerID(name), raft.ServerAddress(address), 0, ChangeTimeout).Error())
}

// Remove takes a server out of the configuration.
func (m *Members) Remove(name string) error {
	return LeadershipError(m.cfg.Raft.RemoveServer(raft.ServerID(name), 0, ChangeTimeout).Error())
}

// LeadershipError adds failure.ErrNotLeader to an error of Raft's that means that this node does
// not lead, or stopped leading meanwhile.
func LeadershipError(err error) error {
	for _, lost := range []error{raft.ErrNotLeader, raft.ErrLeadershipLost, raft.ErrLeadershipTransferInProgress} {
		if errors.Is(err, lost) {
			return errors.Join(failure.ErrNotLeader, err)
		}
	}
	return err
}
