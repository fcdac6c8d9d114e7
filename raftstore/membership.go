package raftstore

import (
	"errors"
	"fmt"

	"github.com/hashicorp/raft"
)

// Raft is the library's object, for package cluster to change membership with. Proposals, barriers, transfers and shutdown are
// this package's.
func (s *Store) Raft() *raft.Raft { return s.raft }

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

// Servers returns the members in Raft's latest configuration, which may not be committed yet.
func (s *Store) Servers() []raft.Server { return s.raft.GetConfiguration().Configuration().Servers }

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
