package raftstore

import (
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"quorate/raftstore/membership"
)

// baseElectionTimeout is Raft's heartbeat, election and leader lease timeout at RaftMultiplier 1.
// It must exceed the time of the slowest fsync: without the library's fast path for heartbeats, a
// follower responds to them only between disk writes (hashicorp/raft#695).
const baseElectionTimeout = 2 * time.Second

// electionTimeout returns Raft's heartbeat and election timeout, scaled by RaftMultiplier.
func (c *Config) electionTimeout() time.Duration {
	return time.Duration(float64(baseElectionTimeout) * c.RaftMultiplier)
}

// connectTimeout bounds the time that requests to another node wait for a connection. It is shorter
// than an election, so that they go to the next leader once there is one.
func (c *Config) connectTimeout() time.Duration {
	return max(time.Second, c.electionTimeout()/2)
}

// raftConfig returns the configuration of hashicorp/raft.
func (s *Store) raftConfig(logger hclog.Logger) *raft.Config {
	c := raft.DefaultConfig()
	c.LocalID = raft.ServerID(s.cfg.Name)
	c.HeartbeatTimeout = s.cfg.electionTimeout()
	c.ElectionTimeout = s.cfg.electionTimeout()
	c.LeaderLeaseTimeout = s.cfg.electionTimeout()
	c.CommitTimeout = commitTimeout
	c.MaxAppendEntries = maxAppendEntries
	c.BatchApplyCh = true
	c.ShutdownOnRemove = false // Run stops Raft; package cluster stops a removed node
	c.TrailingLogs = membership.TrailingLogs
	c.SnapshotInterval = never
	c.SnapshotThreshold = never
	c.NoLegacyTelemetry = true
	c.Logger = logger
	return c
}
