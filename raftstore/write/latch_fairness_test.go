package write

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"quorate/raftstore/state"
)

func TestReservation(t *testing.T) {
	// In lost, client 1 writes version 2 while client 2 gets a conflict on version 1, which is
	// released.
	lost := func(c *harness) {
		c.updateAs(1, "winner", 1)
		winner := c.holder()
		c.updateAs(2, "loser", 1)
		c.apply(2)
		c.over(winner)
		c.expect("loser")
	}

	t.Run("the_retry_of_a_lost_conflict_comes_first", func(t *testing.T) {
		withHarness(t, func(c *harness) {
			lost(c)
			c.updateAs(1, "next", 2)
			c.updateAs(2, "retry", 2)
			h := c.holder()
			if h.name != "retry" {
				t.Errorf("%s holds the key", h.name)
			}
			c.apply(3)
			c.over(h)
			c.expect("loser", "next")
		})
	})

	t.Run("others_wait_no_longer_than_retryTime", func(t *testing.T) {
		withHarness(t, func(c *harness) {
			lost(c)
			time.Sleep(time.Millisecond)
			c.updateAs(1, "next", 2)
			c.updateAs(3, "third", 2)
			time.Sleep(retryTime - time.Millisecond - time.Nanosecond)
			synctest.Wait()
			if len(c.has) != 0 {
				t.Error("the reservation ended early")
			}
			time.Sleep(time.Nanosecond)
			h := c.holder()
			if h.name != "next" {
				t.Errorf("%s holds the key", h.name)
			}
			c.apply(3)
			c.over(h)
			c.expect("loser", "third")
		})
	})

	t.Run("further_releases_do_not_prolong_it", func(t *testing.T) {
		withHarness(t, func(c *harness) {
			const many = int(4 * maxConflictDelay / retryTime) // more than one per retryTime in maxConflictDelay
			c.updateAs(1, "winner", 1)
			winner := c.holder()
			for i := range many {
				c.updateAs(uint64(i+2), fmt.Sprint(i), 1)
			}
			c.apply(2)
			c.over(winner)
			c.updateAs(1, "next", 2)
			time.Sleep(retryTime)
			c.over(c.holder())
		})
	})

	t.Run("none_without_a_conflict", func(t *testing.T) {
		withHarness(t, func(c *harness) {
			for version := uint64(1); version < 10; version++ {
				c.updateAs(1, "alone", version)
				h := c.holder()
				c.apply(version + 1)
				c.over(h)
				if len(c.latches.keys) != 0 {
					t.Fatal("the latch was not dropped")
				}
			}
		})
	})

	t.Run("ends_with_a_waiter_that_gives_up", func(t *testing.T) {
		withHarness(t, func(c *harness) {
			lost(c)
			ctx, cancel := context.WithCancel(c.t.Context())
			c.write(ctx, "gives up", &command{Precondition: state.Precondition{Key: contended, Version: 2}, client: 1})
			synctest.Wait()
			cancel()
			c.expect("loser", "gives up: "+context.Canceled.Error())
			c.updateAs(2, "retry", 2)
			c.over(c.holder())
		})
	})
}

// race simulates clients that read and write one key, and retry after a conflict.
type race struct {
	*harness
	random *rand.Rand

	mu      sync.Mutex
	version uint64
	holding int
}

func (r *race) read() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.version
}

// pause sleeps for a random time of at most longest.
func (r *race) pause(longest time.Duration) {
	r.mu.Lock()
	d := time.Duration(r.random.Int64N(int64(longest)))
	r.mu.Unlock()
	time.Sleep(d)
}

// write writes from a version, and reports whether it was applied.
func (r *race) write(client, version uint64) bool {
	ctx, cancel := r.t.Context(), context.CancelFunc(func() {})
	if r.chance(0.05) {
		ctx, cancel = context.WithTimeout(ctx, time.Millisecond)
	}
	defer cancel()
	cmd := &command{Precondition: state.Precondition{Key: contended, Version: version}, client: client}
	w, err := r.latches.enter(cmd, cmd.refusal(r.state()))
	if err != nil {
		r.t.Error(err)
		return false
	}
	defer func() { r.latches.leave(w, r.state) }()
	if err := r.latches.wait(ctx, r.epoch, w); err != nil {
		return false
	}
	switch {
	case w.holds:
		return r.commit(version)
	case w.released != nil:
		r.latches.delayConflict(ctx, r.epoch, w)
		if d := time.Since(w.since); d > maxConflictDelay+2*retryTime {
			r.t.Errorf("a conflict was delayed for %s", d)
		}
	}
	return false
}

func (r *race) chance(p float64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.random.Float64() < p
}

// commit takes the time of a disk write, and sometimes fails.
func (r *race) commit(version uint64) bool {
	r.mu.Lock()
	r.holding++
	if r.holding != 1 {
		r.t.Errorf("%d hold the key", r.holding)
	}
	r.mu.Unlock()
	r.pause(2 * time.Millisecond)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.holding--
	if version != r.version || r.random.Float64() < 0.05 {
		return false
	}
	r.version++
	r.apply(r.version)
	return true
}

func (r *race) state() *state.Root {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.root()
}

// TestRace checks that each client gets at least a third of its equal share of the writes, whether
// its connection is fast or slow, that one write holds the key at a time, and that no write waits
// forever, whatever fails or is cancelled. Under synctest a lost wake-up is a deadlock, which fails
// the test.
func TestRace(t *testing.T) {
	const duration = 2 * time.Second
	for seed := range uint64(20) {
		withHarness(t, func(c *harness) {
			r := &race{harness: c, random: rand.New(rand.NewPCG(seed, 1)), version: 1}
			near, far := 3+r.random.IntN(6), 1+r.random.IntN(6)
			applied := make([]int, near+far)
			end := time.Now().Add(duration)
			for i := range applied {
				think := 200 * time.Microsecond
				if i >= near {
					think = 4 * time.Millisecond
				}
				c.work.Go(func() {
					for time.Now().Before(end) {
						version := r.read()
						r.pause(think)
						if r.write(uint64(i+1), version) {
							applied[i]++
						}
					}
				})
			}
			c.work.Wait()
			total := 0
			for _, n := range applied {
				total += n
			}
			if total < int(duration/(8*time.Millisecond)) {
				t.Errorf("seed %d: %d writes in %s", seed, total, duration)
			}
			for i, n := range applied {
				if 3*n*len(applied) < total {
					t.Errorf("seed %d: client %d of %d near, %d far: %d writes of %d", seed, i, near, far, n, total)
				}
			}
		})
	}
}
