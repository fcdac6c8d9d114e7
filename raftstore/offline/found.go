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
	"quorate/raftstore/snapshot"
	"quorate/raftstore/state"
)

const (
	// maxVersion is the largest whole number that all JSON readers keep exact.
	maxVersion = 1<<53 - 1

	// unfinishedSuffix names the log that is being made.
	unfinishedSuffix = ".new"
)

// ErrState reports a directory that holds the state of a node.
var ErrState = errors.New("holds the state of a node already")

// Cluster is a new cluster of one node, which goes on from the state of another.
type Cluster struct {
	Name     string // of its node
	PeerAddr string // where the node is reached until it says itself
	Root     *state.Root
	Gap      uint64
	Term     uint64 // the last of the old cluster; 0 when it isn't known
}

// Founded is what came of it.
type Founded struct {
	ClusterID string
	Index     uint64 // lists have this version, or a later one
	Objects   int
}

// Found makes the Raft folder of the cluster's node in a data directory that has none.
func Found(dataDir string, c Cluster) (Founded, error) {
	target := filepath.Join(dataDir, raftstore.RaftDir)
	if _, err := os.Lstat(target); err == nil {
		return Founded{}, ErrState
	} else if !errors.Is(err, os.ErrNotExist) {
		return Founded{}, err
	}
	unfinished := filepath.Join(dataDir, raftstore.UnfinishedDir)
	made, err := c.write(unfinished)
	if err != nil {
		return Founded{}, errors.Join(err, os.RemoveAll(unfinished))
	}
	// gofail: var foundBeforeRename struct{}
	if err := os.Rename(unfinished, target); err != nil {
		return Founded{}, err
	}
	// gofail: var foundAfterRename struct{}
	return made, syncDir(dataDir)
}

// write makes the folder aside. A crash leaves one that no node starts with, and that is begun
// anew.
func (c Cluster) write(dir string) (made Founded, err error) {
	if err := c.checkGap(); err != nil {
		return made, err
	}
	if err := errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o700)); err != nil {
		return made, err
	}
	fork := fsm.Fork{ClusterID: rand.Text(), Gap: c.Gap}
	return c.founded(fork), errors.Join(c.writeTerm(filepath.Join(dir, raftstore.LogFile)), c.writeSnapshot(dir, fork))
}

func (c Cluster) checkGap() error {
	if c.Gap == 0 || c.Gap > maxVersion || c.Root.Index() > maxVersion-c.Gap {
		return fmt.Errorf("versions would go from %d to %d: want a gap that raises them, to less than 2^53", c.Root.Index(), c.Root.Index()+c.Gap)
	}
	return nil
}

func (c Cluster) founded(fork fsm.Fork) Founded {
	return Founded{ClusterID: fork.ClusterID, Index: fork.Index(c.Root.Index()), Objects: c.Root.Len()}
}

// writeTerm begins the log, without an entry.
func (c Cluster) writeTerm(path string) error {
	l, err := log.Open(log.Config{Path: path, Logger: silent()})
	if err != nil {
		return err
	}
	return errors.Join(l.SetUint64([]byte(log.CurrentTerm), c.term()), l.Close())
}

func (c Cluster) term() uint64 { return max(c.Term, 1) }

// writeSnapshot writes the state that the node starts from, with itself as the only member.
func (c Cluster) writeSnapshot(dir string, fork fsm.Fork) error {
	snapshots, err := snapshot.New(snapshot.Config{Dir: dir, Logger: silent()})
	if err != nil {
		return err
	}
	members := raft.Configuration{Servers: []raft.Server{
		{Suffrage: raft.Voter, ID: raft.ServerID(c.Name), Address: raft.ServerAddress(c.PeerAddr)},
	}}
	index := fork.Index(c.Root.Index())
	_, encoder := raft.NewInmemTransport(raft.ServerAddress(c.PeerAddr)) // for the form of addresses of old
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

// syncDir makes a rename survive a power failure.
func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
