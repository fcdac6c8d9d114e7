package write

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// raftQueue records what a groupCommit proposes.
type raftQueue struct {
	*groupCommit
	disk   time.Duration // how long an append takes
	groups []int
	waits  []time.Duration

	recorded sync.Mutex
	proposed []int // guarded by recorded: the timer proposes, too
}

func newRaftQueue(alone bool) *raftQueue {
	q := &raftQueue{}
	q.groupCommit = newGroupCommit(func() bool { return alone }, func(n int) { q.groups = append(q.groups, n) },
		func() time.Duration { return q.disk })
	return q
}

// submit submits proposals with these numbers.
func (q *raftQueue) submit(from, to int) {
	for n := from; n < to; n++ {
		q.groupCommit.submit(func(wait time.Duration) func() {
			q.recorded.Lock()
			defer q.recorded.Unlock()
			q.proposed = append(q.proposed, n)
			q.waits = append(q.waits, wait)
			return func() {}
		})
	}
}

// got returns the proposals that Raft has got.
func (q *raftQueue) got() []int {
	q.recorded.Lock()
	defer q.recorded.Unlock()
	return slices.Clone(q.proposed)
}

// loaded submits proposals, of which none is decided, until further ones wait, and returns how
// many.
func (q *raftQueue) loaded() int { return q.loadedFrom(0) }

// loadedFrom is loaded with proposals from a number. It returns the number after the last.
func (q *raftQueue) loadedFrom(n int) int {
	for end := n + 1000; len(q.group) == 0 && n < end; n++ {
		q.submit(n, n+1)
	}
	q.flush(q.timers)
	return n
}

func numbers(to int) (all []int) {
	for n := range to {
		all = append(all, n)
	}
	return all
}

// TestFewProposalsDoNotWait checks that proposals of few clients, or of a node without other
// voters, get to Raft at once.
func TestFewProposalsDoNotWait(t *testing.T) {
	q := newRaftQueue(false)
	for round := range 100 {
		q.submit(round*4, round*4+4)
		if len(q.group) > 0 {
			t.Fatalf("round %d: %d of 4 proposals wait", round, len(q.group))
		}
		for range 4 {
			q.decided()
		}
	}
	q = newRaftQueue(true)
	q.submit(0, 1000)
	if !slices.Equal(q.got(), numbers(1000)) {
		t.Errorf("of 1000 proposals of the only voter Raft got %d", len(q.got()))
	}
}

// TestProposalsUnderLoadFormGroups checks that proposals that arrive while many are under way get
// to Raft together and in order, once all of those are decided.
func TestProposalsUnderLoadFormGroups(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newRaftQueue(false)
		n := q.loaded()
		if n < groupFrom || n > 4*groupFrom {
			t.Fatalf("%d proposals got to Raft at once", n)
		}
		q.submit(n, n+10)
		for range n - 1 {
			q.decided()
			if len(q.got()) != n {
				t.Fatalf("Raft got %d proposals; want %d while some of these are under way", len(q.got()), n)
			}
		}
		q.decided()
		if !slices.Equal(q.got(), numbers(n+10)) || q.groups[len(q.groups)-1] != 10 {
			t.Errorf("Raft got %v in groups of %v", q.got(), q.groups)
		}
		for _, wait := range q.waits {
			if wait <= 0 || wait > queueWait {
				t.Errorf("a proposal may wait %v for a place in Raft's queue", wait)
			}
		}
		if q.timer != nil {
			t.Error("a timer is left after the last group")
		}
	})
}

// TestGroupsAreBounded checks that a group gets to Raft when it is complete, or after groupWait,
// even if Raft decides nothing.
func TestGroupsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newRaftQueue(false)
		n := q.loaded()
		q.submit(n, n+maxGroup-1)
		if len(q.got()) != n {
			t.Errorf("Raft got %d proposals before their group was complete", len(q.got())-n)
		}
		q.submit(n+maxGroup-1, n+maxGroup+5)
		if want := n + maxGroup; len(q.got()) != want {
			t.Fatalf("Raft got %d proposals, want %d: the complete group", len(q.got()), want)
		}
		time.Sleep(groupWait - 1)
		synctest.Wait()
		if want := n + maxGroup; len(q.got()) != want {
			t.Errorf("Raft got %d proposals, want %d before groupWait has passed", len(q.got()), want)
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if !slices.Equal(q.got(), numbers(n+maxGroup+5)) {
			t.Errorf("after groupWait Raft got %d proposals, want %d", len(q.got()), n+maxGroup+5)
		}
	})
}

// TestGroupsWaitForSlowDisks checks that groups wait longer where appends do, up to maxGroupWait.
func TestGroupsWaitForSlowDisks(t *testing.T) {
	for disk, want := range map[time.Duration]time.Duration{
		10 * time.Millisecond: groupWait + 20*time.Millisecond,
		time.Minute:           maxGroupWait,
	} {
		synctest.Test(t, func(t *testing.T) {
			q := newRaftQueue(false)
			q.disk = disk
			n := q.loaded()
			q.submit(n, n+1)
			time.Sleep(want - 1)
			synctest.Wait()
			if len(q.got()) != n {
				t.Errorf("appends of %s: Raft got the group within %s", disk, want)
			}
			time.Sleep(time.Nanosecond)
			synctest.Wait()
			if len(q.got()) != n+1 {
				t.Errorf("appends of %s: Raft did not get the group after %s", disk, want)
			}
		})
	}
}

// TestEachProposalIsProposedOnce submits concurrently. Each outcome takes a millisecond, so
// that proposals are under way at the same time on any machine.
func TestEachProposalIsProposedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const clients, each = 50, 200
		var counts [clients * each]atomic.Int32
		var grouped atomic.Int32
		g := newGroupCommit(func() bool { return false }, func(n int) {
			if n > 1 {
				grouped.Add(1)
			}
		}, func() time.Duration { return 0 })
		var all sync.WaitGroup
		for client := range clients {
			all.Go(func() {
				for i := range each {
					done := make(chan struct{})
					g.submit(func(time.Duration) func() {
						counts[client*each+i].Add(1)
						all.Add(1)
						return func() {
							defer all.Done()
							time.Sleep(time.Millisecond)
							close(done)
							g.decided()
						}
					})
					<-done
				}
			})
		}
		all.Wait()
		for i := range counts {
			if n := counts[i].Load(); n != 1 {
				t.Fatalf("proposal %d was proposed %d times", i, n)
			}
		}
		if grouped.Load() == 0 || g.pending() != 0 {
			t.Errorf("%d groups, and %v proposals are under way after the last", grouped.Load(), g.pending())
		}
	})
}
