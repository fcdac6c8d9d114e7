package raftstore

import (
	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"quorate/raftstore/membership"
)

func (s *Store) raftConfig(logger hclog.Logger) *raft.Config {
	c := raft.DefaultConfig()
	c.LocalID = raft.ServerID(s.cfg.Name)
	c.HeartbeatTimeout = s.cfg.electionTimeout()
	c.ElectionTimeout = s.cfg.electionTimeout()
	c.LeaderLeaseTimeout = s.cfg.electionTimeout()
	c.CommitTimeout = commitTimeout
	c.MaxAppendEntries = maxAppendEntries
	c.BatchApplyCh = true
	c.ShutdownOnRemove = false // Run ends Raft; package cluster ends a removed node
	c.TrailingLogs = membership.TrailingLogs
	c.SnapshotInterval = never
	c.SnapshotThreshold = never
	c.NoLegacyTelemetry = true
	c.Logger = logger
	return c
}
