package write

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"quorate/raftstore/failure"
	"quorate/raftstore/state"
)

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
