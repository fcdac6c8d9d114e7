package raftstore_test

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"github.com/prometheus/client_golang/prometheus"

	"quorate/raftstore"
	"quorate/raftstore/state"
	"quorate/raftstore/testcluster"
)

// The parameters of TestJoinerOnASlowLinkCatchesUp. The snapshot takes about three seconds to send,
// in which the writes fill the log several times over its bound in bytes. The link carries twice
// the rate of the writes.
const (
	joinedObjects = 1500
	joinedBytes   = 4 << 10 // per object
	joinedWrites  = 250     // per second
	linkBytes     = 2 << 20 // per second
	trimInterval  = 100 * time.Millisecond
)

func TestJoinerOnASlowLinkCatchesUp(t *testing.T) {
	registries := map[string]*prometheus.Registry{"n0": prometheus.NewRegistry(), "n1": prometheus.NewRegistry()}
	c := testcluster.New(t, 1, func(cfg *raftstore.Config) { cfg.LogBytes, cfg.Registerer = 1<<20, registries[cfg.Name] })
	leader := c.Leader()
	load := newLoad(t, leader.Store, joinedObjects)
	ctx, cancel := context.WithCancel(t.Context())
	defer load.Wait()
	defer cancel()
	load.start(ctx, t)

	joiner := c.Add("n1")
	c.Throttle(leader, joiner, linkBytes)
	if err := leader.Store.Raft().AddNonvoter("n1", raft.ServerAddress(joiner.Addr()), 0, 0).Error(); err != nil {
		t.Fatal(err)
	}
	held := false
	testcluster.Eventually(t, "the joiner has caught up during the writes", func() bool {
		held = held || metric(t, registries["n0"], "quorate_raftstore_log_holds", "") > 0
		return joiner.Store.Applied() > 0 && joiner.Store.Applied()+joinedWrites/4 >= leader.Store.Applied()
	})
	if !held {
		t.Error("no entries were held for the joiner, so the test proves nothing")
	}
	testcluster.Eventually(t, "all holds have ended, and the log is within its bound", func() bool {
		return metric(t, registries["n0"], "quorate_raftstore_log_holds", "") == 0 &&
			metric(t, registries["n0"], "quorate_raftstore_log_entries", "") < 2*joinedWrites
	})
	if given := metric(t, registries["n0"], "quorate_raftstore_log_holds_given_up_total", ""); given != 0 {
		t.Errorf("%v holds were given up", given)
	}
	cancel()
	load.Wait()
	root := view(t, leader.Store, raftstore.Quorum())
	testcluster.Eventually(t, "the joiner has applied all entries", func() bool { return joiner.Store.Applied() >= root.Index() })
	if has := view(t, joiner.Store, raftstore.Cached()); has.Len() != root.Len() {
		t.Errorf("the joiner has %d objects, the leader %d", has.Len(), root.Len())
	}
}

// load updates objects one after the other, and makes the log trim all the time.
type load struct {
	sync.WaitGroup
	store   *raftstore.Store
	objects []*state.Object
}

func newLoad(t *testing.T, s *raftstore.Store, objects int) *load {
	t.Helper()
	l := &load{store: s, objects: make([]*state.Object, objects)}
	var creating sync.WaitGroup
	for i := range 8 {
		creating.Go(func() {
			for n := i; n < objects; n += 8 {
				o, err := s.Create(t.Context(), raftstore.Create{Key: key(nameOf(n)), Object: object(nameOf(n), entropy())})
				if err != nil {
					t.Error(err)
					return
				}
				l.objects[n] = o
			}
		})
	}
	creating.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return l
}

func nameOf(n int) string { return fmt.Sprintf("o%04d", n) }

// entropy returns text that a snapshot can't compress.
func entropy() string {
	random := make([]byte, joinedBytes/2)
	rand.Read(random)
	return hex.EncodeToString(random)
}

func (l *load) start(ctx context.Context, t *testing.T) {
	l.startWrites(ctx, t)
	l.startSnapshots(ctx, t)
}

func (l *load) startWrites(ctx context.Context, t *testing.T) {
	l.Go(func() {
		pace := time.NewTicker(time.Second / joinedWrites)
		defer pace.Stop()
		for n := 0; ; n = (n + 1) % len(l.objects) {
			select {
			case <-ctx.Done():
				return
			case <-pace.C:
			}
			o, err := l.store.Update(ctx, raftstore.Update{Key: key(nameOf(n)), Object: object(nameOf(n), entropy()), Previous: l.objects[n]})
			if err != nil {
				if ctx.Err() == nil {
					t.Error(err)
				}
				return
			}
			l.objects[n] = o
		}
	})
}

func (l *load) startSnapshots(ctx context.Context, t *testing.T) {
	l.Go(func() {
		due := time.NewTicker(trimInterval)
		defer due.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-due.C:
			}
			if _, _, err := l.store.Snapshot(); err != nil {
				t.Error(err)
				return
			}
		}
	})
}
