package write

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// decisionTime is how long a proposal is under way in these tests.
const decisionTime = 2 * time.Millisecond

// clientLoad has clients propose.
type clientLoad struct {
	*groupCommit
	running sync.WaitGroup

	mu     sync.Mutex
	groups []int
}

func newClientLoad() *clientLoad {
	l := &clientLoad{}
	l.groupCommit = newGroupCommit(func() bool { return false }, func(n int) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.groups = append(l.groups, n)
	}, func() time.Duration { return 0 })
	return l
}

// propose makes a proposal, waits for its outcome, and returns how long that took.
func (l *clientLoad) propose() time.Duration { return l.proposeFor(decisionTime) }

// proposeFor is propose with the time that the proposal is under way.
func (l *clientLoad) proposeFor(underWay time.Duration) time.Duration {
	start := time.Now()
	done := make(chan struct{})
	l.running.Add(1)
	l.submit(func(time.Duration) func() {
		return func() {
			defer l.running.Done()
			time.Sleep(underWay)
			close(done)
			l.decided()
		}
	})
	<-done
	return time.Since(start)
}

// closed has clients that propose again a short time after each outcome, for the time of a hundred.
// It returns the number of proposals.
func (l *clientLoad) closed(clients int) int {
	var count atomic.Int64
	var all sync.WaitGroup
	for client := range clients {
		random := rand.New(rand.NewPCG(uint64(client), 1))
		all.Go(func() {
			for start := time.Now(); time.Since(start) < 100*decisionTime; count.Add(1) {
				l.propose()
				time.Sleep(time.Duration(random.Int64N(int64(decisionTime))))
			}
		})
	}
	all.Wait()
	l.running.Wait()
	return int(count.Load())
}

// TestGroupsGather has clients that propose again soon after an outcome: their proposals get to Raft
// together, instead of those of one half while the other half's are under way.
func TestGroupsGather(t *testing.T) {
	for _, clients := range []int{12, 24} {
		synctest.Test(t, func(t *testing.T) {
			l := newClientLoad()
			l.closed(clients)
			l.groups = nil
			if average := float64(l.closed(clients)) / float64(len(l.groups)); average < 0.75*float64(clients) {
				t.Errorf("%d clients: %.1f proposals in a group", clients, average)
			}
		})
	}
}

// TestRandomProposalsRarelyGather has proposals at random times, ten of which are under way at a
// time. Waiting until more come than usual would slow all of them down.
func TestRandomProposalsRarelyGather(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newClientLoad()
		random := rand.New(rand.NewPCG(1, 2))
		const count = 5000
		var mu sync.Mutex
		var total time.Duration
		var all sync.WaitGroup
		for range count {
			time.Sleep(time.Duration(random.ExpFloat64() * float64(decisionTime) / 10))
			all.Go(func() {
				took := l.propose()
				mu.Lock()
				defer mu.Unlock()
				total += took
			})
		}
		all.Wait()
		l.running.Wait()
		if average := total / count; average > decisionTime*9/5 {
			t.Errorf("a proposal takes %s, of which Raft takes %s", average, decisionTime)
		}
	})
}

// TestAbsentProposers has clients of which all but one leave. Its proposals wait no longer than
// gatherWait, and not for long.
func TestAbsentProposers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newClientLoad()
		l.closed(24)
		if took := l.propose(); took != gatherWait+decisionTime {
			t.Errorf("the first proposal without the others took %s", took)
		}
		total := time.Duration(0)
		for range 100 {
			total += l.propose()
		}
		l.running.Wait()
		if total > 100*decisionTime+12*gatherWait {
			t.Errorf("100 proposals without the others took %s", total)
		}
	})
}

// TestLateTimer has the timer of a group fire after the group has got to Raft: the next one still
// waits for the proposals under way.
func TestLateTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newRaftQueue(false)
		n := q.loaded()
		q.submit(n, n+1)
		former := q.timers
		for range n {
			q.decided() // the last lets Raft have the group
		}
		n = q.loadedFrom(n + 1)
		q.submit(n, n+1)
		q.flush(former)
		if got := len(q.got()); got != n {
			t.Errorf("Raft got %d proposals, want %d", got, n)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if got := len(q.got()); got != n+1 {
			t.Errorf("Raft got %d proposals, want %d", got, n+1)
		}
	})
}

// TestTimersOfGroups has groups that their timers complete, in real time: the race detector sees no
// races between a timer and what a simulated clock waits for.
func TestTimersOfGroups(t *testing.T) {
	l := newClientLoad()
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			for range 10 {
				l.proposeFor(5 * groupWait)
			}
		})
	}
	all.Wait()
	l.running.Wait()
	if n := l.pending(); n != 0 {
		t.Errorf("%v proposals are under way after the last", n)
	}
}
