package offline

import (
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/hashicorp/raft"

	"quorate/raftstore"
	"quorate/raftstore/fsm"
	"quorate/raftstore/log"
	"quorate/raftstore/log/diskio"
	"quorate/raftstore/snapshot"
	"quorate/raftstore/state"
)

const (
	// maxVersion is the largest integer that all JSON readers represent exactly.
	maxVersion = 1<<53 - 1

	// unfinishedSuffix is the suffix of a folder that is being written.
	unfinishedSuffix = ".new"
)

// ErrState reports a directory that already holds the state of a node.
var ErrState = errors.New("already holds the state of a node")

// Cluster describes a new cluster of one node that continues from the state of another cluster.
type Cluster struct {
	Name     string // name of its node
	PeerAddr string // address of the node until it announces its own
	Root     *state.Root
	Gap      uint64
	Term     uint64 // last term of the old cluster; 0 if unknown
}

// Created describes the new cluster.
type Created struct {
	ClusterID string
	Index     uint64 // lists have this resourceVersion, or a higher one
	Objects   int
}

// Create writes the Raft folder of the cluster's node into a data directory that has none.
func Create(dataDir string, c Cluster) (Created, error) {
	target := filepath.Join(dataDir, raftstore.RaftDir)
	if _, err := os.Lstat(target); err == nil {
		return Created{}, ErrState
	} else if !errors.Is(err, os.ErrNotExist) {
		return Created{}, err
	}
	unfinished := filepath.Join(dataDir, raftstore.UnfinishedDir)
	made, err := c.write(unfinished)
	if err != nil {
		return Created{}, errors.Join(err, os.RemoveAll(unfinished))
	}
	// gofail: var foundBeforeRename struct{}
	if err := os.Rename(unfinished, target); err != nil {
		return Created{}, err
	}
	// gofail: var foundAfterRename struct{}
	return made, diskio.SyncDir(dataDir)
}

// write writes the folder under a temporary name. After a crash, no node starts with that folder,
// and the next Create replaces it.
func (c Cluster) write(dir string) (made Created, err error) {
	if err := c.checkGap(); err != nil {
		return made, err
	}
	if err := errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o700)); err != nil {
		return made, err
	}
	fork := fsm.Fork{ClusterID: rand.Text(), Gap: c.Gap}
	return c.created(fork), errors.Join(c.writeTerm(filepath.Join(dir, raftstore.LogDir)), c.writeSnapshot(dir, fork))
}

func (c Cluster) checkGap() error {
	if c.Gap == 0 || c.Gap > maxVersion || c.Root.Index() > maxVersion-c.Gap {
		return fmt.Errorf("versions would go from %d to %d: want a gap that raises them, to less than 2^53", c.Root.Index(), c.Root.Index()+c.Gap)
	}
	return nil
}

func (c Cluster) created(fork fsm.Fork) Created {
	return Created{ClusterID: fork.ClusterID, Index: fork.Index(c.Root.Index()), Objects: c.Root.Len()}
}

// writeTerm creates the log with the term, and without an entry.
func (c Cluster) writeTerm(path string) error {
	l, err := log.Open(log.Config{Dir: path, Logger: silent()})
	if err != nil {
		return err
	}
	return errors.Join(l.SetUint64([]byte(log.CurrentTerm), c.term()), l.Close())
}

func (c Cluster) term() uint64 { return max(c.Term, 1) }

// writeSnapshot writes the state from which the node starts, with the node as the only member.
func (c Cluster) writeSnapshot(dir string, fork fsm.Fork) error {
	snapshots, err := snapshot.New(snapshot.Config{Dir: dir, Logger: silent()})
	if err != nil {
		return err
	}
	members := raft.Configuration{Servers: []raft.Server{
		{Suffrage: raft.Voter, ID: raft.ServerID(c.Name), Address: raft.ServerAddress(c.PeerAddr)},
	}}
	index := fork.Index(c.Root.Index())
	_, encoder := raft.NewInmemTransport(raft.ServerAddress(c.PeerAddr)) // encodes addresses in the legacy format
	sink, err := snapshots.Create(raft.SnapshotVersionMax, index, c.term(), members, index, encoder)
	if err != nil {
		return err
	}
	w := snapshot.NewWriter(sink)
	if err := errors.Join(fsm.WriteFork(w, c.Root, fork), w.Close()); err != nil {
		return errors.Join(err, sink.Cancel())
	}
	return errors.Join(sink.Close(), snapshots.Close())
}

func silent() *slog.Logger { return slog.New(slog.DiscardHandler) }
