package raftstore_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"quorate/raftstore"
	"quorate/raftstore/state"
	"quorate/raftstore/testcluster"
)

// record holds what writers know of their creates.
type record struct {
	mu      sync.Mutex
	acked   map[state.Key]uint64
	unknown map[state.Key]bool
	refused []string // certainly not applied: must not exist
}

func newRecord() *record {
	return &record{acked: make(map[state.Key]uint64), unknown: make(map[state.Key]bool)}
}

func (r *record) note(k state.Key, o *state.Object, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case err == nil:
		r.acked[k] = o.Version
	case errors.Is(err, raftstore.ErrUnknownOutcome):
		r.unknown[k] = true
	default:
		r.refused = append(r.refused, string(k))
	}
}

// check compares the record with a state.
func (r *record) check(t *testing.T, root *state.Root) {
	t.Helper()
	for k, version := range r.acked {
		if o := root.Get(k); o == nil || o.Version != version {
			t.Errorf("acknowledged %q at %d is %+v", k, version, o)
		}
	}
	for _, k := range r.refused {
		if o := root.Get(state.Key(k)); o != nil {
			t.Errorf("%q was reported as not applied, but exists at version %d", k, o.Version)
		}
	}
	t.Logf("%d acknowledged, %d unknown, %d not applied", len(r.acked), len(r.unknown), len(r.refused))
}

func TestWritesSurviveLeaderChanges(t *testing.T) {
	c := testcluster.New(t, 3, nil)
	c.Ready()
	rec := newRecord()
	ctx, stop := context.WithCancel(t.Context())
	var writers sync.WaitGroup
	for w := range 9 {
		n := c.Nodes[w%3]
		writers.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				name := fmt.Sprintf("w%d-%d", w, i)
				bounded, cancel := context.WithTimeout(context.Background(), 3*time.Second)
				o, err := n.Live().Create(bounded, raftstore.Create{Key: key(name), Object: object(name, "x")})
				cancel()
				rec.note(key(name), o, err)
			}
		})
	}
	for range 3 {
		old := c.Leader()
		before := old.Store.Applied()
		testcluster.Eventually(t, "further writes are applied", func() bool { return old.Store.Applied() > before+100 })
		c.Isolate(old, true)
		fresh := c.Leader(old)
		before = fresh.Store.Applied()
		testcluster.Eventually(t, "further writes are applied with the new leader", func() bool { return fresh.Store.Applied() > before+100 })
		c.Isolate(old, false)
	}
	stop()
	writers.Wait()
	c.Ready() // the last leader that was cut off refuses reads until it knows its successor
	for _, n := range c.Nodes {
		rec.check(t, view(t, n.Store, raftstore.Quorum()))
	}
	if len(rec.acked) < 300 {
		t.Errorf("only %d writes acknowledged", len(rec.acked))
	}
}

// Writers on every node increment one object and retry after a conflict. Every success must count
// once.
func TestNoLostUpdates(t *testing.T) {
	c := testcluster.New(t, 3, nil)
	c.Ready()
	mustCreate(t, c.Nodes[0].Store, "counter", "0")
	const writers, increments = 9, 15
	var work sync.WaitGroup
	for w := range writers {
		store := c.Nodes[w%3].Store
		work.Go(func() {
			for range increments {
				increment(t, store)
			}
		})
	}
	work.Wait()
	o := view(t, c.Nodes[1].Store, raftstore.Quorum()).Get(key("counter"))
	if got := dataOf(o); got != fmt.Sprint(writers*increments) {
		t.Errorf("the counter is %s, want %d", got, writers*increments)
	}
}

// increment adds one to the counter, with as many retries as needed.
func increment(t *testing.T, store *raftstore.Store) {
	ctx := within(t, 20*time.Second)
	// The first read must see the creation, which another node served.
	for read := raftstore.Quorum(); ; {
		root, err := store.View(ctx, read)
		if err != nil {
			t.Error(err)
			return
		}
		have := root.Get(key("counter"))
		n, err := strconv.Atoi(dataOf(have))
		if err != nil {
			t.Error(err)
			return
		}
		_, err = store.Update(ctx, raftstore.Update{
			Key: key("counter"), Object: object("counter", fmt.Sprint(n+1)), Previous: have,
		})
		var conflict *state.Conflict
		switch {
		case err == nil:
			return
		case errors.As(err, &conflict):
			read = raftstore.AtLeast(conflict.Have)
		default:
			t.Error(err)
			return
		}
	}
}

func dataOf(o *state.Object) string {
	_, data, _ := strings.Cut(string(o.Value), `"data":"`)
	return strings.TrimSuffix(data, `"}`)
}

func TestQuorumReads(t *testing.T) {
	c := testcluster.New(t, 3, nil)
	c.Ready()
	t.Run("see_every_acknowledged_write_through_every_node_N4", func(t *testing.T) {
		for i := range 60 {
			name := fmt.Sprintf("o%d", i)
			o := mustCreate(t, c.Nodes[i%3].Store, name, "x")
			if got := view(t, c.Nodes[(i/3)%3].Store, raftstore.Quorum()).Get(key(name)); got == nil || got.Version != o.Version {
				t.Fatalf("read through another node: %+v, want version %d", got, o.Version)
			}
		}
	})
	t.Run("at_least_N_waits_for_N", func(t *testing.T) {
		o := mustCreate(t, c.Nodes[0].Store, "atleast", "x")
		for _, n := range c.Nodes {
			if got := view(t, n.Store, raftstore.AtLeast(o.Version)).Index(); got < o.Version {
				t.Errorf("%s: at %d, want %d", n.Name, got, o.Version)
			}
		}
		var future *raftstore.Future
		_, err := c.Nodes[1].Store.View(within(t, 20*time.Millisecond), raftstore.AtLeast(o.Version+1000))
		if !errors.As(err, &future) || !errors.Is(err, raftstore.ErrTimeout) || future.Want != o.Version+1000 {
			t.Errorf("got %v", err)
		}
	})
	t.Run("never_stale_on_an_isolated_leader", func(t *testing.T) {
		old := c.Leader()
		o := mustCreate(t, old.Store, "moving", "0")
		c.Isolate(old, true)
		results := make(chan error, 64)
		var readers sync.WaitGroup
		newest := make(chan uint64, 1)
		for range 8 {
			readers.Go(func() {
				deadline, cancel := context.WithTimeout(context.Background(), 10*time.Second)
				defer cancel()
				_, err := old.Store.View(deadline, raftstore.Quorum())
				results <- err
			})
		}
		fresh := c.Leader(old)
		newest <- mustUpdate(t, fresh.Store, view(t, fresh.Store, raftstore.Quorum()).Get(o.Key), "1").Version
		readers.Wait()
		close(results)
		for err := range results {
			if !errors.Is(err, raftstore.ErrUnavailable) {
				t.Errorf("read on the cut off leader: %v", err)
			}
		}
		if got := view(t, old.Store, raftstore.Cached()).Get(o.Key); got == nil || got.Version != o.Version {
			t.Errorf("cached read on the cut off leader: %+v", got)
		}
		c.Isolate(old, false)
		c.Ready()
		if got := view(t, old.Store, raftstore.Quorum()).Get(o.Key); got.Version != <-newest {
			t.Errorf("after healing: version %d", got.Version)
		}
	})
}

func TestMinority(t *testing.T) {
	c := testcluster.New(t, 3, nil)
	c.Ready()
	follower := c.Follower(c.Leader())
	mustCreate(t, follower.Store, "before", "x")
	c.Isolate(follower, true)
	testcluster.Eventually(t, "the follower has lost its leader", func() bool {
		_, ok := follower.Store.Leader()
		return !ok
	})
	start := time.Now()
	_, err := follower.Store.Create(within(t, 20*time.Second), raftstore.Create{Key: key("x"), Object: object("x", "x")})
	if !errors.Is(err, raftstore.ErrUnavailable) {
		t.Errorf("write in a minority: %v", err)
	}
	_, err = follower.Store.View(within(t, 20*time.Second), raftstore.Quorum())
	if !errors.Is(err, raftstore.ErrUnavailable) {
		t.Errorf("quorum read in a minority: %v", err)
	}
	// N7: in a minority, requests fail after a bounded wait, here a few election timeouts of 500
	// ms.
	if took := time.Since(start); took > 6*time.Second {
		t.Errorf("both took %s", took)
	}
	if view(t, follower.Store, raftstore.Cached()).Get(key("before")) == nil {
		t.Error("a cached read in a minority does not see an earlier write")
	}
	testcluster.Eventually(t, "the follower refuses reads at once, and names the voters", func() bool {
		_, err := follower.Store.View(within(t, 20*time.Second), raftstore.Quorum())
		refusal, ok := errors.AsType[*raftstore.NoLeaderError](err)
		return ok && errors.Is(err, raftstore.ErrUnavailable) && refusal.Voters == 3 && len(refusal.Missing) == 2
	})
	start = time.Now()
	for name, request := range map[string]func() error{
		"read":  func() error { _, err := follower.Store.View(t.Context(), raftstore.Quorum()); return err },
		"write": func() error { return createIn(t.Context(), follower.Store, "y") },
		"pin":   func() error { _, err := follower.Store.Pin(t.Context()); return err },
	} {
		err := request()
		if _, ok := errors.AsType[*raftstore.NoLeaderError](err); !ok {
			t.Errorf("%s without a leader: %v", name, err)
		}
	}
	if took := time.Since(start); took > 250*time.Millisecond {
		t.Errorf("refusals took %s", took)
	}
	if _, ok := errors.AsType[*raftstore.NoLeaderError](follower.Store.Ready()); !ok {
		t.Errorf("readiness without a leader: %v", follower.Store.Ready())
	}
	c.Isolate(follower, false)
	c.Ready()
	if view(t, follower.Store, raftstore.Quorum()).Get(key("x")) != nil {
		t.Error("a write that was reported as not applied was applied")
	}
	if c.Leader() == follower {
		if err := follower.Store.TransferLeadership(""); err != nil {
			t.Fatal(err)
		}
		c.Ready()
	}
	requestsWait(t, c, follower) // the outage is over
}

// requestsWait fails the test unless requests at a follower wait for the successor of a leader that
// is cut off.
func requestsWait(t *testing.T, c *testcluster.Cluster, follower *testcluster.Node) {
	t.Helper()
	leader := c.Leader()
	c.Isolate(leader, true)
	testcluster.Eventually(t, "the follower has lost its leader", func() bool {
		name, known := follower.Store.Leader()
		return !known || name != leader.Name
	})
	if err := createIn(t.Context(), follower.Store, "meanwhile"); err != nil && !errors.Is(err, raftstore.ErrUnknownOutcome) {
		t.Errorf("write during the election: %v", err)
	}
	if _, err := follower.Store.View(t.Context(), raftstore.Quorum()); err != nil {
		t.Errorf("read during the election: %v", err)
	}
	c.Isolate(leader, false)
	c.Ready()
}

// An election takes less time than a node without a leader waits before it refuses requests.
func TestRequestsWaitForTheNextLeader(t *testing.T) {
	c := testcluster.New(t, 3, nil)
	c.Ready()
	requestsWait(t, c, c.Follower(c.Leader()))
}

func createIn(ctx context.Context, s *raftstore.Store, name string) error {
	_, err := s.Create(ctx, raftstore.Create{Key: key(name), Object: object(name, "x")})
	return err
}

func TestRestartFromDisk(t *testing.T) {
	c := testcluster.New(t, 3, nil)
	c.Ready()
	var last *state.Object
	for i := range 40 {
		last = mustCreate(t, c.Nodes[i%3].Store, fmt.Sprintf("o%d", i), "x")
		if i == 20 {
			if _, _, err := c.Nodes[0].Store.Snapshot(); err != nil {
				t.Fatal(err)
			}
		}
	}
	id := c.Nodes[0].Store.ClusterID()
	for _, n := range c.Nodes {
		n.Stop()
	}
	for _, n := range c.Nodes {
		n.Start()
	}
	c.Ready()
	for _, n := range c.Nodes {
		root := view(t, n.Store, raftstore.Quorum())
		if root.Len() != 40 || root.Get(last.Key) == nil || root.Index() < last.Version || root.ClusterID() != id {
			t.Errorf("%s: %d objects at %d of cluster %q", n.Name, root.Len(), root.Index(), root.ClusterID())
		}
	}
	if o := mustCreate(t, c.Nodes[1].Store, "after", "x"); o.Version <= last.Version {
		t.Errorf("version %d after %d", o.Version, last.Version)
	}
}

func TestSnapshotInstall(t *testing.T) {
	c := testcluster.New(t, 3, func(cfg *raftstore.Config) { cfg.LogBytes = 1 })
	c.Ready()
	lagging := c.Follower(c.Leader())
	mustCreate(t, lagging.Store, "first", "x")
	lagging.Stop()
	leader := c.Leader()
	var last *state.Object
	for i := range 1000 {
		last = mustCreate(t, leader.Store, fmt.Sprintf("o%d", i), "x")
	}
	for _, n := range c.Running() {
		if _, _, err := n.Store.Snapshot(); err != nil {
			t.Fatal(err)
		}
	}
	lagging.Start()
	cursor, err := lagging.Store.Watch(state.ResourcePrefix(resource), 3)
	if err != nil {
		t.Fatal(err)
	}
	root := view(t, lagging.Store, raftstore.AtLeast(last.Version))
	if root.Len() != 1001 {
		t.Errorf("%d objects after installing a snapshot", root.Len())
	}
	if _, err := cursor.Next(within(t, 10*time.Second)); !isCompacted(err) {
		t.Errorf("watch from before the snapshot: %v", err)
	}
	c.Ready()
	mustCreate(t, lagging.Store, "after", "x")
}
