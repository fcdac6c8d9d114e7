package write

import (
	"sync"
	"time"
)

const (
	// groupFrom is the average number of proposals under way or waiting from which groups form. With
	// fewer there is little to gather, and the wait costs more than it saves.
	groupFrom = 6
	// loadSamples is the number of proposals over which the average is taken, roughly.
	loadSamples = 16
	// maxGroup is the size at which a group is complete.
	maxGroup = 64
	// groupWait bounds the time that a proposal waits for its group, with twice that of an append
	// to this node's disk: proposals on a slow disk wait for it in any case. maxGroupWait bounds
	// both.
	groupWait    = 2 * time.Millisecond
	maxGroupWait = 100 * time.Millisecond
	// minPlaceWait is how long each proposal of a group waits for a place in Raft's queue at least.
	minPlaceWait = 50 * time.Microsecond
)

// groupCommit makes Raft append and replicate more proposals at a time than those that arrive
// during one append. Under load, proposals that arrive while others are under way form a group,
// which Raft gets as soon as all of those are decided. With few clients no proposal waits.
type groupCommit struct {
	alone   func() bool         // reports whether no other node votes: then Raft's own groups suffice
	observe func(proposals int) // called with the size of each group
	// appendTime returns how long appends to this node's log take at present, 0 if that is unknown.
	appendTime func() time.Duration

	mu       sync.Mutex                 // guards the fields below
	underWay int                        // proposals that Raft has, or did not take yet
	load     int                        // loadSamples times the average of underWay and len(group)
	group    []func(wait time.Duration) // proposes those that wait
	timer    *time.Timer                // completes the group after its wait
}

// submit calls propose, at once, or within the group's wait after those that were submitted to the
// same group before. propose puts a proposal into Raft's queue, waits no longer than wait for a
// place there, and sees to it that decided is called once the proposal's outcome is decided.
func (g *groupCommit) submit(propose func(wait time.Duration)) {
	g.proposeAll(g.join(propose))
}

// join adds a proposal to the group. It returns what is to be proposed now.
func (g *groupCommit) join(propose func(wait time.Duration)) []func(wait time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.load += g.underWay + len(g.group) - g.load/loadSamples
	g.group = append(g.group, propose)
	if g.underWay == 0 || g.load < groupFrom*loadSamples || len(g.group) == maxGroup || g.alone() {
		return g.take()
	}
	if len(g.group) == 1 {
		g.timer = time.AfterFunc(min(groupWait+2*g.appendTime(), maxGroupWait), g.flush)
	}
	return nil
}

// pending returns the number of proposals under way.
func (g *groupCommit) pending() float64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return float64(g.underWay)
}

// decided ends a proposal, and proposes the group if no other is under way.
func (g *groupCommit) decided() {
	g.mu.Lock()
	g.underWay--
	var group []func(wait time.Duration)
	if g.underWay == 0 {
		group = g.take()
	}
	g.mu.Unlock()
	g.proposeAll(group)
}

// flush proposes the group whose time is over. If that group is complete already, the next one has
// less time.
func (g *groupCommit) flush() {
	g.mu.Lock()
	group := g.take()
	g.mu.Unlock()
	g.proposeAll(group)
}

// take returns the group, which is then under way. mu is held.
func (g *groupCommit) take() []func(wait time.Duration) {
	group := g.group
	g.group = nil
	g.underWay += len(group)
	if g.timer != nil {
		g.timer.Stop()
		g.timer = nil
	}
	return group
}

// proposeAll proposes a group. All its proposals share queueWait.
func (g *groupCommit) proposeAll(group []func(wait time.Duration)) {
	if len(group) == 0 {
		return
	}
	g.observe(len(group))
	until := time.Now().Add(queueWait)
	for _, propose := range group {
		propose(max(time.Until(until), minPlaceWait))
	}
}
