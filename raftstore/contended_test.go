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

// replace reads an object on a node and replaces it, again and again until nobody comes between (semantics E2, F31). It counts
// the conflicts.
func replace(ctx context.Context, s *raftstore.Store, name string, conflicts *atomic.Int64) (*state.Object, error) {
	for {
		root, err := s.View(ctx, raftstore.Quorum())
		if err != nil {
			return nil, err
		}
		o, err := s.Update(ctx, raftstore.Update{Key: key(name), Object: object(name, "x"), Previous: root.Get(key(name))})
		if _, conflict := errors.AsType[*state.Conflict](err); !conflict {
			return o, err
		}
		conflicts.Add(1)
	}
}

// Eight writers who all come again after a conflict: every write makes a version of its own (E33), and who lost is told in turn.
// How many come in vain depends on the disk: it is logged, and latch_test.go has the order.
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
						o, err := replace(within(t, time.Minute), c.Nodes[i%nodes].Store, "contended", &conflicts)
						if err != nil {
							t.Error(err)
							return
						}
						if _, twice := versions.LoadOrStore(o.Version, i); twice { // E33
							t.Errorf("two writes made version %d", o.Version)
						}
					}
				})
			}
			work.Wait()
			held := 0
			for _, m := range metrics {
				held += sum(t, m, "quorate_raftstore_refusal_held_seconds")
			}
			if held == 0 {
				t.Errorf("none of %d conflicts waited for its turn", conflicts.Load())
			}
			t.Logf("%d conflicts for %d writes", conflicts.Load(), writers*each)
		})
	}
}
