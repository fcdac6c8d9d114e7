package write

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

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
