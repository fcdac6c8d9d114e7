package raftstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/hashicorp/raft"

	"quorate/proto/peerpb"
	"quorate/raftstore/applier"
	"quorate/raftstore/checksum"
	"quorate/raftstore/direct"
	"quorate/raftstore/diskguard"
	"quorate/raftstore/entries"
	"quorate/raftstore/forward"
	"quorate/raftstore/history"
	"quorate/raftstore/leadership"
	"quorate/raftstore/lifecycle"
	"quorate/raftstore/log"
	"quorate/raftstore/logbridge"
	"quorate/raftstore/membership"
	"quorate/raftstore/read"
	"quorate/raftstore/replay"
	"quorate/raftstore/snapshot"
	"quorate/raftstore/snapshotrpc"
	"quorate/raftstore/state"
	"quorate/raftstore/transport"
	"quorate/raftstore/write"
)

// Names in the data directory: the folder of log and snapshots, the name of that folder during a
// restore, and in it the folder of the log, and the file in which former builds had the log.
const (
	RaftDir       = "raft"
	UnfinishedDir = RaftDir + ".new"
	LogDir        = "log"
	BoltFile      = "log.db"
)

// The size of the log's files, which is also the space that the log allocates ahead of its entries
// and the least that a trim removes: this share of the log's bound and of the disk's reserve, within
// bounds.
const (
	segmentShare    = 16
	minSegmentBytes = 16 << 10
	maxSegmentBytes = 64 << 20
)

// Raft's tuning. Timeouts are in raftconfig.go.
const (
	// maxAppendEntries is the largest number of entries in one append. With the library's default
	// of 64, a thousand proposers wait 0.8 s at p99.9 instead of 0.08 s.
	maxAppendEntries = 512
	// commitTimeout is Raft's CommitTimeout. The transport tells followers of commits earlier
	// (transport/commit_append.go), unless a follower is catching up.
	commitTimeout = 250 * time.Millisecond
	// never disables Raft's own snapshots; takeSnapshots triggers them.
	never = 1 << 62
)

// Open opens the log and the snapshots, makes them consistent, restores the state and starts Raft
// as a follower. Before Run, the store proposes no write and confirms no linearizable read. The
// caller must end the store with either Run or Close.
//
// Open falls back to an older snapshot if the newest is damaged and the log has all entries since.
// Other damage to data that the node needs is an error of type *log.Corrupt or *snapshot.Corrupt,
// whose message is one line for the operator.
func Open(cfg Config) (*Store, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	life := lifecycle.New()
	s := &Store{
		cfg:     cfg,
		logger:  cfg.Logger.With("component", "raftstore", "node", cfg.Name),
		life:    life,
		leaders: leadership.NewTracker(life),
	}
	s.alarms = diskguard.NewAlarms(s.logger, cfg.Registerer)
	s.space = diskguard.NewSpace(diskguard.SpaceConfig{
		Node: cfg.Name, Dir: cfg.DataDir, Reserve: cfg.DiskReserve, Claim: cfg.DiskClaim, Next: s.nextSnapshot,
		Written: func() int64 { return s.log.Written() },
		Alarms:  s.alarms, Lifecycle: life, Logger: s.logger,
	})
	s.peers = forward.NewClient(cfg.Peers, cfg.connectTimeout(), cfg.Registerer)
	s.forwarded = forward.NewServer(rpc{store: s}.write, cfg.Registerer)
	if err := s.openState(); err != nil {
		return nil, errors.Join(err, s.closeFiles())
	}
	// gofail: var startBeforeRaft struct{}
	if err := s.openRaft(); err != nil {
		return nil, errors.Join(err, s.closeFiles())
	}
	// gofail: var startAfterRaft struct{}
	s.registerGauges(cfg.Registerer)
	peerpb.RegisterStoreServer(cfg.Registrar, rpc{store: s})
	s.direct = direct.NewServer(transport.PeerContext, s.logger)
	peerpb.RegisterStoreServer(s.direct, rpc{store: s})
	return s, nil
}

// openState opens the files and makes them consistent.
func (s *Store) openState() error {
	dir, err := s.cfg.makeRaftDir()
	if err != nil {
		return err
	}
	s.log, err = log.Open(log.Config{
		Dir: filepath.Join(dir, LogDir), BoltFile: filepath.Join(dir, BoltFile),
		SegmentBytes: s.cfg.segmentBytes(dir), MaxBytes: s.cfg.LogBytes, MaxAge: s.cfg.LogAge,
		StallLimit: s.cfg.StallLimit, OnStall: s.stalled, OnError: s.space.WriteFailed,
		Logger: s.cfg.Logger, Registerer: s.cfg.Registerer,
	})
	if err != nil {
		return err
	}
	s.joiners = membership.NewJoiners(s.log)
	s.snapshots, err = snapshot.New(snapshot.Config{
		Dir: dir, OnOpen: func(index uint64) func() { return s.log.Hold(index).Release },
		Logger: s.cfg.Logger, Registerer: s.cfg.Registerer,
	})
	if err != nil {
		return err
	}
	// gofail: var startAfterLog struct{}
	if err := s.alignFiles(); err != nil {
		return err
	}
	retainer, err := state.NewRetainer(state.RetainerConfig{MaxBytes: s.cfg.RetainedBytes, Registerer: s.cfg.Registerer})
	if err != nil {
		return err
	}
	s.retained = read.NewRetained(retainer)
	s.replay = replay.New(s.log, s.root, s.logger)
	s.hub, err = history.New(history.Config{MaxBytes: s.cfg.HistoryBytes, Log: s.replay, Registerer: s.cfg.Registerer})
	if err != nil {
		return err
	}
	s.applier = applier.New(applier.Config{
		Hub: s.hub, Applied: &s.applied, Retained: s.retained,
		Fits: s.fits, Installed: s.installed, Hurries: s.space.IsShort,
		Lifecycle: s.life, Logger: s.logger, Registerer: s.cfg.Registerer,
	})
	return nil
}

// segmentBytes returns the size of the files of the log in a folder.
func (c *Config) segmentBytes(dir string) int64 {
	share := min(c.LogBytes, diskguard.ReserveOn(dir, c.DiskReserve)) / segmentShare
	return max(minSegmentBytes, min(share, maxSegmentBytes))
}

// makeRaftDir creates the folder of log and snapshots, and returns its path. It refuses a data
// directory in which a restore was interrupted: the node would otherwise start without the objects
// of the backup.
func (c *Config) makeRaftDir() (string, error) {
	dir, unfinished := filepath.Join(c.DataDir, RaftDir), filepath.Join(c.DataDir, UnfinishedDir)
	_, err := os.Lstat(dir)
	if errors.Is(err, os.ErrNotExist) {
		if _, err := os.Lstat(unfinished); err == nil {
			return "", fmt.Errorf("%s was left by an interrupted restore: restore the backup again, into an empty data directory", unfinished)
		}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make data directory: %w", err)
	}
	return dir, nil
}

// alignFiles selects the snapshot to start from, and verifies every entry after it, because Raft
// panics on an entry that it can't read.
func (s *Store) alignFiles() error {
	first, err := s.log.FirstIndex()
	if err != nil {
		return fmt.Errorf("read range of log: %w", err)
	}
	last, err := s.log.LastIndex()
	if err != nil {
		return fmt.Errorf("read range of log: %w", err)
	}
	newest, err := s.snapshots.SelectNewest(first, last)
	if err != nil {
		return fmt.Errorf("verify snapshots: %w", err)
	}
	from := uint64(1)
	if newest != nil {
		if _, err := s.log.Align(newest.Index, newest.Term); err != nil {
			return fmt.Errorf("align log with snapshot %s: %w", newest.ID, err)
		}
		from = newest.Index + 1
		s.snapshotIndex.Store(newest.Index)
		s.snapshotting.newest.Store(&newestSnapshot{size: newest.Size}) // Verify counts the entries after it as written
	}
	if err := s.log.Verify(context.Background(), from); err != nil {
		return fmt.Errorf("verify log: %w", err)
	}
	if newest == nil && last == 0 {
		return s.forgetBootstrap()
	}
	s.snapshotting.found, err = s.log.LastIndex() // Align may have removed it
	return err
}

// bootstrapTerm is the term of a cluster's first entry. No node is ever elected in it.
const bootstrapTerm = 1

// forgetBootstrap makes it possible to repeat a bootstrap that was interrupted between the
// library's two writes: of term 1, and of the first configuration. The library takes a stored term
// for the state of an existing cluster, so forgetBootstrap resets that term to 0. alignFiles calls
// it if there is neither an entry nor a snapshot, before Raft runs and may store a later term.
func (s *Store) forgetBootstrap() error {
	term, err := s.log.GetUint64([]byte(log.CurrentTerm))
	if errors.Is(err, log.ErrKeyNotFound) || err == nil && term != bootstrapTerm {
		return nil
	}
	if err == nil {
		err = s.log.SetUint64([]byte(log.CurrentTerm), 0)
	}
	if err != nil {
		return fmt.Errorf("reset an interrupted bootstrap: %w", err)
	}
	return nil
}

// openRaft restores the newest snapshot and starts the library.
func (s *Store) openRaft() error {
	logger := logbridge.Hclog(s.cfg.Logger.With("component", "raft", "node", s.cfg.Name), true)
	// Twice the heartbeat timeout: a follower may be in a slow disk write, but a dead one must not
	// block a heartbeat for long.
	s.transport = s.cfg.Peers.Raft(s.cfg.AddressOf, 2*s.cfg.electionTimeout(), logger)
	s.transport.SetFollowers(transport.Followers{Installed: s.joiners.Installed, Stored: s.joiners.Stored})
	s.transport.SetClaim(s.snapshots.Claim)
	stable := diskguard.NewStable(s.log, s.life)
	err := diskguard.Start(func() error {
		entries, err := newRaftLog(s.log, &s.snapshotIndex, s.replay)
		if err != nil {
			return err
		}
		s.raft, err = raft.NewRaft(s.raftConfig(logger), s.applier, s.transport.EarlyLog(s.cfg.wrapLog(entries)), stable, s.snapshots, s.transport)
		return err
	})
	if err != nil {
		return errors.Join(fmt.Errorf("start raft: %w", err), s.transport.Close())
	}
	s.transport.SetCommitted(s.committedIn)
	s.applier.Started()
	s.assemble()
	s.transport.SetNonvoter(s.members.IsNonvoter)
	s.transport.SetSender(snapshotrpc.NewSender(snapshotrpc.SenderConfig{
		Connect: s.cfg.Peers.Connect, ClusterID: s.ClusterID, Term: s.raft.CurrentTerm, Rate: s.cfg.SnapshotRate,
		Logger: s.logger, Registerer: s.cfg.Registerer,
	}))
	return nil
}

// committedIn returns the index of the last applied entry, or 0 if this node's term is not the
// given one.
func (s *Store) committedIn(term uint64) uint64 {
	index := s.applied.Index()
	if s.raft.CurrentTerm() != term { // read after the index
		return 0
	}
	return index
}

// assemble creates the parts of the store that need a running Raft.
func (s *Store) assemble() {
	s.entries = entries.New(entries.Config{Log: s.log, Root: s.root, Committed: s.raft.CommitIndex})
	s.members = membership.New(membership.Config{Name: s.cfg.Name, Raft: s.raft, AddressOf: s.cfg.AddressOf, ClusterID: s.ClusterID})
	s.leadership = leadership.New(leadership.Config{
		Tracker: s.leaders, Raft: s.raft, Transport: s.transport, Members: s.members, Lifecycle: s.life,
		Timeout: s.cfg.electionTimeout(), LeaderWait: s.cfg.LeaderWait, Probe: s.probe, Applied: s.Applied,
		Logger: s.logger, Registerer: s.cfg.Registerer,
	})
	s.stall = diskguard.NewStall(diskguard.StallConfig{
		Raft: s.raft, Transport: s.transport, Members: s.members, Lifecycle: s.life, Limit: s.cfg.StallLimit, Logger: s.logger,
	})
	s.shortage = diskguard.NewShortage(diskguard.ShortageConfig{
		Space: s.space, Members: s.members, Leadership: s.leadership, Lifecycle: s.life, Peers: s.peers,
		AppendTime: s.log.AppendTime, Timeout: s.cfg.electionTimeout(), Logger: s.logger, Registerer: s.cfg.Registerer,
	})
	s.reader = read.New(read.Config{
		Raft: s.raft, Transport: s.transport, Leadership: s.leadership, Members: s.members, Lifecycle: s.life, Peers: s.peers,
		Applied: &s.applied, Root: s.root, ElectionTimeout: s.cfg.electionTimeout(), LeaderWait: s.cfg.LeaderWait,
		Registerer: s.cfg.Registerer,
	})
	s.writer = write.New(write.Config{
		Raft: s.raft, Leadership: s.leadership, Members: s.members, Reader: s.reader, Shortage: s.shortage, Lifecycle: s.life, Quota: s.cfg.Quota,
		Peers: s.peers, Root: s.root, AppendTime: s.log.AppendTime, LeaderWait: s.cfg.LeaderWait,
		Logger: s.logger, Registerer: s.cfg.Registerer,
	})
	s.pages = read.NewPages(s.reader, s.retained)
	s.pins = read.NewPins(read.PinConfig{
		Reader: s.reader, Retained: s.retained, Propose: s.writer.Pin, Registerer: s.cfg.Registerer,
	})
	s.receiver = snapshotrpc.NewReceiver(snapshotrpc.ReceiverConfig{
		Snapshots: s.snapshots, ClusterID: s.ClusterID, Term: s.raft.CurrentTerm, Leader: s.Leader, Fits: s.space.Fits,
		Lifecycle: s.life, Logger: s.logger, Registerer: s.cfg.Registerer,
	})
	s.checksums = checksum.New(checksum.Config{
		Members: s.members, Leadership: s.leadership, Lifecycle: s.life, Peers: s.peers, Reader: s.reader, Pins: s.pins,
		Retained: s.retained, Alarms: s.alarms, Interval: s.cfg.ChecksumInterval, Logger: s.logger, Registerer: s.cfg.Registerer,
	})
}

// probe returns nil if a server responds.
func (s *Store) probe(ctx context.Context, server raft.Server) error {
	_, err := s.peers.Term(ctx, string(server.ID), s.members.AddressOf(server), s.ClusterID())
	return err
}

// stalled handles a log write that has taken longer than the limit. A store that is closing stops
// waiting for the disk.
func (s *Store) stalled(took time.Duration) {
	s.alarms.Raise(DiskStalled, s.cfg.Name, fmt.Sprintf("a write to the log of %s takes more than %s", s.cfg.DataDir, took.Truncate(time.Second)))
	if s.life.Check() != nil {
		s.life.Fail(diskguard.ErrDiskHung)
	}
	if s.leaders.IsLeader() {
		s.stall.Resign(took)
	}
}
