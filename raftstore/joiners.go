package raftstore

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"

	"quorate/raftstore/log"
)

// joinerPatience is how long a joiner may take at least for the next entries, before they are kept for it no longer.
const joinerPatience = 10 * time.Second

// joiners are the followers that this node, as leader, has sent a snapshot, and that have not yet taken what was written meanwhile. Were
// that trimmed, they would need another snapshot, and so on for as long as the cluster is busy. So the log keeps it for them, from where
// each of them is, as long as they go on taking it. (While a snapshot is sent, it is kept because that is open.)
type joiners struct {
	log  *log.Store
	some atomic.Bool // spares all other answers of followers the lock

	mu  sync.Mutex
	all map[raft.ServerID]*joiner
}

type joiner struct {
	hold     *log.Hold
	has      uint64        // entries up to this one
	patience time.Duration // as long as the snapshot took: it goes by the link
	until    time.Time
}

func newJoiners(l *log.Store) *joiners {
	return &joiners{log: l, all: make(map[raft.ServerID]*joiner)}
}

// installed is told that a follower has installed the snapshot of an index.
func (j *joiners) installed(id raft.ServerID, index uint64, took time.Duration) {
	patience := max(took, joinerPatience)
	f := &joiner{hold: j.log.Hold(index), has: index, patience: patience, until: time.Now().Add(patience)}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.remove(id)
	j.all[id] = f
	j.some.Store(true)
}

// stored is told that a follower has stored entries up to an index.
func (j *joiners) stored(id raft.ServerID, index uint64) {
	if !j.some.Load() {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	f := j.all[id]
	if f == nil || index <= f.has {
		return
	}
	if last, _ := j.log.LastIndex(); index+trailingLogs >= last { // the rest is kept anyhow
		j.remove(id)
		return
	}
	f.has, f.until = index, time.Now().Add(f.patience)
	f.hold.Move(index)
}

// expire gives up those who have taken nothing for long.
func (j *joiners) expire(now time.Time) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for id, f := range j.all {
		if now.After(f.until) {
			j.remove(id)
		}
	}
}

func (j *joiners) remove(id raft.ServerID) {
	if f := j.all[id]; f != nil {
		f.hold.Release()
		delete(j.all, id)
	}
	j.some.Store(len(j.all) > 0)
}
