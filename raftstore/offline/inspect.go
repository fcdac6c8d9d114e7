package offline

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/hashicorp/raft"

	"quorate/progress"
	"quorate/raftstore"
	"quorate/raftstore/fsm"
	"quorate/raftstore/log"
	"quorate/raftstore/state"
)

// Report describes the contents of a data directory, as far as they can be read.
type Report struct {
	ClusterID string     `json:"clusterID,omitempty"`
	Term      uint64     `json:"term"`
	Vote      *Vote      `json:"vote,omitempty"`
	Members   []Member   `json:"members"`
	Log       Log        `json:"log"`
	Snapshots []Snapshot `json:"snapshots"`
	State     State      `json:"state"`
	Entries   []Entry    `json:"entries,omitempty"`
	// Problems has one line for each problem; it is empty if all files are undamaged.
	Problems []string `json:"problems"`
	// OtherBuild reports that the log has an entry that this build does not know. This is one of
	// Problems, but no damage.
	OtherBuild bool `json:"otherBuild,omitempty"`
}

// Vote is the last vote that the node granted.
type Vote struct {
	Term uint64 `json:"term"`
	For  string `json:"for"`
}

// Member is a server of the latest configuration, committed or not.
type Member struct {
	Name     string `json:"name"`
	PeerAddr string `json:"peerAddr"`
	Voter    bool   `json:"voter"`
}

// Log describes the log file.
type Log struct {
	First uint64 `json:"first"` // 0 if there is none
	Last  uint64 `json:"last"`
	Bytes int64  `json:"bytes"` // of the file
}

// Snapshot describes a stored snapshot.
type Snapshot struct {
	ID     string `json:"id"`
	Index  uint64 `json:"index"`
	Term   uint64 `json:"term"`
	Bytes  int64  `json:"bytes"`
	Damage string `json:"damage,omitempty"`
}

// State describes the state that the newest undamaged snapshot and the log after it yield.
type State struct {
	Index     uint64     `json:"index"`
	Objects   int        `json:"objects"`
	Bytes     uint64     `json:"bytes"` // in memory
	Checksum  string     `json:"checksum"`
	Resources []Resource `json:"resources"`
}

// Resource describes the objects of one resource.
type Resource struct {
	Name    string `json:"name"`
	Objects int    `json:"objects"`
	Bytes   int    `json:"bytes"` // of the stored JSON
}

// Inspect reads a data directory that no node uses, and changes nothing. The report has at most the
// given number of the newest entries. Damage goes to Report.Problems. Inspect returns an error if
// the directory holds no state, its snapshots can't be listed, or another process has the log open. It
// shows how far it is.
func Inspect(dataDir string, entries int, shown *progress.Progress) (*Report, error) {
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
	p, err := readContents(dir, archive, snapshots, shown, func(l *log.Store) error {
		r.stable(l)
		r.Log.Bytes, _ = l.Size()
		r.newest(l, entries)
		return nil
	})
	if errors.Is(err, log.ErrLocked) { // not damage
		return nil, err
	}
	r.problem(err)
	_, r.OtherBuild = errors.AsType[*fsm.Unknown](err)
	r.addContents(p)
	return r, nil
}

func (r *Report) problem(err error) {
	if err != nil {
		r.Problems = append(r.Problems, strings.ReplaceAll(err.Error(), "\n", "; "))
	}
}

// stable reads Raft's term and vote.
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

// newest reads the range of the log and its last entries.
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
			continue // restoreAndReplay reports it
		}
		r.Entries = append(r.Entries, describe(&entry))
	}
}

// addContents adds what the snapshot and the log contain.
func (r *Report) addContents(p *contents) {
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

// Entry describes a log entry.
type Entry struct {
	Index uint64    `json:"index"`
	Term  uint64    `json:"term"`
	Time  time.Time `json:"time"` // by the clock of the leader that appended the entry
	Bytes int       `json:"bytes"`
	What  string    `json:"what"`
}
