package transport

import (
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"
)

const (
	// appendInterval is the least time between two appends to a paced follower. No write waits for a
	// non-voter, so it can get more entries at a time, which saves it and the leader most of the
	// messages. DESIGN.md has the costs.
	appendInterval = 20 * time.Millisecond
	// hurryTime is how long a non-voter is not paced after it has asked this node for something that
	// it must then find in its log: the outcome of a write, or a read index.
	hurryTime = time.Second
	// behindEntries is the number of entries in an append from which the follower is behind, and not
	// paced.
	behindEntries = 256
)

// pacer decides whether appends to a follower are paced.
type pacer struct {
	nonvoter atomic.Bool // as of the last append
	created  time.Time
	hurried  atomic.Int64  // until when the follower is not paced, in nanoseconds since created
	wake     chan struct{} // holds one value when hurried has changed
}

func newPacer() *pacer { return &pacer{created: time.Now(), wake: make(chan struct{}, 1)} }

// paced reports whether the follower is a non-voter that has asked for nothing lately.
func (p *pacer) paced() bool {
	return p.nonvoter.Load() && int64(time.Since(p.created)) >= p.hurried.Load()
}

func (p *pacer) hurry() {
	p.hurried.Store(int64(time.Since(p.created) + hurryTime))
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// Hurry sends appends to a follower that has asked this node for something without a pause for a
// while. Without it, those to non-voters are paced.
func (t *Raft) Hurry(follower string) {
	t.pipelines.mu.Lock()
	defer t.pipelines.mu.Unlock()
	for _, p := range t.pipelines.open {
		if p.follower == raft.ServerID(follower) {
			p.pacer.hurry()
		}
	}
}

// SetNonvoter sets how to find out whether a follower is a non-voter. Until the call, none is.
func (t *Raft) SetNonvoter(is func(follower raft.ServerID) bool) { t.nonvoter.Store(&is) }

func (t *Raft) isNonvoter(follower raft.ServerID) bool {
	is := t.nonvoter.Load()
	return is != nil && (*is)(follower)
}

// pace waits after an append to a paced follower. The library builds the next request, with the
// entries of the meantime, once the last one has returned; it gets responses meanwhile.
func (p *pipeline) pace(req *raft.AppendEntriesRequest) {
	if len(req.Entries) == 0 || len(req.Entries) >= behindEntries || !p.pacer.paced() {
		return
	}
	p.transport.mux.metrics.pacedAppends.Inc()
	timer := time.NewTimer(appendInterval)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-p.pacer.wake:
	case <-p.closed:
	}
}

// idlePause is how long the follower waits for its next append before it gets the commit index in
// one without entries.
func (p *pipeline) idlePause() time.Duration {
	if p.pacer.paced() {
		return appendInterval + commitPause
	}
	return commitPause
}
