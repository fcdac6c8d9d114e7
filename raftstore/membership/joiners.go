package membership

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"

	"quorate/raftstore/log"
)

const (
	// TrailingLogs is the value of Raft's setting of that name: the number of newest entries that
	// Raft keeps after a snapshot. The log keeps far more, by bytes and age. TrailingLogs must be
	// at least one, because the log takes the removal of its last entry for the installation of a
	// snapshot.
	TrailingLogs = 128
	// minJoinerTimeout is the least time without progress after which a joiner's hold expires.
	minJoinerTimeout = 10 * time.Second
)

// Joiners are the followers to which this node, as leader, has sent a snapshot, and which have not
// yet caught up with the entries written in the meantime. If the log trimmed those entries, a
// joiner would need another snapshot, and so on for as long as the cluster is busy. So the log
// holds the entries after the last one that each joiner has stored, for as long as the joiner makes
// progress. While a snapshot is being sent, a hold of the open snapshot keeps the entries after it.
type Joiners struct {
	log  *log.Store
	some atomic.Bool // lets Stored return without the lock if there are no joiners

	mu  sync.Mutex
	all map[raft.ServerID]*joiner
}

type joiner struct {
	hold    *log.Hold
	stored  uint64        // last entry that the joiner has stored
	timeout time.Duration // without progress: the time to send the snapshot, a measure of the link
	until   time.Time
}

// NewJoiners returns Joiners that hold entries of l.
func NewJoiners(l *log.Store) *Joiners {
	return &Joiners{log: l, all: make(map[raft.ServerID]*joiner)}
}

// Installed records that a follower has installed the snapshot of an index, and how long it took to
// send.
func (j *Joiners) Installed(id raft.ServerID, index uint64, took time.Duration) {
	timeout := max(took, minJoinerTimeout)
	f := &joiner{hold: j.log.Hold(index), stored: index, timeout: timeout, until: time.Now().Add(timeout)}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.remove(id)
	j.all[id] = f
	j.some.Store(true)
}

// Stored records that a follower has stored the entries up to an index.
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
	if last, _ := j.log.LastIndex(); index+TrailingLogs >= last { // the log keeps the remaining ones without a hold
		j.remove(id)
		return
	}
	f.stored, f.until = index, time.Now().Add(f.timeout)
	f.hold.Move(index)
}

// Expire releases the holds of joiners that have stored nothing for their timeout.
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
