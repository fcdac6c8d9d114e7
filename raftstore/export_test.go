package raftstore

import (
	"context"
	"time"

	"github.com/hashicorp/raft"

	"quorate/proto/peerpb"
)

// SnapshotInterval and IdleInterval are the times between checks whether a snapshot is due.
const (
	SnapshotInterval = snapshotInterval
	IdleInterval     = idleInterval
)

// Raft returns the library's instance.
func (s *Store) Raft() *raft.Raft { return s.raft }

// WrapLog sets a function that wraps the log on disk for Raft.
func WrapLog(c *Config, wrap func(raft.LogStore) raft.LogStore) { c.wrapLog = wrap }

// Stalled is the function that the log calls when a write hangs.
func (s *Store) Stalled(took time.Duration) { s.stalled(took) }

// RefusedByTransfer is the function that a proposal calls if Raft refuses it because of a
// leadership transfer.
func (s *Store) RefusedByTransfer() { s.leadership.RefusedByTransfer() }

// SetHeartbeatTimeout changes the time after which this node misses its leader's heartbeats.
func (s *Store) SetHeartbeatTimeout(timeout time.Duration) error {
	c := s.raft.ReloadableConfig()
	c.HeartbeatTimeout, c.ElectionTimeout = timeout, timeout
	return s.raft.ReloadConfig(c)
}

// ProposeUnchecked appends an entry to the log unchanged, as a leader of another build would. It
// does not wait for the outcome.
func (s *Store) ProposeUnchecked(data []byte) { s.raft.Apply(data, 0) }

// SelfElect makes the only voter of a cluster campaign immediately.
func (s *Store) SelfElect() { s.leadership.SelfElect() }

// ReadIndexFor responds to a read index request of the peer in ctx, which is in the given term.
func (s *Store) ReadIndexFor(ctx context.Context, term uint64) (*peerpb.ReadIndexResponse, error) {
	return rpc{store: s}.ReadIndex(ctx, &peerpb.ReadIndexRequest{ClusterId: s.ClusterID(), Term: term})
}
