package raftstore_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"quorate/raftstore"
	"quorate/raftstore/history"
	"quorate/raftstore/state"
	"quorate/raftstore/testcluster"
)

func isCompacted(err error) bool {
	var compacted *history.Compacted
	return errors.As(err, &compacted)
}

// seen is an event as a client receives it.
type seen struct {
	index uint64
	kind  history.Type
	key   state.Key
	value string
}

func seenOf(events []*history.Event) []seen {
	var all []seen
	for _, e := range events {
		all = append(all, seen{e.Index, e.Type, e.Object.Key, string(e.Object.Value)})
	}
	return all
}

// watcher follows a collection on one node after another.
type watcher struct {
	position uint64
	events   []seen
}

// follow reads events from random nodes until it has passed end.
func (w *watcher) follow(t *testing.T, c *testcluster.Cluster, random *rand.Rand, end func() uint64) error {
	for {
		store := c.Nodes[random.IntN(len(c.Nodes))].Live()
		if store == nil {
			continue
		}
		done, err := w.visit(t, store, 1+random.IntN(20), end)
		if done || err != nil {
			return err
		}
	}
}

// visit reads some events from one node.
func (w *watcher) visit(t *testing.T, store *raftstore.Store, rounds int, end func() uint64) (done bool, err error) {
	cursor, err := store.Watch(state.ResourcePrefix(resource), w.position)
	if err != nil {
		return false, nil // closing
	}
	for range rounds {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		events, err := cursor.Next(ctx)
		cancel()
		switch {
		case errors.Is(err, context.DeadlineExceeded), errors.Is(err, history.ErrClosed):
			return w.position >= end(), t.Context().Err()
		case err != nil:
			return false, err
		}
		w.events = append(w.events, seenOf(events)...)
		w.position = events[len(events)-1].Index
		if w.position >= end() {
			return true, nil
		}
	}
	return false, nil
}

// TestWatchProperty interrupts watches and resumes them at random nodes while it stops, starts and
// snapshots nodes. Each watch must deliver every change exactly once, in order and with increasing
// versions (specification §6.2; rows D9, D22 and D23).
func TestWatchProperty(t *testing.T) {
	c := testcluster.New(t, 3, func(cfg *raftstore.Config) { cfg.HistoryBytes = 64 << 10 })
	c.Ready()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)

	var end struct {
		sync.Mutex
		index uint64
	}
	end.index = ^uint64(0)
	endOf := func() uint64 {
		end.Lock()
		defer end.Unlock()
		return end.index
	}
	watchers := make([]watcher, 6)
	var watching sync.WaitGroup
	for i := range watchers {
		watching.Go(func() {
			if err := watchers[i].follow(t, c, rand.New(rand.NewPCG(seed, uint64(i))), endOf); err != nil {
				t.Errorf("watcher %d at %d: %v", i, watchers[i].position, err)
			}
		})
	}
	acked := churn(t, c, seed)
	last := mustCreate(t, c.Leader().Store, "the-last-one", "x")
	end.Lock()
	end.index = last.Version
	end.Unlock()
	watching.Wait()

	reference := replayAll(t, c.Leader().Store, last.Version)
	for i := range watchers {
		if !slices.Equal(watchers[i].events, reference) {
			t.Errorf("watcher %d saw %d events, not the %d there were", i, len(watchers[i].events), len(reference))
		}
	}
	byIndex := make(map[uint64]seen)
	for _, e := range reference {
		byIndex[e.index] = e
	}
	for _, a := range acked {
		if e, ok := byIndex[a.index]; !ok || e != a {
			t.Errorf("acknowledged %+v, watched %+v", a, e)
		}
	}
	t.Logf("%d acknowledged writes, %d events", len(acked), len(reference))
}

// churn writes through all nodes while it stops, starts and snapshots them. It returns the
// acknowledged changes.
func churn(t *testing.T, c *testcluster.Cluster, seed uint64) []seen {
	ctx, stop := context.WithCancel(t.Context())
	var mu sync.Mutex
	var acked []seen
	var writers sync.WaitGroup
	for w := range 6 {
		random := rand.New(rand.NewPCG(seed, uint64(100+w)))
		writers.Go(func() {
			for ctx.Err() == nil {
				if change, ok := randomWrite(t, c, random, fmt.Sprintf("w%d", w)); ok {
					mu.Lock()
					acked = append(acked, change)
					mu.Unlock()
				}
			}
		})
	}
	random := rand.New(rand.NewPCG(seed, 200))
	for range 5 {
		n := c.Nodes[random.IntN(len(c.Nodes))]
		leader := c.Leader()
		before := leader.Store.Applied()
		testcluster.Eventually(t, "writes go on", func() bool { return leader.Store.Applied() > before+150 })
		if _, _, err := c.Nodes[random.IntN(len(c.Nodes))].Store.Snapshot(); err != nil {
			t.Logf("snapshot: %v", err) // a node may be catching up
		}
		if random.IntN(2) == 0 {
			n.Kill()
		} else {
			n.Stop()
		}
		leader = c.Leader()
		before = leader.Store.Applied()
		testcluster.Eventually(t, "writes go on without "+n.Name, func() bool { return leader.Store.Applied() > before+150 })
		n.Start()
		c.Ready()
	}
	stop()
	writers.Wait()
	return acked
}

// randomWrite changes one of owner's objects through a random node.
func randomWrite(t *testing.T, c *testcluster.Cluster, random *rand.Rand, owner string) (seen, bool) {
	store := c.Nodes[random.IntN(len(c.Nodes))].Live()
	if store == nil {
		return seen{}, false
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	root, err := store.View(ctx, raftstore.Cached())
	if err != nil {
		return seen{}, false
	}
	name := fmt.Sprintf("%s-%d", owner, random.IntN(8))
	fresh := object(name, fmt.Sprint(random.Uint64()))
	if random.IntN(2) == 0 {
		fresh.Labels = state.NewAttributes(map[string]string{"round": fmt.Sprint(random.IntN(3))})
	}
	have := root.Get(key(name))
	var o *state.Object
	var kind history.Type
	switch {
	case have == nil:
		kind = history.Added
		o, err = store.Create(ctx, raftstore.Create{Key: key(name), Object: fresh})
	case random.IntN(4) == 0:
		kind = history.Deleted
		o, err = store.Delete(ctx, raftstore.Delete{Key: key(name), Previous: have})
	default:
		kind = history.Modified
		o, err = store.Update(ctx, raftstore.Update{Key: key(name), Object: fresh, Previous: have})
	}
	if err != nil {
		return seen{}, false
	}
	return seen{o.Version, kind, o.Key, string(o.Value)}, true
}

// replayAll returns all events up to an index from one node.
func replayAll(t *testing.T, store *raftstore.Store, upTo uint64) []seen {
	t.Helper()
	objects, after, err := store.Beginning(t.Context(), state.ResourcePrefix(resource))
	if err != nil {
		t.Fatal(err)
	}
	for range objects {
		t.Fatal("the log begins with the cluster, yet there are objects before it")
	}
	cursor, err := store.Watch(state.ResourcePrefix(resource), after)
	if err != nil {
		t.Fatal(err)
	}
	var all []seen
	for cursor.Position() < upTo {
		events, err := cursor.Next(within(t, 20*time.Second))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, seenOf(events)...)
	}
	return all
}

func TestBeginning(t *testing.T) {
	c := testcluster.New(t, 1, func(cfg *raftstore.Config) { cfg.LogBytes = 1 })
	n := c.Leader()
	for i := range 300 {
		mustCreate(t, n.Store, fmt.Sprintf("o%03d", i), "x")
	}
	if _, _, err := n.Store.Snapshot(); err != nil {
		t.Fatal(err)
	}
	for i := range 200 {
		mustCreate(t, n.Store, fmt.Sprintf("p%03d", i), "x")
	}
	last, index, err := n.Store.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("newest snapshot %s at %d", last, index)
	objects, after, err := n.Store.Beginning(t.Context(), state.ResourcePrefix(resource))
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[state.Key]bool)
	for o, err := range objects {
		if err != nil {
			t.Fatal(err)
		}
		found[o.Key] = true
	}
	wantEndedScan(t, n.Store)
	if len(found) < 300 || after == 0 {
		t.Errorf("%d objects at the beginning of history, %d", len(found), after)
	}
	cursor, err := n.Store.Watch(state.ResourcePrefix(resource), after)
	if err != nil {
		t.Fatal(err)
	}
	for len(found) < 500 {
		events, err := cursor.Next(within(t, 10*time.Second))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			if found[e.Object.Key] {
				t.Errorf("%s twice", e.Object.Key)
			}
			found[e.Object.Key] = true
		}
	}
}

// wantEndedScan expects the scan for the objects of a collection that has none to end with its
// context.
func wantEndedScan(t *testing.T, s *raftstore.Store) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	objects, _, err := s.Beginning(ctx, state.ResourcePrefix("nothing"))
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	for _, err := range objects {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("the scan ends with %v", err)
		}
		return
	}
	t.Error("the scan of a snapshot goes on after its context has ended")
}
