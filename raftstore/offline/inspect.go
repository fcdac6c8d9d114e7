package offline

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hashicorp/raft"

	"quorate/raftstore"
	"quorate/raftstore/fsm"
	"quorate/raftstore/log"
	"quorate/raftstore/state"
)

// Report is what a data directory holds, as far as it can be read.
type Report struct {
	ClusterID string     `json:"clusterID,omitempty"`
	Term      uint64     `json:"term"`
	Vote      *Vote      `json:"vote,omitempty"`
	Members   []Member   `json:"members"`
	Log       Log        `json:"log"`
	Snapshots []Snapshot `json:"snapshots"`
	State     State      `json:"state"`
	Entries   []Entry    `json:"entries,omitempty"`
	// Problems say what is wrong, one line each; none when all was found whole.
	Problems []string `json:"problems"`
	// OtherBuild: the log has an entry that this build does not know, which is a problem, but no
	// damage.
	OtherBuild bool `json:"otherBuild,omitempty"`
}

// Vote is the last one given.
type Vote struct {
	Term uint64 `json:"term"`
	For  string `json:"for"`
}

// Member is one of the latest configuration, committed or not.
type Member struct {
	Name     string `json:"name"`
	PeerAddr string `json:"peerAddr"`
	Voter    bool   `json:"voter"`
}

// Log is the file of entries.
type Log struct {
	First uint64 `json:"first"` // 0 when there is none
	Last  uint64 `json:"last"`
	Bytes int64  `json:"bytes"` // of the file
}

// Snapshot is one of those kept, newest first.
type Snapshot struct {
	ID     string `json:"id"`
	Index  uint64 `json:"index"`
	Term   uint64 `json:"term"`
	Bytes  int64  `json:"bytes"`
	Damage string `json:"damage,omitempty"`
}

// State is what the newest whole snapshot and the log after it make.
type State struct {
	Index     uint64     `json:"index"`
	Objects   int        `json:"objects"`
	Bytes     uint64     `json:"bytes"` // in memory
	Checksum  string     `json:"checksum"`
	Resources []Resource `json:"resources"`
}

// Resource is one collection.
type Resource struct {
	Name    string `json:"name"`
	Objects int    `json:"objects"`
	Bytes   int    `json:"bytes"` // of the stored JSON
}

// Inspect reads a data directory that no node uses, and changes nothing. It tells the newest
// entries, so many of them at most. The error is that of a file that could not be read at all;
// damage is among the problems.
func Inspect(dataDir string, entries int) (*Report, error) {
	dir := filepath.Join(dataDir, raftstore.RaftDir)
	archive, snapshots, err := examine(dir)
	if err != nil {
		return nil, err
	}
	r := &Report{Snapshots: []Snapshot{}, State: State{Resources: []Resource{}}, Problems: []string{}}
	for _, s := range snapshots {
		found := Snapshot{ID: s.ID, Index: s.Index, Term: s.Term, Bytes: s.Bytes}
		if s.Damage != nil {
			found.Damage = s.Damage.Error()
			r.problem(s.Damage)
		}
		r.Snapshots = append(r.Snapshots, found)
	}
	if info, err := os.Stat(filepath.Join(dir, raftstore.LogFile)); err == nil {
		r.Log.Bytes = info.Size()
	}
	p, err := recallFrom(dir, archive, snapshots, func(l *log.Store) error {
		r.stable(l)
		r.newest(l, entries)
		return nil
	})
	if errors.Is(err, log.ErrLocked) { // no damage
		return nil, err
	}
	r.problem(err)
	_, r.OtherBuild = errors.AsType[*fsm.Unknown](err)
	r.tell(p)
	return r, nil
}

func (r *Report) problem(err error) {
	if err != nil {
		r.Problems = append(r.Problems, strings.ReplaceAll(err.Error(), "\n", "; "))
	}
}

// stable reads what Raft must not forget.
func (r *Report) stable(l *log.Store) {
	number := func(key string) uint64 {
		n, err := l.GetUint64([]byte(key))
		if !errors.Is(err, log.ErrKeyNotFound) {
			r.problem(err)
		}
		return n
	}
	r.Term = number(log.CurrentTerm)
	if candidate, err := l.Get([]byte(log.LastVoteCand)); err == nil {
		r.Vote = &Vote{Term: number(log.LastVoteTerm), For: string(candidate)}
	} else if !errors.Is(err, log.ErrKeyNotFound) {
		r.problem(err)
	}
}

// newest reads the end of the log, and finds out where it begins.
func (r *Report) newest(l *log.Store, count int) {
	var err error
	if r.Log.First, err = l.FirstIndex(); err != nil {
		r.problem(err)
	}
	if r.Log.Last, err = l.LastIndex(); err != nil {
		r.problem(err)
	}
	if r.Log.Last == 0 {
		return
	}
	count = int(min(uint64(max(count, 0)), r.Log.Last-r.Log.First+1))
	for index := r.Log.Last + 1 - uint64(count); index <= r.Log.Last; index++ {
		var entry raft.Log
		if err := l.GetLog(index, &entry); err != nil {
			r.Entries = append(r.Entries, Entry{Index: index, What: "damaged"})
			continue // recall says it
		}
		r.Entries = append(r.Entries, describe(&entry))
	}
}

// tell takes over what is known of the past.
func (r *Report) tell(p *past) {
	root := p.tree.Publish()
	r.ClusterID = root.ClusterID()
	r.Members = membersOf(p.members)
	r.State.Index, r.State.Objects, r.State.Bytes = root.Index(), root.Len(), root.Bytes()
	r.State.Checksum = fmt.Sprintf("%016x", fsm.Checksum(root))
	root.Ascend("", "", func(o *state.Object) bool {
		name := o.Key.Resource()
		if n := len(r.State.Resources); n == 0 || r.State.Resources[n-1].Name != name {
			r.State.Resources = append(r.State.Resources, Resource{Name: name})
		}
		last := &r.State.Resources[len(r.State.Resources)-1]
		last.Objects++
		last.Bytes += len(o.Value)
		return true
	})
}

// Entry is one of the log's.
type Entry struct {
	Index uint64    `json:"index"`
	Term  uint64    `json:"term"`
	Time  time.Time `json:"time"` // by the clock of the leader that appended it
	Bytes int       `json:"bytes"`
	What  string    `json:"what"`
}
