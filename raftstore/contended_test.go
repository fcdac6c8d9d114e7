package raftstore_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

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

// Eight writers who all come again after a conflict would make seven attempts in vain for each that succeeds, if all of them
// came at once.
func TestWritersToOneObjectRarelyComeInVain(t *testing.T) {
	const writers, each = 8, 25
	for name, nodes := range map[string]int{"one_node": 1, "three_nodes": 3} {
		t.Run(name, func(t *testing.T) {
			c := testcluster.New(t, nodes, nil)
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
			if n := conflicts.Load(); n > 5*writers*each/2 {
				t.Errorf("%d conflicts for %d writes", n, writers*each)
			}
			t.Logf("%d conflicts for %d writes", conflicts.Load(), writers*each)
		})
	}
}
