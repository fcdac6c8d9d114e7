package raftstore

import (
	"errors"
	"log/slog"
	"time"

	"github.com/hashicorp/raft"
	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"

	"quorate/raftstore/transport"
)

// defaultStallLimit is the default of Config.StallLimit.
const defaultStallLimit = 10 * time.Second

// Config configures a Store. Zero fields take the defaults given in the comments.
type Config struct {
	// Name is this node's name in the cluster, which is Raft's server id.
	Name string
	// DataDir is the folder that holds the log and the snapshots, each in a folder of its own.
	DataDir string
	// Peers is the listening peer address. The caller runs it, and stops it after the Store.
	Peers *transport.Mux
	// Registrar is the gRPC server on Peers.GRPC(), at which Open registers the Store service.
	Registrar grpc.ServiceRegistrar
	// AddressOf returns a member's current peer address by name, if gossip knows it; otherwise the
	// Store uses the address in Raft's configuration. May be nil.
	AddressOf func(name string) (addr string, ok bool)

	// RaftMultiplier scales all of Raft's timeouts, for slow disks or distant nodes. Default 1.
	RaftMultiplier float64
	// LogBytes and LogAge bound the part of the log before the newest snapshot, which serves
	// watchers and slow followers: an entry that exceeds either bound may be removed. The defaults
	// are those of package log. For a joining node the log keeps more, within limits (see
	// DESIGN.md).
	LogBytes int64
	LogAge   time.Duration
	// SnapshotRate bounds the bytes of snapshots that this node sends to followers in a second, all
	// together; 0 means no bound.
	SnapshotRate int64
	// HistoryBytes bounds the events kept in memory. The default is that of package history.
	HistoryBytes int64
	// RetainedBytes bounds the memory of states retained for paged reads. The default is that of
	// package state.
	RetainedBytes uint64
	// DiskReserve is the free space on the disk, in bytes, below which the node has "no space"; at
	// most a quarter of the disk. Default 256 MiB.
	DiskReserve int64
	// DiskClaim returns how many bytes of the same disk are set aside for others, such as a log of
	// requests that may still grow. They do not count as free. May be nil.
	DiskClaim func() int64
	// Quota bounds what the state holds. Each leader enforces its own. The zero value is no bound.
	Quota Quota
	// StallLimit is the duration of a log write after which a leader gives up leadership; after
	// twice that, the node ends. Default 10 s.
	StallLimit time.Duration
	// LeaderWait is how long a request waits for a leader (N7: in a minority, requests fail after a
	// bounded wait). After as long without a leader, requests no longer wait. Default three
	// election timeouts.
	LeaderWait time.Duration
	// ChecksumInterval is the time between the leader's comparisons of all nodes' states. Default 5
	// minutes.
	ChecksumInterval time.Duration

	Logger     *slog.Logger
	Registerer prometheus.Registerer // may be nil

	wrapLog func(raft.LogStore) raft.LogStore // lets tests wrap the log, for instance to make writes hang
}

func (c *Config) validate() error {
	switch {
	case c.Name == "":
		return errors.New("store: no node name")
	case c.DataDir == "":
		return errors.New("store: no data directory")
	case c.Peers == nil || c.Registrar == nil:
		return errors.New("store: no peer address")
	case c.Logger == nil:
		return errors.New("store: no logger")
	case c.ChecksumInterval < 0:
		return errors.New("store: the interval of checksums must be positive")
	case c.DiskReserve < 0:
		return errors.New("store: the reserve of disk space must be positive")
	case c.LeaderWait < 0:
		return errors.New("store: the time that requests wait for a leader must be positive")
	case c.SnapshotRate < 0:
		return errors.New("store: the rate of snapshots must be positive")
	case c.RaftMultiplier < 0:
		return errors.New("store: the Raft multiplier must be positive")
	}
	if c.RaftMultiplier == 0 {
		c.RaftMultiplier = 1
	}
	if c.wrapLog == nil {
		c.wrapLog = func(l raft.LogStore) raft.LogStore { return l }
	}
	if c.StallLimit == 0 {
		c.StallLimit = defaultStallLimit
	}
	if c.DiskReserve == 0 {
		c.DiskReserve = DefaultDiskReserve
	}
	if c.DiskClaim == nil {
		c.DiskClaim = func() int64 { return 0 }
	}
	if c.LeaderWait == 0 {
		c.LeaderWait = leaderWaitTimeouts * c.electionTimeout()
	}
	if c.ChecksumInterval == 0 {
		c.ChecksumInterval = DefaultChecksumInterval
	}
	if c.Registerer == nil {
		c.Registerer = prometheus.NewRegistry()
	}
	return nil
}

// leaderWaitTimeouts is the number of election timeouts for which requests wait for a leader: a
// voter campaigns one to two timeouts after it has missed the leader, and once more if the vote is
// split.
const leaderWaitTimeouts = 3
