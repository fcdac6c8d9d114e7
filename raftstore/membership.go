package raftstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/hashicorp/raft"
)

// changeTimeout bounds the wait for Raft to take up a change of the configuration, not for its commit.
const changeTimeout = 10 * time.Second

// HasState reports whether this node belongs to a cluster already: it has a term, a log or a snapshot.
func (s *Store) HasState() (bool, error) {
	has, err := raft.HasExistingState(s.log, s.log, s.snapshots)
	if err != nil {
		return false, fmt.Errorf("look for existing state: %w", err)
	}
	return has, nil
}

// Bootstrap makes this node the member of a new cluster with these servers. Every one of them must get the same list, and only
// one list may ever be used.
func (s *Store) Bootstrap(servers []raft.Server) error {
	if err := s.raft.BootstrapCluster(raft.Configuration{Servers: servers}).Error(); err != nil {
		return fmt.Errorf("bootstrap: %w", err)
	}
	s.hasten()
	return nil
}

// AddVoter makes a server a voter at an address, whether the configuration has it or not. Like the other changes of the
// configuration it returns when the change is committed, and ErrNotLeader when another node leads, or leads meanwhile.
func (s *Store) AddVoter(name, address string) error {
	return s.changed(s.raft.AddVoter(raft.ServerID(name), raft.ServerAddress(address), 0, changeTimeout))
}

// AddNonvoter adds a server as a non-voter, or changes the address of one that the configuration has, which stays what it is.
func (s *Store) AddNonvoter(name, address string) error {
	return s.changed(s.raft.AddNonvoter(raft.ServerID(name), raft.ServerAddress(address), 0, changeTimeout))
}

// RemoveServer takes a server out of the configuration.
func (s *Store) RemoveServer(name string) error {
	return s.changed(s.raft.RemoveServer(raft.ServerID(name), 0, changeTimeout))
}

func (s *Store) changed(future raft.IndexFuture) error { return leadershipError(future.Error()) }

// CommitPending returns when every entry of this leader's log, the configuration included, is committed and applied here, or
// with ErrNotLeader. It proposes an entry that changes nothing. The library's Barrier would do the same without the state
// machine ever seeing its entry: the commit index would pass the applied index, and every linearizable read would wait for
// the next write.
func (s *Store) CommitPending(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, changeTimeout)
	defer cancel()
	return leadershipError(s.commitInit(ctx))
}

// leadershipError adds ErrNotLeader to an error that says that this node doesn't lead, or did not lead to the end.
func leadershipError(err error) error {
	for _, lost := range []error{raft.ErrNotLeader, raft.ErrLeadershipLost, raft.ErrLeadershipTransferInProgress} {
		if errors.Is(err, lost) {
			return errors.Join(ErrNotLeader, err)
		}
	}
	return err
}

// LastLogTerm returns the term of the last entry in this node's log or snapshot. The library tells it as text only; one that
// can't be read is 0.
func (s *Store) LastLogTerm() uint64 {
	term, err := strconv.ParseUint(s.raft.Stats()["last_log_term"], 10, 64)
	if err != nil {
		return 0
	}
	return term
}

// SinceContact returns for how long this node hasn't heard of the leader; false when it never has. A leader hears of itself.
func (s *Store) SinceContact() (time.Duration, bool) {
	contact := s.raft.LastContact()
	switch {
	case s.raft.State() == raft.Leader:
		return 0, true
	case contact.IsZero():
		return 0, false
	}
	return time.Since(contact), true
}

// Servers returns the members in Raft's latest configuration, which may not be committed yet.
func (s *Store) Servers() []raft.Server {
	return slices.Clone(s.raft.GetConfiguration().Configuration().Servers) // the library shares its own
}

// ClusterID returns the cluster's id, "" while this node hasn't learnt it.
func (s *Store) ClusterID() string { return s.root().ClusterID() }

// Snapshot writes a snapshot of this node's state now, and returns the newest there is.
func (s *Store) Snapshot() (id string, index uint64, err error) {
	if err := s.open(); err != nil {
		return "", 0, err
	}
	if err := s.takeSnapshot(); err != nil && !errors.Is(err, raft.ErrNothingNewToSnapshot) {
		return "", 0, fmt.Errorf("take snapshot: %w", err)
	}
	list, err := s.snapshots.List()
	if err != nil {
		return "", 0, fmt.Errorf("list snapshots: %w", err)
	}
	if len(list) == 0 {
		return "", 0, errors.New("take snapshot: nothing to take one of yet")
	}
	return list[0].ID, list[0].Index, nil
}
