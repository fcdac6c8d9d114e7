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

// defaultStallLimit is when a log write counts as hung.
const defaultStallLimit = 10 * time.Second

// Config is what a Store needs. Zero fields take the defaults named.
type Config struct {
	// Name is this node's name in the cluster: Raft's server id.
	Name string
	// DataDir holds log and snapshots, in folders of their own.
	DataDir string
	// Peers is the peer address, listening; the caller runs it, and ends it after the Store.
	Peers *transport.Mux
	// Registrar is the gRPC server on Peers.GRPC(); the Store service is registered there by Open.
	Registrar grpc.ServiceRegistrar
	// AddressOf returns a member's current peer address by name, where gossip knows it; otherwise
	// the address in Raft's configuration serves. May be nil.
	AddressOf func(name string) (addr string, ok bool)

	// RaftMultiplier scales all of Raft's timeouts, for slow disks or distant nodes; 1.
	RaftMultiplier float64
	// LogBytes and LogAge bound the log behind a snapshot, for watchers and slow followers: the log
	// keeps entries that are within either bound; defaults are package log's. It holds what a
	// joining node needs beyond them, within limits: see DESIGN.md.
	LogBytes int64
	LogAge   time.Duration
	// HistoryBytes bounds the events kept in memory; the default is package history's.
	HistoryBytes int64
	// RetainedBytes bounds the memory of states retained for paged reads; the default is package
	// state's.
	RetainedBytes uint64
	// DiskReserve is the free space on the disk, in bytes, below which the node has "no space"; at
	// most a quarter of the disk. 256 MiB.
	DiskReserve int64
	// StallLimit is how long one log write may take before the node gives up leadership, or itself;
	// 10 s.
	StallLimit time.Duration
	// ChecksumInterval is how often the leader compares the states of all nodes; 5 minutes.
	ChecksumInterval time.Duration

	Logger     *slog.Logger
	Registerer prometheus.Registerer // may be nil

	wrapLog func(raft.LogStore) raft.LogStore // tests insert a disk that hangs between Raft and the log
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
	if c.ChecksumInterval == 0 {
		c.ChecksumInterval = DefaultChecksumInterval
	}
	if c.Registerer == nil {
		c.Registerer = prometheus.NewRegistry()
	}
	return nil
}

// patience returns how long a request waits for a leader: a few election timeouts (semantics N7).
func (c *Config) patience() time.Duration { return 3 * c.electionTimeout() }
