package raftstore

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/hashicorp/raft"

	"quorate/raftstore/membership"
)

// HasState reports whether this node belongs to a cluster already: it has a term, a log or a
// snapshot.
func (s *Store) HasState() (bool, error) {
	has, err := raft.HasExistingState(s.log, s.log, s.snapshots)
	if err != nil {
		return false, fmt.Errorf("look for existing state: %w", err)
	}
	return has, nil
}

// Bootstrap makes this node a member of a new cluster with these servers. Each of them must get the
// same list, and only one list may ever be used.
func (s *Store) Bootstrap(servers []raft.Server) error {
	if err := s.raft.BootstrapCluster(raft.Configuration{Servers: servers}).Error(); err != nil {
		return fmt.Errorf("bootstrap: %w", err)
	}
	s.leadership.SelfElect()
	return nil
}

// AddVoter makes a server a voter at an address, whether the configuration has it or not. Like the
// other changes of the configuration it returns when the change is committed, and ErrNotLeader when
// this node does not lead or loses leadership before the commit.
func (s *Store) AddVoter(name, address string) error { return s.members.AddVoter(name, address) }

// AddNonvoter adds a server as a non-voter, or changes the address of a server that the
// configuration has, whose suffrage stays as it is.
func (s *Store) AddNonvoter(name, address string) error { return s.members.AddNonvoter(name, address) }

// RemoveServer takes a server out of the configuration.
func (s *Store) RemoveServer(name string) error { return s.members.Remove(name) }

// Servers returns the members in Raft's latest configuration, which may not be committed yet.
func (s *Store) Servers() []raft.Server { return s.members.Servers() }

// Configuration is a committed configuration of Raft.
type Configuration = membership.Configuration

// TakeConfigurations returns the configurations that this node has applied since the last call,
// oldest first, and a channel that is closed when there are more. It has one caller. Unlike the
// configuration that Servers returns, these are committed.
//
// After a restart the first one is that of the newest snapshot; those of the log follow as they are
// applied again. A snapshot from another node brings only the last of the configurations that it
// covers, and of more than 256 that were not taken the oldest are missing.
func (s *Store) TakeConfigurations() (taken []Configuration, more <-chan struct{}) {
	return s.configurations.Take()
}

// addSnapshotConfiguration queues the configuration of the newest snapshot, which is being
// restored. appended is when the last entry that this node applied before was appended.
func (s *Store) addSnapshotConfiguration(appended time.Time) {
	list, err := s.snapshots.List()
	if err != nil || len(list) == 0 {
		s.logger.Warn("read the configuration in a snapshot", "error", err)
		return
	}
	s.configurations.Add(appended, list[0].Configuration.Servers)
}

// ClusterID returns the cluster's id, "" while this node hasn't learnt it.
func (s *Store) ClusterID() string { return s.root().ClusterID() }

// TransferLeadership transfers leadership to a voter, or for an empty name to the voter that has
// most of the log. It returns when this node has stopped leading; after an error it may still lead.
// Only a leaving node, a graceful stop and an operator may call it.
func (s *Store) TransferLeadership(name string) error {
	if err := s.life.Check(); err != nil {
		return err
	}
	return s.leadership.Transfer(name)
}

// WhileLeader runs fn each time this node has become a leader that is ready, and cancels its
// context when leadership ends. It returns nil when ctx or the store ends, and fn's error when fn
// fails while this node leads. Runs of fn never overlap.
func (s *Store) WhileLeader(ctx context.Context, fn func(ctx context.Context) error) error {
	return s.leaders.WhileLeader(ctx, fn)
}

// CommitPending returns when every entry of this leader's log, the configuration included, is
// committed and applied here, or with ErrNotLeader. It proposes an entry that changes nothing. The
// library's Barrier would do the same without the state machine ever seeing its entry: the commit
// index would exceed the applied index, and every linearizable read would wait for the next write.
func (s *Store) CommitPending(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, membership.ChangeTimeout)
	defer cancel()
	return membership.LeadershipError(s.writer.CommitInit(ctx))
}

// LastLogTerm returns the term of the last entry in this node's log or snapshot, and 0 if the
// library, which reports it as text only, reports none.
func (s *Store) LastLogTerm() uint64 {
	term, err := strconv.ParseUint(s.raft.Stats()["last_log_term"], 10, 64)
	if err != nil {
		return 0
	}
	return term
}

// SinceContact returns the time since this node last heard from the leader, 0 on the leader itself,
// and false if it never has.
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

// Snapshot writes a snapshot of this node's state now, and returns the newest snapshot's id and
// index.
func (s *Store) Snapshot() (id string, index uint64, err error) {
	if err := s.life.Check(); err != nil {
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
