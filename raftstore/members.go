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

// HasState reports whether this node already belongs to a cluster, which is the case if it has a
// term, a log or a snapshot.
func (s *Store) HasState() (bool, error) {
	has, err := raft.HasExistingState(s.log, s.log, s.snapshots)
	if err != nil {
		return false, fmt.Errorf("look for existing state: %w", err)
	}
	return has, nil
}

// Bootstrap makes this node a member of a new cluster with these servers. Each of them must be
// bootstrapped with the same list, and only one list may ever be used. A node that has it already,
// perhaps from a leader that the others have elected meanwhile, stays as it is.
func (s *Store) Bootstrap(servers []raft.Server) error {
	err := s.raft.BootstrapCluster(raft.Configuration{Servers: servers}).Error()
	if err != nil && !errors.Is(err, raft.ErrCantBootstrap) {
		return fmt.Errorf("bootstrap: %w", err)
	}
	s.leadership.SelfElect()
	return nil
}

// AddVoter makes a server a voter with the given address, whether or not the configuration has the
// server. Like the other changes of the configuration it returns once the change is committed. It
// returns ErrNotLeader if this node does not lead, is transferring leadership, or loses leadership
// before the commit; after a loss the change may still be committed.
func (s *Store) AddVoter(name, address string) error { return s.members.AddVoter(name, address) }

// AddNonvoter adds a server as a non-voter. If the configuration has the server, it changes only
// the address.
func (s *Store) AddNonvoter(name, address string) error { return s.members.AddNonvoter(name, address) }

// RemoveServer removes a server from the configuration.
func (s *Store) RemoveServer(name string) error { return s.members.Remove(name) }

// Servers returns the members in Raft's latest configuration, which may not be committed yet.
func (s *Store) Servers() []raft.Server { return s.members.Servers() }

// ClusterID returns the cluster's id, "" while this node does not know it.
func (s *Store) ClusterID() string { return s.root().ClusterID() }

// TransferLeadership transfers leadership to the named voter, or to the voter whose log is most up
// to date if name is "". It returns once this node has stopped leading; after an error it may still
// lead. It is meant for a leaving or stopping node and for operators: if this node loses leadership
// during a transfer, the library may refuse all later writes on it (hashicorp/raft#696).
func (s *Store) TransferLeadership(name string) error {
	if err := s.life.Check(); err != nil {
		return err
	}
	return s.leadership.Transfer(name)
}

// WhileLeader calls fn each time this node has become the leader and has applied an entry of its
// own term. It cancels fn's context when the node loses leadership, and waits for fn to return
// before it calls fn again. WhileLeader returns nil once ctx is done or the store is closing, and
// an error of fn if fn fails while this node still leads. It ignores an error that fn returns after
// the node has lost leadership, and context.Canceled after ctx is done.
func (s *Store) WhileLeader(ctx context.Context, fn func(ctx context.Context) error) error {
	return s.leaders.WhileLeader(ctx, fn)
}

// CommitPending commits an entry that changes nothing, and returns once this node has applied it:
// then every earlier entry of this leader's log, configurations included, is committed and applied.
// It waits at most membership.ChangeTimeout. Errors are those of a write, joined with ErrNotLeader
// if this node does not lead or loses leadership.
//
// The library's Barrier can't replace it. A barrier never reaches the state machine, so the commit
// index would exceed the applied index, and linearizable reads would wait until the next write.
func (s *Store) CommitPending(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, membership.ChangeTimeout)
	defer cancel()
	return membership.LeadershipError(s.writer.CommitInit(ctx))
}

// LastLogTerm returns the term of the last entry in this node's log or snapshot. The library
// reports it only as text; LastLogTerm returns 0 if that is missing.
func (s *Store) LastLogTerm() uint64 {
	term, err := strconv.ParseUint(s.raft.Stats()["last_log_term"], 10, 64)
	if err != nil {
		return 0
	}
	return term
}

// SinceContact returns the time since this node last heard from the leader, 0 on the leader itself.
// It returns false if the node never has.
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

// Snapshot writes a snapshot of this node's state now, and returns the id and the index of the
// newest snapshot.
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
		return "", 0, errors.New("take snapshot: no entry has been applied yet")
	}
	return list[0].ID, list[0].Index, nil
}
