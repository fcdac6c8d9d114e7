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

	"quorate/raftstore"
	"quorate/raftstore/fsm"
	"quorate/raftstore/log"
	"quorate/raftstore/snapshot"
)

// asidePrefix begins the name of the folder that keeps what was there before a recovery; the time
// follows.
const asidePrefix = raftstore.RaftDir + ".before-recovery-"

// ErrNotMember reports a node that can't go on alone: it doesn't belong to its cluster, or knows of
// none.
var ErrNotMember = errors.New("is not a member of its cluster, so there is nothing to recover")

// Survivor is a node whose majority is gone for good.
type Survivor struct {
	ClusterID   string
	NewID       string // of the cluster that Recover makes
	Name        string
	Index, Term uint64 // of the last entry that it has
	Objects     int
	Dropped     []Member // all other members
	// Damage says why not all of what is on its disk can be kept; nil when it can.
	Damage error

	dir      string
	peerAddr string
	term     uint64 // no snapshot has a later one, nor has the node been in one
	reached  uint64 // no entry or snapshot has a higher index, damaged ones included
	past     *past
}

// Survey reads what the node of that name has in its data directory, and changes nothing.
func Survey(dataDir, name string) (*Survivor, error) {
	dir := filepath.Join(dataDir, raftstore.RaftDir)
	archive, snapshots, err := examine(dir)
	if err != nil {
		return nil, err
	}
	s := &Survivor{Name: name, NewID: rand.Text(), dir: dir}
	if s.past, s.Damage = recallFrom(dir, archive, snapshots, s.look); errors.Is(s.Damage, log.ErrLocked) {
		return nil, s.Damage
	}
	for _, found := range snapshots {
		s.term, s.reached = max(s.term, found.Term), max(s.reached, found.Index)
	}
	s.term = max(s.term, s.past.term)
	root := s.past.tree.Publish()
	s.ClusterID, s.Index, s.Term, s.Objects = root.ClusterID(), s.past.index, s.past.term, root.Len()
	for _, m := range membersOf(s.past.members) {
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

// look finds out how far the log goes.
func (s *Survivor) look(l *log.Store) error {
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

// Recover makes the survivor the only member of the new cluster NewID, which goes on from what it
// has, with versions raised by gap. What was there before is kept in the folder aside. It takes
// effect at once or not at all: with the rename that finishes the snapshot. Where the log is lost
// or can't be read, no node starts before it is replaced as well: what was broken off in between is
// begun again.
func (s *Survivor) Recover(gap uint64) (made Founded, aside string, err error) {
	c := Cluster{Name: s.Name, PeerAddr: s.peerAddr, Root: s.past.tree.Publish(), Gap: gap, Term: s.term}
	if err := c.checkGap(); err != nil {
		return made, "", err
	}
	if c.Root.Index()+gap <= s.reached {
		return made, "", fmt.Errorf("versions would begin with %d, which was given already, up to %d: want a larger gap", c.Root.Index()+gap, s.reached)
	}
	aside = filepath.Join(filepath.Dir(s.dir), asidePrefix+time.Now().UTC().Format("20060102T150405.000"))
	if err := linkAll(s.dir, aside); err != nil {
		return made, "", errors.Join(fmt.Errorf("keep what is there: %w", err), os.RemoveAll(aside))
	}
	fork := fsm.Fork{ClusterID: s.NewID, Gap: gap}
	if err := c.writeSnapshot(s.dir, fork); err != nil {
		return made, "", errors.Join(err, os.RemoveAll(aside))
	}
	// gofail: var recoverAfterSnapshot struct{}
	return c.founded(fork), aside, c.replaceLog(s.dir)
}

// replaceLog puts a log without entries in the place of one whose entries the snapshot covers, or
// that can't be read any more. The old file is left as it is: it is aside.
func (c Cluster) replaceLog(dir string) error {
	path := filepath.Join(dir, raftstore.LogFile)
	fresh := path + unfinishedSuffix
	if err := errors.Join(os.RemoveAll(fresh), c.writeTerm(fresh)); err != nil {
		return err
	}
	// gofail: var recoverBeforeRename struct{}
	if err := os.Rename(fresh, path); err != nil {
		return err
	}
	// gofail: var recoverAfterRename struct{}
	return syncDir(dir)
}

// linkAll gives the files below a folder second names below another, on the disk when it returns.
// They are never written again: the log is replaced by another file, and snapshots don't change.
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
			err = syncDir(folder)
		}
	}
	return err
}

// examine lists the snapshots of a Raft folder.
func examine(dir string) (*snapshot.Archive, []snapshot.Examined, error) {
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		return nil, nil, fmt.Errorf("%s holds no state: it has no folder %s", filepath.Dir(dir), raftstore.RaftDir)
	}
	archive := snapshot.NewArchive(dir)
	snapshots, err := archive.Examine()
	return archive, snapshots, err
}

// membersOf lists a configuration, by name.
func membersOf(c raft.Configuration) []Member {
	members := []Member{}
	for _, s := range c.Servers {
		members = append(members, Member{Name: string(s.ID), PeerAddr: string(s.Address), Voter: s.Suffrage == raft.Voter})
	}
	slices.SortFunc(members, func(a, b Member) int { return strings.Compare(a.Name, b.Name) })
	return members
}
