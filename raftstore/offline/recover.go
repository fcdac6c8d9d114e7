package offline

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/raft"

	"quorate/progress"
	"quorate/raftstore"
	"quorate/raftstore/fsm"
	"quorate/raftstore/log"
	"quorate/raftstore/log/diskio"
	"quorate/raftstore/snapshot"
)

// asidePrefix starts the name of the folder that keeps the old files after a recovery; the time
// follows.
const asidePrefix = raftstore.RaftDir + ".before-recovery-"

// ErrNotMember reports a node that does not belong to its cluster, or that knows of none, so that
// it can't continue alone.
var ErrNotMember = errors.New("is not a member of its cluster, so there is nothing to recover")

// Survivor is a node of a cluster that has lost its quorum for good.
type Survivor struct {
	ClusterID   string
	NewID       string // id of the cluster that Recover makes
	Name        string
	Index, Term uint64 // of the node's last entry
	Objects     int
	Dropped     []Member // all other members
	// Damage says why some of the data on disk can't be kept; nil if all can.
	Damage error

	dir      string
	peerAddr string
	term     uint64 // the latest term of the node and its snapshots
	reached  uint64 // the highest index of an entry or snapshot, including damaged ones
	contents *contents
}

// Survey reads the data directory of the node called name, and changes nothing. It shows how far it
// is.
func Survey(dataDir, name string, shown *progress.Progress) (*Survivor, error) {
	dir := filepath.Join(dataDir, raftstore.RaftDir)
	archive, snapshots, err := examine(dir)
	if err != nil {
		return nil, err
	}
	s := &Survivor{Name: name, NewID: rand.Text(), dir: dir}
	if s.contents, s.Damage = readContents(dir, archive, snapshots, shown, s.scan); errors.Is(s.Damage, log.ErrLocked) {
		return nil, s.Damage
	}
	for _, found := range snapshots {
		s.term, s.reached = max(s.term, found.Term), max(s.reached, found.Index)
	}
	s.term = max(s.term, s.contents.term)
	root := s.contents.tree.Publish()
	s.ClusterID, s.Index, s.Term, s.Objects = root.ClusterID(), s.contents.index, s.contents.term, root.Len()
	for _, m := range membersOf(s.contents.members) {
		if m.Name == name {
			s.peerAddr = m.PeerAddr
		} else {
			s.Dropped = append(s.Dropped, m)
		}
	}
	if s.peerAddr == "" || s.ClusterID == "" {
		return nil, fmt.Errorf("node %s %w", name, errors.Join(ErrNotMember, s.Damage))
	}
	return s, nil
}

// scan records the highest index and the latest term of the log.
func (s *Survivor) scan(l *log.Store) error {
	last, err := l.LastIndex()
	if err != nil {
		return err
	}
	s.reached = max(s.reached, last)
	term, err := l.GetUint64([]byte(log.CurrentTerm))
	if errors.Is(err, log.ErrKeyNotFound) {
		return nil
	}
	s.term = max(s.term, term)
	return err
}

// Recover makes the survivor the only member of the new cluster NewID, which continues from the
// survivor's state with versions raised by gap. It keeps the old files in the folder aside. The
// recovery takes effect with the rename that finishes the snapshot; Recover then replaces the log.
// If the old log was lost or can't be read, no node can start between these two steps, and after a
// crash there the caller must run Recover again.
func (s *Survivor) Recover(gap uint64) (made Created, aside string, err error) {
	c := Cluster{Name: s.Name, PeerAddr: s.peerAddr, Root: s.contents.tree.Publish(), Gap: gap, Term: s.term}
	if err := c.checkGap(); err != nil {
		return made, "", err
	}
	if c.Root.Index()+gap <= s.reached {
		return made, "", fmt.Errorf("versions would begin with %d, which was given already, up to %d: want a larger gap", c.Root.Index()+gap, s.reached)
	}
	aside = filepath.Join(filepath.Dir(s.dir), asidePrefix+time.Now().UTC().Format("20060102T150405.000"))
	if err := linkAll(s.dir, aside); err != nil {
		return made, "", errors.Join(fmt.Errorf("keep the old files: %w", err), os.RemoveAll(aside))
	}
	fork := fsm.Fork{ClusterID: s.NewID, Gap: gap}
	if err := c.writeSnapshot(s.dir, fork); err != nil {
		return made, "", errors.Join(err, os.RemoveAll(aside))
	}
	// gofail: var recoverAfterSnapshot struct{}
	return c.created(fork), aside, c.replaceLog(s.dir)
}

// replaceLog replaces the log with one without entries, because the snapshot covers the old entries
// or they can't be read. The old files remain in the folder aside. The next start removes the log of
// a former build.
func (c Cluster) replaceLog(dir string) error {
	path := filepath.Join(dir, raftstore.LogDir)
	fresh := path + unfinishedSuffix
	if err := errors.Join(os.RemoveAll(fresh), c.writeTerm(fresh)); err != nil {
		return err
	}
	// gofail: var recoverBeforeRename struct{}
	if err := diskio.ReplaceDir(fresh, path); err != nil {
		return err
	}
	// gofail: var recoverAfterRename struct{}
	return diskio.SyncDir(dir)
}

// linkAll hard-links the files below from to the same names below to, and syncs. Nothing writes to
// these files again: Recover replaces the log by another folder, and snapshots don't change.
func linkAll(from, to string) error {
	folders := []string{filepath.Dir(to)}
	err := filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			folders = append(folders, filepath.Join(to, name))
			return os.MkdirAll(filepath.Join(to, name), 0o700)
		}
		return os.Link(path, filepath.Join(to, name))
	})
	for _, folder := range folders {
		if err == nil {
			err = diskio.SyncDir(folder)
		}
	}
	return err
}

// examine verifies the snapshots of a Raft folder.
func examine(dir string) (*snapshot.Archive, []snapshot.Examined, error) {
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		return nil, nil, fmt.Errorf("%s holds no state: it has no folder %s", filepath.Dir(dir), raftstore.RaftDir)
	}
	archive := snapshot.NewArchive(dir)
	snapshots, err := archive.Examine()
	return archive, snapshots, err
}

// membersOf returns the servers of a configuration, sorted by name.
func membersOf(c raft.Configuration) []Member {
	members := []Member{}
	for _, s := range c.Servers {
		members = append(members, Member{Name: string(s.ID), PeerAddr: string(s.Address), Voter: s.Suffrage == raft.Voter})
	}
	slices.SortFunc(members, func(a, b Member) int { return strings.Compare(a.Name, b.Name) })
	return members
}
