package raftstore

import (
	"context"
	"time"

	"github.com/hashicorp/raft"

	"quorate/proto/peerpb"
)

// Raft is the library's object.
func (s *Store) Raft() *raft.Raft { return s.raft }

// WrapLog puts a log between Raft and the one on disk.
func WrapLog(c *Config, wrap func(raft.LogStore) raft.LogStore) { c.wrapLog = wrap }

// Stalled is what the log calls when one of its writes hangs.
func (s *Store) Stalled(took time.Duration) { s.stalled(took) }

// RefusedByTransfer is what a proposal calls that Raft refused because of a leadership transfer.
func (s *Store) RefusedByTransfer() { s.leadership.RefusedByTransfer() }

// AwaitHeartbeats makes this node miss its leader's heartbeats only after so long.
func (s *Store) AwaitHeartbeats(timeout time.Duration) error {
	c := s.raft.ReloadableConfig()
	c.HeartbeatTimeout, c.ElectionTimeout = timeout, timeout
	return s.raft.ReloadConfig(c)
}

// ProposeUnchecked takes an entry to the log as it is, as a leader of another build would; what
// comes of it is not waited for.
func (s *Store) ProposeUnchecked(data []byte) { s.raft.Apply(data, 0) }

// SelfElect lets the only voter of a cluster become leader at once.
func (s *Store) SelfElect() { s.leadership.SelfElect() }

// ReadIndexFor answers a peer, in whose name ctx is, that asks for a read index and is in a term.
func (s *Store) ReadIndexFor(ctx context.Context, term uint64) (*peerpb.ReadIndexResponse, error) {
	return rpc{store: s}.ReadIndex(ctx, &peerpb.ReadIndexRequest{ClusterId: s.ClusterID(), Term: term})
}
