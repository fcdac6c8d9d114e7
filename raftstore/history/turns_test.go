package history

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"quorate/raftstore/state"
)

// oneAtATime is a hub over a log that one cursor reads at a time, each when the test lets it.
type oneAtATime struct {
	*Hub
	t       *testing.T
	log     *fakeLog
	metric  func(string) float64
	proceed chan struct{}
	readers sync.WaitGroup

	mu   sync.Mutex
	done []string // owners of the cursors that have read, in order; guarded by mu
}

func newOneAtATime(t *testing.T, events uint64) *oneAtATime {
	h := &oneAtATime{t: t, proceed: make(chan struct{})}
	h.Hub, h.log, _, h.metric = logOnly(t, events, Config{MaxLogReads: 1})
	h.log.hook = func(context.Context) error { <-h.proceed; return nil }
	return h
}

// read lets a cursor of an owner read from a position.
func (h *oneAtATime) read(owner string, position uint64) {
	c := h.WatchFor(owner, state.ResourcePrefix("pods"), position)
	h.readers.Go(func() {
		if _, err := c.Ready(h.t.Context()); err != nil {
			h.t.Error(err)
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		h.done = append(h.done, owner)
	})
	synctest.Wait()
}

// serve lets the next cursors read, one after the other.
func (h *oneAtATime) serve(count int) {
	for range count {
		h.proceed <- struct{}{}
		synctest.Wait()
	}
}

// TestOwnersTakeTurns lets one user have many watches at different positions in the log. A watch of
// another user, and one of the node itself, come later and wait for one of their reads each.
func TestOwnersTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newOneAtATime(t, 600)
		for i := range uint64(20) {
			h.read("greedy", 20*i) // a read reaches over 15
		}
		h.read("ann", 450)
		h.read("", 500)
		if n := h.metric("log_reads_queued"); n != 21 {
			t.Errorf("%v cursors wait, want 21", n)
		}
		h.serve(22)
		h.readers.Wait()
		if want := []string{"greedy", "greedy", "ann", "", "greedy", "greedy"}; !slices.Equal(h.done[:len(want)], want) {
			t.Errorf("the turns were of %q, want %q and so on", h.done, want)
		}
		if len(h.turns.queues) != 0 || h.turns.waiting.Len() != 0 {
			t.Error("owners without waiting cursors are kept")
		}
	})
}

// TestWaitForATurnIsNobodyElses: a cursor does not wait for a read that another user's cursor has
// yet to begin, although both are at the same position; and a read that was made while it waited
// for its turn serves it too.
func TestWaitForATurnIsNobodyElses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newOneAtATime(t, 300)
		for i := range uint64(10) {
			h.read("greedy", 30*i)
		}
		h.read("ann", 270) // where the last of greedy's begins
		h.serve(3)
		if !slices.Contains(h.done, "ann") {
			t.Error("ann waits for another user's turns")
		}
		close(h.proceed)
		h.readers.Wait()
		if shared := h.metric("log_reads_shared_total"); h.log.reads != 10 || shared != 1 {
			t.Errorf("%d reads and %v shared, want 10 and 1", h.log.reads, shared)
		}
	})
}

// TestTurnsAtRandom lets cursors of many owners wait, leave and end in a random order, and compares
// the turns with a model of it: a slice that is searched for the next one.
func TestTurnsAtRandom(t *testing.T) {
	t.Parallel()
	for range 200 {
		atOnce := 1 + rand.N(4)
		turns := newTurns(atOnce)
		running := 0
		var waits []*wait    // in order of arrival
		var owners []string  // that wait, the next one first
		var begun []*wait    // whose turn has come, and who may yet leave
		wakeNext := func() { // by the model
			if len(owners) == 0 {
				running--
				return
			}
			owner := owners[0]
			i := slices.IndexFunc(waits, func(w *wait) bool { return w.owner == owner })
			w := waits[i]
			select {
			case <-w.turn:
			default:
				t.Fatalf("the turn of %s has not come, with %v waiting", owner, owners)
			}
			waits = slices.Delete(waits, i, i+1)
			begun = append(begun, w)
			owners = owners[1:]
			if slices.ContainsFunc(waits, func(w *wait) bool { return w.owner == owner }) {
				owners = append(owners, owner)
			}
		}
		for range 300 {
			switch owner := fmt.Sprint("user", rand.N(5)); {
			case rand.N(3) > 0:
				w := turns.begin(owner)
				switch {
				case (w == nil) != (running < atOnce):
					t.Fatalf("a turn begins: %t, with %d of %d", w == nil, running, atOnce)
				case w == nil:
					running++
				default:
					waits = append(waits, w)
					if !slices.Contains(owners, owner) {
						owners = append(owners, owner)
					}
				}
			case rand.N(3) == 0 && len(waits) > 0:
				i := rand.N(len(waits))
				w := waits[i]
				turns.leave(w)
				waits = slices.Delete(waits, i, i+1)
				if !slices.ContainsFunc(waits, func(other *wait) bool { return other.owner == w.owner }) {
					owners = slices.DeleteFunc(owners, func(o string) bool { return o == w.owner })
				}
			case rand.N(3) == 0 && len(begun) > 0: // its context ended as its turn came
				w := begun[len(begun)-1]
				begun = begun[:len(begun)-1]
				turns.leave(w)
				wakeNext()
			case running > len(begun) || len(begun) > 0:
				if len(begun) > 0 && running == len(begun) {
					begun = begun[:len(begun)-1]
				}
				turns.end()
				wakeNext()
			}
			if n := turns.running(); n != running {
				t.Fatalf("%d turns run, want %d", n, running)
			}
			if turns.waiting.Len() != len(owners) || len(turns.queues) != len(owners) {
				t.Fatalf("%d owners wait, want %v", turns.waiting.Len(), owners)
			}
		}
	}
}
