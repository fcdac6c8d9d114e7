package write

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"quorate/raftstore/failure"
	"quorate/raftstore/leadership"
	"quorate/raftstore/state"
)

const contended = state.Key("contended")

// harness has one key, the writes to it, and their outcomes.
type harness struct {
	t        *testing.T
	latches  *latches
	epoch    *leadership.Epoch
	endEpoch context.CancelFunc
	tree     *state.Tree
	current  *state.Root
	work     sync.WaitGroup

	mu       sync.Mutex
	returned []string // names of doomed writes, in the order in which their conflicts were returned
	at       map[string]time.Duration
	has      chan holder
}

// holder is the write that holds the key.
type holder struct {
	*waiter
	name string
}

// withHarness runs fn with a key at version 1 under synctest, and checks that the latches are empty
// after all writes.
func withHarness(t *testing.T, fn func(*harness)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := &harness{t: t, latches: newLatches(newLatchMetrics(prometheus.NewRegistry())), tree: state.NewTree(), at: make(map[string]time.Duration), has: make(chan holder, 1)}
		ctx, end := context.WithCancel(t.Context())
		defer end()
		c.epoch, c.endEpoch = leadership.NewEpoch(ctx, 1), end
		c.apply(1)
		fn(c)
		c.work.Wait()
		time.Sleep(retryTime) // the key may still be reserved
		synctest.Wait()
		if l := c.latches; len(l.keys) != 0 || l.waiting != 0 || l.delayed != 0 {
			t.Errorf("not empty: %d keys, %d waiting, %d delayed", len(l.keys), l.waiting, l.delayed)
		}
	})
}

// apply sets the object's version to index.
func (c *harness) apply(index uint64) {
	c.tree.Set(&state.Object{Key: contended, Version: index})
	c.tree.Advance(index)
	c.current = c.tree.Publish()
}

func (c *harness) remove(index uint64) {
	c.tree.Delete(contended)
	c.tree.Advance(index)
	c.current = c.tree.Publish()
}

func (c *harness) root() *state.Root { return c.current }

// update starts a write from a version; version 0 is a create.
func (c *harness) update(name string, version uint64) { c.updateWithin(c.t.Context(), name, version) }

func (c *harness) updateWithin(ctx context.Context, name string, version uint64) {
	c.write(ctx, name, &command{Precondition: state.Precondition{Key: contended, Version: version, Creates: version == 0}})
	synctest.Wait()
}

// updateAs starts a write from a version by a client.
func (c *harness) updateAs(client uint64, name string, version uint64) {
	c.write(c.t.Context(), name, &command{Precondition: state.Precondition{Key: contended, Version: version}, client: client})
	synctest.Wait()
}

func (c *harness) write(ctx context.Context, name string, cmd *command) {
	start := time.Now()
	c.work.Go(func() {
		w, err := c.latches.enter(cmd, cmd.refusal(c.root()))
		if err == nil {
			err = c.latches.wait(ctx, c.epoch, w)
		}
		switch {
		case err != nil:
			c.note(name+": "+err.Error(), start)
			if w == nil {
				return
			}
		case w.holds:
			c.has <- holder{w, name}
			return
		case w.released != nil:
			c.latches.delayConflict(ctx, c.epoch, w)
			c.note(name, start)
		default:
			c.note(name, start)
		}
		c.latches.leave(w, c.root)
	})
}

func (c *harness) note(what string, start time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.returned = append(c.returned, what)
	c.at[what] = time.Since(start)
}

// holder returns the write that holds the key now.
func (c *harness) holder() holder {
	c.t.Helper()
	synctest.Wait()
	select {
	case h := <-c.has:
		return h
	default:
		c.t.Fatal("no write holds the key")
		return holder{}
	}
}

// over ends the write that holds the key.
func (c *harness) over(h holder) {
	c.latches.leave(h.waiter, c.root)
	synctest.Wait()
}

func (c *harness) expect(returned ...string) {
	c.t.Helper()
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	if fmt.Sprint(c.returned) != fmt.Sprint(returned) {
		c.t.Errorf("returned: %v, want %v", c.returned, returned)
	}
}

func TestConflictsAreReleasedOneAtATime(t *testing.T) {
	// In rivals, one write succeeds while n others that began with the same version wait.
	rivals := func(c *harness, n int) {
		c.update("winner", 1)
		winner := c.holder()
		for i := range n {
			c.update(fmt.Sprint(i), 1)
		}
		c.expect()
		c.apply(2)
		c.over(winner)
	}

	t.Run("one_at_each_write", func(t *testing.T) {
		withHarness(t, func(c *harness) {
			rivals(c, 4)
			c.expect("0")
			for version := uint64(2); version < 5; version++ {
				c.update("next", version)
				next := c.holder()
				time.Sleep(time.Millisecond)
				c.expect([]string{"0", "1", "2"}[:version-1]...)
				c.apply(version + 1)
				c.over(next)
			}
			c.expect("0", "1", "2", "3")
		})
	})

	t.Run("one_per_retry_time_if_no_client_retries", func(t *testing.T) {
		withHarness(t, func(c *harness) {
			rivals(c, 3)
			c.expect("0")
			time.Sleep(retryTime - 1)
			c.expect("0")
			time.Sleep(time.Nanosecond)
			c.expect("0", "1")
			time.Sleep(retryTime)
			c.expect("0", "1", "2")
		})
	})

	t.Run("none_while_a_write_is_under_way", func(t *testing.T) {
		withHarness(t, func(c *harness) {
			rivals(c, 3)
			c.update("next", 2)
			next := c.holder()
			time.Sleep(2 * retryTime)
			c.expect("0")
			c.apply(3)
			c.over(next)
			c.expect("0", "1")
		})
	})

	t.Run("all_within_a_bound_though_a_write_hangs", func(t *testing.T) {
		withHarness(t, func(c *harness) {
			rivals(c, 5)
			c.update("hangs", 2)
			hung := c.holder()
			time.Sleep(maxConflictDelay)
			c.expect("0", "1", "2", "3", "4")
			c.over(hung)
		})
	})

	t.Run("hundreds_evenly_within_the_bound", func(t *testing.T) {
		withHarness(t, func(c *harness) {
			const many = 501
			rivals(c, many)
			for passed := 1; passed <= 10; passed++ {
				time.Sleep(maxConflictDelay / 10)
				synctest.Wait()
				c.mu.Lock()
				if got, want := len(c.returned), 1+(many-1)*passed/10; got < want-5 || got > want+5 {
					t.Errorf("after %d tenths: %d returned, want about %d", passed, got, want)
				}
				c.mu.Unlock()
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			for name, took := range c.at {
				if took > maxConflictDelay {
					t.Errorf("the conflict of %s was delayed for %s", name, took)
				}
			}
		})
	})

	t.Run("behind_those_who_lost_before", func(t *testing.T) {
		withHarness(t, func(c *harness) {
			rivals(c, 2)
			c.update("late", 1)
			c.expect("0")
			time.Sleep(retryTime)
			c.expect("0", "1")
			time.Sleep(retryTime)
			c.expect("0", "1", "late")
		})
	})

	t.Run("at_once_when_there_is_no_contest", func(t *testing.T) {
		withHarness(t, func(c *harness) {
			c.apply(2)
			c.update("stale", 1)
			c.expect("stale")
		})
	})

	t.Run("at_once_to_all_when_the_leader_is_deposed", func(t *testing.T) {
		withHarness(t, func(c *harness) {
			rivals(c, 3)
			c.endEpoch()
			synctest.Wait()
			if len(c.returned) != 3 {
				t.Errorf("returned: %v", c.returned)
			}
		})
	})

	t.Run("at_once_to_whose_time_is_over", func(t *testing.T) {
		withHarness(t, func(c *harness) {
			rivals(c, 2)
			ctx, cancel := context.WithCancel(c.t.Context())
			c.updateWithin(ctx, "impatient", 1)
			cancel()
			c.expect("0", "impatient")
			time.Sleep(retryTime)
			c.expect("0", "impatient", "1")
		})
	})
}

func TestWaitersAcquireTheKeyInOrder(t *testing.T) {
	t.Run("the_key_goes_in_turn", func(t *testing.T) {
		withHarness(t, func(c *harness) {
			c.update("first", 1)
			first := c.holder()
			for _, name := range []string{"a", "b"} {
				c.update(name, 1)
			}
			for _, want := range []string{"a", "b"} {
				c.over(first) // without having been applied
				first = c.holder()
				if first.name != want {
					t.Errorf("%s has the key, want %s", first.name, want)
				}
			}
			c.over(first)
			c.expect()
		})
	})

	t.Run("before_those_who_are_held_back", func(t *testing.T) {
		withHarness(t, func(c *harness) {
			c.update("winner", 1)
			winner := c.holder()
			for i := range 3 {
				c.update(fmt.Sprint(i), 1)
			}
			c.apply(2)
			c.over(winner)
			c.update("new", 2)
			next := c.holder()
			c.update("newer", 2)
			c.over(next) // without having been applied
			c.over(c.holder())
			c.expect("0", "1")
			time.Sleep(retryTime)
		})
	})

	t.Run("creates_behind_a_delete", func(t *testing.T) {
		withHarness(t, func(c *harness) {
			c.update("delete", 1)
			first := c.holder()
			for _, name := range []string{"a", "b", "c"} {
				c.update(name, 0)
			}
			c.expect()
			c.remove(2)
			c.over(first)
			first = c.holder()
			c.expect()
			c.apply(3)
			c.over(first)
			slices.Sort(c.returned)
			c.expect("b", "c") // both learn together that the object exists, because such writes are not retried
		})
	})
}

func TestWaitForLatchEnds(t *testing.T) {
	t.Run("with_its_time", func(t *testing.T) {
		withHarness(t, func(c *harness) {
			c.update("first", 1)
			first := c.holder()
			ctx, cancel := context.WithCancel(c.t.Context())
			c.updateWithin(ctx, "second", 1)
			cancel()
			c.expect("second: " + context.Canceled.Error())
			c.over(first)
		})
	})

	t.Run("with_the_leader", func(t *testing.T) {
		withHarness(t, func(c *harness) {
			c.update("first", 1)
			first := c.holder()
			c.update("second", 1)
			c.endEpoch()
			c.expect("second: " + failure.ErrNotLeader.Error())
			c.over(first)
		})
	})

	t.Run("at_once_when_too_many_wait", func(t *testing.T) {
		withHarness(t, func(c *harness) {
			c.update("first", 1)
			first := c.holder()
			c.latches.waiting += maxLatchWaiters
			c.update("second", 1)
			c.expect("second: " + errLatchesFull.Error())
			c.apply(2)
			c.update("doomed", 1)
			c.expect("second: "+errLatchesFull.Error(), "doomed")
			c.latches.waiting -= maxLatchWaiters
			c.over(first)
		})
	})
}

func TestRefusalOfAnUpdateIsFinal(t *testing.T) {
	tree := state.NewTree()
	update := &command{Precondition: state.Precondition{Key: contended, Version: 1}}
	for index, change := range []func(index uint64){
		func(index uint64) { tree.Set(&state.Object{Key: contended, Version: index}) },
		func(uint64) { tree.Delete(contended) },
		func(index uint64) { tree.Set(&state.Object{Key: contended, Version: index}) },
	} {
		change(uint64(index + 2))
		tree.Advance(uint64(index + 2))
		err := update.refusal(tree.Publish())
		_, conflict := errors.AsType[*state.Conflict](err)
		_, missing := errors.AsType[*state.NotFound](err)
		if !conflict && !missing {
			t.Errorf("at %d: %v", index+2, err)
		}
	}
}
