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

// replace reads an object on a node, replaces it, and retries after each conflict (E2: an update
// with a stale version is a conflict; F31: the retry uses the newest object). It counts the
// conflicts.
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

// Eight writers update one object and retry after each conflict. Of the writes with one version,
// exactly one succeeds (E33), and conflicts are delayed. The number of conflicts depends on the
// disk; latch_test.go checks the order.
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
