package raftstore_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"quorate/raftstore"
	"quorate/raftstore/state"
	"quorate/raftstore/testcluster"
)

// replace updates an object through s from the newest version, and retries after each conflict (E2:
// an update with a stale version is a conflict; F31: the retry uses the newest object). It adds the
// number of conflicts to conflicts.
func replace(ctx context.Context, s *raftstore.Store, client uint64, name string, conflicts *atomic.Int64) (*state.Object, error) {
	for {
		root, err := s.View(ctx, raftstore.Quorum())
		if err != nil {
			return nil, err
		}
		o, err := s.Update(ctx, raftstore.Update{
			Key: key(name), Object: object(name, "x"), Previous: root.Get(key(name)), Client: client,
		})
		if _, conflict := errors.AsType[*state.Conflict](err); !conflict {
			return o, err
		}
		conflicts.Add(1)
	}
}

// TestWritersToOneObject has eight writers update one object and retry after each conflict. It
// checks that no two writes get the same version (E33), and that the leader delays conflicts. It
// does not bound the number of conflicts, which depends on the disk; latch_test.go checks the order
// of waiters.
func TestWritersToOneObject(t *testing.T) {
	const writers, each = 8, 25
	for name, nodes := range map[string]int{"one_node": 1, "three_nodes": 3} {
		t.Run(name, func(t *testing.T) {
			var metrics []*prometheus.Registry
			c := testcluster.New(t, nodes, func(cfg *raftstore.Config) {
				registry := prometheus.NewRegistry()
				cfg.Registerer, metrics = registry, append(metrics, registry)
			})
			mustCreate(t, c.Leader().Store, "contended", "0")
			c.Ready()
			var conflicts atomic.Int64
			var versions sync.Map
			var work sync.WaitGroup
			for i := range writers {
				work.Go(func() {
					for range each {
						o, err := replace(within(t, time.Minute), c.Nodes[i%nodes].Store, uint64(i+1), "contended", &conflicts)
						if err != nil {
							t.Error(err)
							return
						}
						if _, twice := versions.LoadOrStore(o.Version, i); twice { // E33: one write per version
							t.Errorf("two writes made version %d", o.Version)
						}
					}
				})
			}
			work.Wait()
			delayed := 0
			for _, m := range metrics {
				delayed += sum(t, m, "quorate_raftstore_conflict_delay_seconds")
			}
			if delayed == 0 {
				t.Errorf("none of %d conflicts was delayed", conflicts.Load())
			}
			t.Logf("%d conflicts for %d writes", conflicts.Load(), writers*each)
		})
	}
}

// Writers on all nodes must get an equal number of writes to one object. Requests on a follower
// take longer, and must not starve behind the leader's.
func TestWritersOnAllNodesAreServedFairly(t *testing.T) {
	const perNode, total = 4, 300
	c := testcluster.New(t, 3, nil)
	mustCreate(t, c.Leader().Store, "contended", "0")
	c.Ready()
	ctx := within(t, time.Minute)
	var applied [3]atomic.Int64
	var sum, conflicts atomic.Int64
	var work sync.WaitGroup
	for i := range 3 * perNode {
		work.Go(func() {
			node := i % 3
			for sum.Load() < total {
				_, err := replace(ctx, c.Nodes[node].Store, uint64(i+1), "contended", &conflicts)
				if err != nil {
					t.Error(err)
					return
				}
				applied[node].Add(1)
				sum.Add(1)
			}
		})
	}
	work.Wait()
	for i := range applied {
		if n := applied[i].Load(); 2*3*n < sum.Load() {
			t.Errorf("the writers of node %d made %d of %d writes: less than half of their share", i, n, sum.Load())
		}
	}
	t.Logf("%d, %d and %d writes, %d conflicts", applied[0].Load(), applied[1].Load(), applied[2].Load(), conflicts.Load())
}

// A leader refuses most writes to a contended object by the writes that it has committed since they
// arrived, without a request to another node. The writers here read without such requests too.
func TestConflictsNeedNoReadIndex(t *testing.T) {
	const writers, each = 8, 25
	var metrics []*prometheus.Registry
	c := testcluster.New(t, 3, func(cfg *raftstore.Config) {
		registry := prometheus.NewRegistry()
		cfg.Registerer, metrics = registry, append(metrics, registry)
	})
	c.Ready()
	created := mustCreate(t, c.Leader().Store, "contended", "0")
	confirmations := func() (total int) {
		for _, m := range metrics {
			total += sum(t, m, "quorate_raftstore_read_index_readers")
		}
		return total
	}
	before := confirmations()
	var conflicts atomic.Int64
	var work sync.WaitGroup
	for i := range writers {
		work.Go(func() {
			store, previous := c.Nodes[i%3].Store, created
			for done := 0; done < each; {
				o, err := store.Update(within(t, time.Minute), raftstore.Update{
					Key: previous.Key, Object: object("contended", "x"), Previous: previous, Client: uint64(i + 1),
				})
				conflict, refused := errors.AsType[*state.Conflict](err)
				switch {
				case err == nil:
					previous = o
					done++
				case refused:
					conflicts.Add(1)
					root, err := store.View(within(t, time.Minute), raftstore.AtLeast(conflict.Have))
					if err != nil {
						t.Error(err)
						return
					}
					previous = root.Get(previous.Key)
				default:
					t.Error(err)
					return
				}
			}
		})
	}
	work.Wait()
	if confirmed := confirmations() - before; 2*confirmed > int(conflicts.Load()) {
		t.Errorf("%d read indexes for %d conflicts", confirmed, conflicts.Load())
	}
}

// A leader that is cut off does not know what its successor has acknowledged. It refuses no write
// by its own state, because the object may have been removed since: not by that alone, nor by
// entries that it has proposed and that are never committed.
func TestNoConflictFromTheStateOfADeposedLeader(t *testing.T) {
	t.Parallel()
	metrics := make(map[string]*prometheus.Registry)
	c := testcluster.New(t, 3, func(cfg *raftstore.Config) {
		slowElections(cfg)
		metrics[cfg.Name] = prometheus.NewRegistry()
		cfg.Registerer = metrics[cfg.Name]
	})
	c.Ready()
	old := c.Leader()
	first := mustCreate(t, old.Store, "moved", "0")
	second := mustUpdate(t, old.Store, first, "1")
	c.Isolate(old, true)

	var pending sync.WaitGroup
	begin := func(metric string, want int, write func(ctx context.Context) error) {
		ctx := within(t, time.Minute)
		pending.Go(func() {
			err := write(ctx)
			if _, conflict := errors.AsType[*state.Conflict](err); conflict || err == nil {
				t.Errorf("the leader that is cut off answers %v", err)
			}
		})
		testcluster.Eventually(t, metric, func() bool { return !old.Store.IsLeader() || sum(t, metrics[old.Name], metric) == want })
	}
	update := func(previous *state.Object) func(ctx context.Context) error {
		return func(ctx context.Context) error {
			_, err := old.Store.Update(ctx, raftstore.Update{Key: first.Key, Object: object("moved", "2"), Previous: previous, Client: 1})
			return err
		}
	}
	begin("quorate_raftstore_proposals", 1, update(second))
	begin("quorate_raftstore_conflicts_delayed", 1, update(first))
	begin("quorate_raftstore_proposals", 2, func(ctx context.Context) error { return createIn(ctx, old.Store, "other") })

	fresh := c.Leader(old)
	testcluster.Eventually(t, "the successor removes the object", func() bool {
		_, err := fresh.Store.Delete(within(t, time.Minute), raftstore.Delete{Key: second.Key, Previous: second})
		_, removed := errors.AsType[*state.NotFound](err)
		return err == nil || removed
	})
	pending.Wait()
	c.Isolate(old, false)
	c.Ready()
	if _, missing := errors.AsType[*state.NotFound](update(first)(within(t, time.Minute))); !missing {
		t.Error("an update of a removed object is not refused as such")
	}
}
