package membership

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"

	"quorate/raftstore/log"
)

const (
	// TrailingLogs is how many entries Raft itself keeps behind a snapshot. The log keeps far more,
	// by bytes and age; it must be at least one, or the log takes compaction for a reset.
	TrailingLogs = 128
	// minPatience is the least time that a joiner may take for the next entries before its hold
	// expires.
	minPatience = 10 * time.Second
)

// Joiners are the followers that this node, as leader, has sent a snapshot, and that have not yet
// stored the entries written meanwhile. If the log trimmed those entries, a joiner would need
// another snapshot, and so on for as long as the cluster is busy. So the log holds them, from each
// joiner's last entry on, for as long as the joiner makes progress. (While a snapshot is being
// sent, the log holds the entries behind it because the snapshot is open.)
type Joiners struct {
	log  *log.Store
	some atomic.Bool // lets Stored return without the lock when nobody is joining

	mu  sync.Mutex
	all map[raft.ServerID]*joiner
}

type joiner struct {
	hold     *log.Hold
	stored   uint64        // entries up to this one
	patience time.Duration // as long as the snapshot took: it depends on the link
	until    time.Time
}

// NewJoiners returns joiners that hold entries in l.
func NewJoiners(l *log.Store) *Joiners {
	return &Joiners{log: l, all: make(map[raft.ServerID]*joiner)}
}

// Installed notes that a follower has installed the snapshot of an index, which took this long to
// send.
func (j *Joiners) Installed(id raft.ServerID, index uint64, took time.Duration) {
	patience := max(took, minPatience)
	f := &joiner{hold: j.log.Hold(index), stored: index, patience: patience, until: time.Now().Add(patience)}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.remove(id)
	j.all[id] = f
	j.some.Store(true)
}

// Stored notes that a follower has stored entries up to an index.
func (j *Joiners) Stored(id raft.ServerID, index uint64) {
	if !j.some.Load() {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	f := j.all[id]
	if f == nil || index <= f.stored {
		return
	}
	if last, _ := j.log.LastIndex(); index+TrailingLogs >= last { // the log keeps the rest anyhow
		j.remove(id)
		return
	}
	f.stored, f.until = index, time.Now().Add(f.patience)
	f.hold.Move(index)
}

// Expire releases the holds of joiners that have stored nothing for their patience.
func (j *Joiners) Expire(now time.Time) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for id, f := range j.all {
		if now.After(f.until) {
			j.remove(id)
		}
	}
}

func (j *Joiners) remove(id raft.ServerID) {
	if f := j.all[id]; f != nil {
		f.hold.Release()
		delete(j.all, id)
	}
	j.some.Store(len(j.all) > 0)
}
