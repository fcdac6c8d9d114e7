package raftstore_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"quorate/raftstore"
	"quorate/raftstore/fsm"
	"quorate/raftstore/state"
	"quorate/raftstore/testcluster"
)

func mustPin(t testing.TB, s *raftstore.Store) *state.Root {
	t.Helper()
	root, err := s.Pin(within(t, time.Minute))
	if err != nil {
		t.Fatalf("pin: %v", err)
	}
	return root
}

// slowElections sets the election timeout of production, so that a busy machine causes no election
// during the test.
func slowElections(cfg *raftstore.Config) { cfg.RaftMultiplier = 1 }

// contents maps the names of a collection to the data of its objects.
type contents map[string]string

// readPages reads a collection at the index of a pin in pages, each from the next node of a list. A
// node may have to fetch its page from another.
func readPages(ctx context.Context, nodes []*testcluster.Node, index uint64, p state.Prefix, limit int) (contents, error) {
	read := contents{}
	var after state.Key
	for i := 0; ; i++ {
		s := nodes[i%len(nodes)].Store
		if _, err := s.View(ctx, raftstore.AtLeast(index)); err != nil {
			return nil, err
		}
		objects, left, err := onePage(ctx, s, raftstore.Page{Index: index, Prefix: p, After: after, Limit: limit})
		if err != nil {
			return nil, err
		}
		for _, o := range objects {
			if o.Key <= after || o.Version > index {
				return nil, fmt.Errorf("%q of version %d after %q, as of %d", o.Key, o.Version, after, index)
			}
			read[string(o.Key)] = string(o.Value)
			after = o.Key
		}
		if left <= len(objects) {
			return read, nil
		}
	}
}

func onePage(ctx context.Context, s *raftstore.Store, p raftstore.Page) (objects []*state.Object, left int, err error) {
	if root := s.Retained(p.Index); root != nil {
		root.Ascend(p.Prefix, p.After, func(o *state.Object) bool {
			objects = append(objects, o)
			return len(objects) != p.Limit
		})
		return objects, root.CountAfter(p.Prefix, p.After), nil
	}
	found, err := s.FetchRetained(ctx, p)
	if err != nil {
		return nil, 0, err
	}
	for o, err := range found.Objects {
		if err != nil {
			return nil, 0, err
		}
		objects = append(objects, o)
	}
	return objects, found.Left, nil
}

// The pages together have the state of the pin, whatever is written in between and whichever nodes
// serve them (C35: later pages show the state of the first).
func TestPages_C35(t *testing.T) {
	c := testcluster.New(t, 3, slowElections)
	c.Ready()
	round := 0
	rapid.Check(t, func(r *rapid.T) {
		round++
		run := pageRun{c: c, t: t, r: r, nodes: c.Nodes, resource: fmt.Sprintf("r%d", round), now: map[string]*state.Object{}}
		for range rapid.IntRange(1, 6).Draw(r, "steps") {
			switch rapid.IntRange(0, 3).Draw(r, "step") {
			case 0:
				run.pin()
			case 1:
				run.readAll()
			default:
				run.write()
			}
		}
		run.pin()
		run.readAll()
	})

	t.Run("after_a_node_lost_its_states", func(t *testing.T) {
		created := mustCreate(t, c.Nodes[0].Store, "then", "1")
		pinned := mustPin(t, c.Nodes[1].Store)
		updated := mustUpdate(t, c.Nodes[2].Store, created, "2")
		n := c.Follower(c.Leader())
		view(t, n.Store, raftstore.AtLeast(updated.Version))
		if _, _, err := n.Store.Snapshot(); err != nil { // a restart does not replay entries before it
			t.Fatal(err)
		}
		n.Stop()
		n.Start()
		c.Ready()
		if n.Store.Retained(pinned.Index()) != nil {
			t.Fatal("the restarted node still retains the state")
		}
		got, err := readPages(t.Context(), []*testcluster.Node{n}, pinned.Index(), state.ResourcePrefix(resource), 1)
		if err != nil || got[string(key("then"))] != string(created.Value) || len(got) != 1 {
			t.Errorf("got %v, %v", got, err)
		}
		_, err = n.Store.FetchRetained(t.Context(), raftstore.Page{Index: pinned.Index() - 1})
		if !errors.Is(err, raftstore.ErrNotRetained) {
			t.Errorf("a state that no node retains: %v", err)
		}
	})

	t.Run("replayed_from_the_log", func(t *testing.T) {
		n := c.Follower(c.Leader())
		pinned := mustPin(t, n.Store)
		n.Kill()
		n.Start()
		c.Ready()
		testcluster.Eventually(t, "the state is back", func() bool { return n.Store.Retained(pinned.Index()) != nil })
	})
}

// pageRun is a sequence of writes, pins and reads, with the expected contents of pages.
type pageRun struct {
	c        *testcluster.Cluster
	t        *testing.T
	r        *rapid.T
	nodes    []*testcluster.Node
	resource string
	now      map[string]*state.Object
	pins     []pinnedContents
}

type pinnedContents struct {
	index    uint64
	contents contents
}

func (p *pageRun) node(what string) *testcluster.Node {
	return p.nodes[rapid.IntRange(0, len(p.nodes)-1).Draw(p.r, what)]
}

func (p *pageRun) write() {
	ctx, s := within(p.t, time.Minute), p.node("writer").Store
	name := rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(p.r, "name")
	k := state.NewKey(p.resource, rapid.SampledFrom([]string{"x", "y"}).Draw(p.r, "namespace"), name)
	before := p.now[string(k)]
	remove := before != nil && rapid.Bool().Draw(p.r, "delete")
	var after *state.Object
	err := p.whileLed(func() (err error) {
		switch {
		case before == nil:
			after, err = s.Create(ctx, raftstore.Create{Key: k, Object: object(name, "1")})
		case remove:
			_, err = s.Delete(ctx, raftstore.Delete{Key: k, Previous: before})
		default:
			after, err = s.Update(ctx, raftstore.Update{Key: k, Object: object(name, "more"), Previous: before})
		}
		return err
	})
	switch {
	case errors.Is(err, raftstore.ErrUnknownOutcome): // if it is applied, then before the next pin
		after = p.pinned(s).Get(k)
	case err != nil:
		p.r.Fatal(err)
	}
	if delete(p.now, string(k)); after != nil {
		p.now[string(k)] = after
	}
}

// whileLed runs fn again if an election interrupted it, as may happen on a busy machine.
func (p *pageRun) whileLed(fn func() error) error {
	for {
		err := fn()
		if !errors.Is(err, raftstore.ErrUnavailable) {
			return err
		}
		p.c.Ready()
	}
}

func (p *pageRun) pinned(s *raftstore.Store) (root *state.Root) {
	err := p.whileLed(func() (err error) {
		root, err = s.Pin(within(p.t, time.Minute))
		return err
	})
	if err != nil {
		p.r.Fatal(err)
	}
	return root
}

func (p *pageRun) pin() {
	root := p.pinned(p.node("pinned through").Store)
	kept := contents{}
	for k, o := range p.now {
		kept[k] = string(o.Value)
	}
	p.pins = append(p.pins, pinnedContents{root.Index(), kept})
}

func (p *pageRun) readAll() {
	for _, pin := range p.pins {
		first := rapid.IntRange(0, len(p.nodes)-1).Draw(p.r, "first node")
		nodes := append(slices.Clone(p.nodes[first:]), p.nodes[:first]...)
		limit := rapid.IntRange(1, 4).Draw(p.r, "limit")
		got, err := readPages(within(p.t, time.Minute), nodes, pin.index, state.ResourcePrefix(p.resource), limit)
		if err != nil {
			p.r.Fatal(err)
		}
		if !maps.Equal(got, pin.contents) {
			p.r.Fatalf("pages of %d have %v, want %v", pin.index, got, pin.contents)
		}
	}
}

// All nodes retain the same state, byte for byte, also among writes that are applied in the same
// batches. It has every write acknowledged before the pin.
func TestPin_is_the_state_of_exactly_its_index(t *testing.T) {
	c := testcluster.New(t, 3, slowElections)
	c.Ready()
	var writers sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	for w := range 8 {
		writers.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				n := c.Nodes[rand.IntN(len(c.Nodes))]
				name := fmt.Sprintf("w%d-%d", w, i)
				_, _ = n.Store.Create(ctx, raftstore.Create{Key: key(name), Object: object(name, "x")})
			}
		})
	}
	for i := range 20 {
		n := c.Nodes[i%len(c.Nodes)]
		acknowledged := mustCreate(t, c.Nodes[(i+1)%len(c.Nodes)].Store, fmt.Sprintf("before%d", i), "x")
		root := mustPin(t, n.Store)
		if got := root.Get(acknowledged.Key); got == nil || acknowledged.Version > root.Index() {
			t.Fatalf("pin %d lacks version %d", root.Index(), acknowledged.Version)
		}
		want := snapshotOf(t, root)
		for _, other := range c.Nodes {
			if _, err := other.Store.View(within(t, time.Minute), raftstore.AtLeast(root.Index())); err != nil {
				t.Fatal(err)
			}
			kept := other.Store.Retained(root.Index())
			if kept == nil || kept.Index() != root.Index() {
				t.Fatalf("%s retains %v for index %d", other.Name, kept, root.Index())
			}
			if !bytes.Equal(snapshotOf(t, kept), want) {
				t.Fatalf("%s retains a different state for index %d", other.Name, root.Index())
			}
		}
	}
	stop()
	writers.Wait()
}

func snapshotOf(t *testing.T, root *state.Root) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := fsm.WriteSnapshot(&b, root); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Concurrent callers share an entry, and later callers need none while nothing is written.
func TestPin_is_shared(t *testing.T) {
	c := testcluster.New(t, 1, nil)
	n := c.Leader()
	mustCreate(t, n.Store, "a", "1")
	var callers sync.WaitGroup
	before := n.Store.LastIndex()
	for range 200 {
		callers.Go(func() { _, _ = n.Store.Pin(t.Context()) })
	}
	callers.Wait()
	first := mustPin(t, n.Store)
	if n.Store.LastIndex() != before+1 || first.Index() != before+1 {
		t.Errorf("200 pins made the log grow from %d to %d", before, n.Store.LastIndex())
	}
	mustCreate(t, n.Store, "b", "1")
	if second := mustPin(t, n.Store); second.Get(key("b")) == nil || second.Index() == first.Index() {
		t.Error("a caller after a write got a pin from before it")
	}
}

// Without a leader, Pin fails as a quorum read does, and retained states are still served.
func TestPin_without_a_leader(t *testing.T) {
	t.Parallel()
	c := testcluster.New(t, 3, slowElections)
	c.Ready()
	leader := c.Leader()
	kept := mustPin(t, c.Follower(leader).Store)
	mustCreate(t, leader.Store, "a", "1")
	lonely := c.Follower(leader)
	c.Isolate(lonely, true)
	if _, err := lonely.Store.Pin(within(t, time.Minute)); !errors.Is(err, raftstore.ErrUnavailable) {
		t.Errorf("pin without a quorum: %v", err)
	}
	if _, err := lonely.Store.Pin(within(t, time.Millisecond)); !errors.Is(err, raftstore.ErrTimeout) {
		t.Errorf("pin with an expired context: %v", err)
	}
	if lonely.Store.Retained(kept.Index()) == nil {
		t.Error("a state was lost with the leader")
	}
	if _, err := lonely.Store.FetchRetained(within(t, time.Minute), raftstore.Page{Index: 1}); !errors.Is(err, raftstore.ErrUnavailable) {
		t.Errorf("fetch without reachable nodes: %v", err)
	}
	c.Isolate(lonely, false)
}
