package raftstore_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"quorate/raftstore"
	"quorate/raftstore/state"
	"quorate/raftstore/testcluster"
)

// withQuota starts a cluster of three whose nodes have a quota.
func withQuota(t *testing.T, q raftstore.Quota) *testcluster.Cluster {
	t.Helper()
	c := testcluster.New(t, 3, func(cfg *raftstore.Config) { cfg.Quota = q })
	c.Ready()
	return c
}

func createNamed(t *testing.T, s *raftstore.Store, k state.Key, data string) error {
	t.Helper()
	_, _, name := k.Split()
	_, err := s.Create(within(t, 20*time.Second), raftstore.Create{Key: k, Object: object(name, data)})
	return err
}

// exceeded returns the quota that an error names; it fails the test for other errors but nil.
func exceeded(t *testing.T, err error) *raftstore.QuotaError {
	t.Helper()
	q, is := errors.AsType[*raftstore.QuotaError](err)
	if err != nil && !is {
		t.Errorf("want a quota or nothing, got %v", err)
	}
	return q
}

// TestQuotaOfObjects: concurrent creates through all nodes leave exactly as many objects as the
// quota allows, a deletion makes room for one, and other namespaces and resources are not affected.
func TestQuotaOfObjects(t *testing.T) {
	const limit = 20
	c := withQuota(t, raftstore.Quota{Objects: map[string]int{resource: limit, raftstore.AnyResource: 2}})
	var created, refused atomic.Int64
	var wg sync.WaitGroup
	for i := range 3 * limit {
		wg.Go(func() {
			store := c.Nodes[i%len(c.Nodes)].Store
			q := exceeded(t, createNamed(t, store, key(fmt.Sprint("o", i)), "1"))
			if q == nil {
				created.Add(1)
				return
			}
			refused.Add(1)
			if q.Resource != resource || q.Namespace != "default" || q.Limit != limit || q.Used != limit {
				t.Errorf("refused with %+v", q)
			}
		})
	}
	wg.Wait()
	leader, follower := c.Leader(), c.Follower(c.Leader())
	root := view(t, leader.Store, raftstore.Quorum())
	if n := root.Count(state.NamespacePrefix(resource, "default")); n != limit || created.Load() != limit || refused.Load() != 2*limit {
		t.Fatalf("%d objects, %d created, %d refused; want %d", n, created.Load(), refused.Load(), limit)
	}
	if err := createNamed(t, follower.Store, state.NewKey(resource, "other", "o"), "1"); err != nil {
		t.Errorf("in another namespace: %v", err)
	}
	for i, want := range []bool{false, false, true} {
		q := exceeded(t, createNamed(t, follower.Store, state.NewKey("others", "default", fmt.Sprint(i)), "1"))
		if (q != nil) != want {
			t.Errorf("object %d of a resource that the quota does not name: %v", i, q)
		}
	}
	if err := createNamed(t, follower.Store, state.NewKey("nodes", "", "a"), "1"); err != nil {
		t.Errorf("outside of namespaces: %v", err)
	}
	var first *state.Object
	root.Ascend(state.NamespacePrefix(resource, "default"), "", func(o *state.Object) bool { first = o; return false })
	if _, err := follower.Store.Update(within(t, 20*time.Second), raftstore.Update{Key: first.Key, Previous: first, Object: object("u", "2")}); err != nil {
		t.Errorf("an update at the quota: %v", err)
	}
	first = view(t, follower.Store, raftstore.Quorum()).Get(first.Key)
	if _, err := follower.Store.Delete(within(t, 20*time.Second), raftstore.Delete{Key: first.Key, Previous: first}); err != nil {
		t.Errorf("a deletion at the quota: %v", err)
	}
	for i, want := range []bool{false, true} {
		if q := exceeded(t, createNamed(t, leader.Store, key(fmt.Sprint("again", i)), "1")); (q != nil) != want {
			t.Errorf("create %d after a deletion: %v", i, q)
		}
	}
}

// TestQuotaOfBytes: the state stays within its bound under concurrent writes, and what shrinks it
// or is part of a deletion goes on.
func TestQuotaOfBytes(t *testing.T) {
	const limit = 1 << 20
	large := strings.Repeat("x", 100_000)
	c := withQuota(t, raftstore.Quota{StateBytes: limit})
	kept := mustCreate(t, c.Leader().Store, "kept", large)
	var wg sync.WaitGroup
	var refused atomic.Int64
	for i := range 30 {
		wg.Go(func() {
			if q := exceeded(t, createNamed(t, c.Nodes[i%len(c.Nodes)].Store, key(fmt.Sprint("o", i)), large)); q != nil {
				refused.Add(1)
				if q.Resource != "" || q.Limit != limit {
					t.Errorf("refused with %+v", q)
				}
			}
		})
	}
	wg.Wait()
	leader, follower := c.Leader(), c.Follower(c.Leader())
	if bytes := view(t, leader.Store, raftstore.Quorum()).Bytes(); bytes > limit || bytes < limit-2*uint64(len(large)) {
		t.Errorf("the state has %d bytes of %d after %d refusals", bytes, limit, refused.Load())
	}
	grow := func(s *raftstore.Store, data string, frees bool) error {
		_, err := s.Update(within(t, 20*time.Second), raftstore.Update{Key: kept.Key, Previous: kept, Object: object("kept", data), Frees: frees})
		kept = view(t, s, raftstore.Quorum()).Get(kept.Key)
		return err
	}
	if exceeded(t, grow(follower.Store, large+large, false)) == nil {
		t.Error("an update beyond the bound was accepted")
	}
	if err := grow(follower.Store, large+large, true); err != nil {
		t.Errorf("an update that is part of a deletion: %v", err)
	}
	removal := raftstore.Create{Key: key("removal"), Object: object("removal", large), Frees: true}
	created, err := follower.Store.Create(within(t, 20*time.Second), removal)
	if err != nil {
		t.Fatalf("a create that is part of a removal: %v", err)
	}
	if _, err := leader.Store.Delete(within(t, 20*time.Second), raftstore.Delete{Key: created.Key, Previous: created}); err != nil {
		t.Errorf("a deletion: %v", err)
	}
	if err := grow(follower.Store, large, false); err != nil {
		t.Errorf("an update that shrinks: %v", err)
	}
	if _, err := follower.Store.Delete(within(t, 20*time.Second), raftstore.Delete{Key: kept.Key, Previous: kept}); err != nil {
		t.Errorf("a deletion: %v", err)
	}
	if err := createNamed(t, follower.Store, key("again"), strings.Repeat("x", 50_000)); err != nil {
		t.Errorf("after a deletion: %v", err)
	}
}

// TestQuotaAfterRestart: a state that is beyond a quota, as after a restore or with a lower quota,
// is loaded whole. Nothing is added to it, and what is deleted may go.
func TestQuotaAfterRestart(t *testing.T) {
	var quota atomic.Pointer[raftstore.Quota]
	quota.Store(&raftstore.Quota{})
	c := testcluster.New(t, 1, func(cfg *raftstore.Config) { cfg.Quota = *quota.Load() })
	c.Ready()
	n := c.Nodes[0]
	var last *state.Object
	for i := range 10 {
		last = mustCreate(t, n.Store, fmt.Sprint("o", i), strings.Repeat("x", 1000))
	}
	quota.Store(&raftstore.Quota{StateBytes: 5000, Objects: map[string]int{resource: 5}})
	n.Stop()
	n.Start()
	c.Ready()
	prefix := state.NamespacePrefix(resource, "default")
	if got := view(t, n.Store, raftstore.Quorum()).Count(prefix); got != 10 {
		t.Fatalf("%d objects after the restart", got)
	}
	if q := exceeded(t, createNamed(t, n.Store, state.NewKey(resource, "other", "o"), "1")); q == nil || q.Resource != "" {
		t.Errorf("a create beyond the bytes: %+v", q)
	}
	if q := exceeded(t, createNamed(t, n.Store, key("o10"), "1")); q == nil {
		t.Error("a create beyond both quotas was accepted")
	}
	if _, err := n.Store.Delete(within(t, 20*time.Second), raftstore.Delete{Key: last.Key, Previous: last}); err != nil {
		t.Errorf("a deletion: %v", err)
	}
	if q := exceeded(t, createNamed(t, n.Store, last.Key, "1")); q == nil {
		t.Error("still beyond both quotas, but accepted")
	}
}
