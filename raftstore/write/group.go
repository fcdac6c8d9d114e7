package write

import (
	"sync"
	"time"

	"quorate/raftstore/gather"
)

const (
	// groupFrom is the average number of proposals under way or waiting from which groups form. With
	// fewer there is little to gather, and the wait costs more than it saves.
	groupFrom = 6
	// loadSamples is the number of proposals over which the average is taken, roughly.
	loadSamples = 16
	// maxGroup is the size at which a group is complete.
	maxGroup = 64
	// maxGather is the number of proposals for which a group waits at most if none is under way.
	// More save little.
	maxGather = 32
	// While others are under way, a proposal waits for its group no longer than groupWait and the
	// time of two appends to this node's disk: on a slow disk it would wait for those in any case.
	// Once none is under way, it waits no longer than a further gatherWait and the time of one
	// append: the clients of a slower node come back later. Each of the two is at most maxGroupWait.
	groupWait    = 2 * time.Millisecond
	gatherWait   = 4 * time.Millisecond
	maxGroupWait = 100 * time.Millisecond
	// minPlaceWait is how long each proposal of a group waits for a place in Raft's queue at least.
	minPlaceWait = 50 * time.Microsecond
)

// groupCommit makes Raft append and replicate more proposals at a time than those that arrive
// during one append. Under load, proposals that arrive while others are under way form a group. Raft
// gets it once all of those are decided and, if their callers usually propose again soon, as many
// have done so as are usually there. With few clients no proposal waits.
type groupCommit struct {
	alone   func() bool         // reports whether no other node votes: then Raft's own groups suffice
	observe func(proposals int) // called with the size of each group
	// appendTime returns how long appends to this node's log take at present, 0 if that is unknown.
	appendTime func() time.Duration

	mu        sync.Mutex  // guards the fields below
	underWay  int         // proposals that Raft has, or did not take yet
	peak      int         // of underWay and len(group) together since none was under way
	load      int         // loadSamples times the average of underWay and len(group)
	group     []proposal  // those that wait
	timer     *time.Timer // completes the group after its wait
	timers    int         // how many timers there have been; the number of the last
	policy    gather.Policy
	gathering bool // the group waits for further proposals while none is under way
}

func newGroupCommit(alone func() bool, observe func(proposals int), appendTime func() time.Duration) *groupCommit {
	return &groupCommit{
		alone: alone, observe: observe, appendTime: appendTime,
		policy: gather.Policy{From: groupFrom, Max: maxGather},
	}
}

// proposal puts a proposal into Raft's queue, for a place in which it waits no longer than wait. The
// function that it returns waits until the proposal's outcome is decided, and then calls decided.
type proposal func(wait time.Duration) (await func())

// submit calls p, at once, or within the group's wait after those that were submitted to the same
// group before, and starts a goroutine that awaits the outcome.
func (g *groupCommit) submit(p proposal) {
	g.proposeAll(g.join(p))
}

// join adds a proposal to the group. It returns what is to be proposed now.
func (g *groupCommit) join(p proposal) []proposal {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.load += g.underWay + len(g.group) - g.load/loadSamples
	g.group = append(g.group, p)
	g.peak = max(g.peak, g.underWay+len(g.group))
	expected := g.policy.Expected()
	few := expected == 1 && g.load < groupFrom*loadSamples
	switch {
	case len(g.group) == maxGroup || few || g.alone():
		return g.take()
	case g.underWay == 0:
		return g.takeOrGather(expected)
	case len(g.group) == 1:
		g.completeAfter(groupWait + 2*g.appendTime())
	}
	return nil
}

// takeOrGather returns the group if it has as many proposals as expected. Otherwise it lets the
// group wait for them. No proposal is under way, and mu is held.
func (g *groupCommit) takeOrGather(expected int) []proposal {
	if len(g.group) >= expected {
		if g.gathering {
			g.policy.Waited(true)
		}
		return g.take()
	}
	if !g.gathering {
		g.gathering = true
		g.completeAfter(gatherWait + g.appendTime())
	}
	return nil
}

// completeAfter makes the group complete after a wait, of maxGroupWait at most. mu is held.
func (g *groupCommit) completeAfter(wait time.Duration) {
	if g.timer != nil {
		g.timer.Stop()
	}
	g.timers++
	number := g.timers
	g.timer = time.AfterFunc(min(wait, maxGroupWait), func() { g.flush(number) })
}

// pending returns the number of proposals under way.
func (g *groupCommit) pending() float64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return float64(g.underWay)
}

// decided ends a proposal, and proposes the group if no other is under way.
func (g *groupCommit) decided() { g.proposeAll(g.end()) }

// end ends a proposal. It returns what is to be proposed now.
func (g *groupCommit) end() []proposal {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.underWay--; g.underWay > 0 {
		return nil
	}
	g.policy.Ended(min(g.peak, maxGroup))
	g.peak = len(g.group)
	if len(g.group) == 0 {
		return nil
	}
	return g.takeOrGather(g.policy.Expected())
}

// flush proposes the group whose timer, of this number, has fired. If that group has got to Raft
// meanwhile, or has another timer, flush does nothing.
func (g *groupCommit) flush(number int) { g.proposeAll(g.takeLate(number)) }

func (g *groupCommit) takeLate(number int) []proposal {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.timer == nil || g.timers != number {
		return nil
	}
	if g.gathering {
		g.policy.Waited(false)
	}
	return g.take()
}

// take returns the group, which is then under way. mu is held.
func (g *groupCommit) take() []proposal {
	group := g.group
	g.group, g.gathering = nil, false
	g.underWay += len(group)
	if g.timer != nil {
		g.timer.Stop()
		g.timer = nil
	}
	return group
}

// proposeAll proposes a group. All its proposals share queueWait. They must get to Raft faster than
// it takes them out of its queue, or it makes several appends of them: so the goroutines that wait
// for the outcomes start only when all are there.
func (g *groupCommit) proposeAll(group []proposal) {
	if len(group) == 0 {
		return
	}
	g.observe(len(group))
	awaits := make([]func(), len(group))
	until := time.Now().Add(queueWait)
	for i, propose := range group {
		awaits[i] = propose(max(time.Until(until), minPlaceWait))
	}
	for _, await := range awaits {
		go await()
	}
}
