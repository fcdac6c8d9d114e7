package raftstore_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"quorate/raftstore"
	"quorate/raftstore/testcluster"
)

func TestWhileLeader(t *testing.T) {
	c := testcluster.New(t, 3, nil)
	c.Ready()
	var running, runs atomic.Int64
	ctx, stop := context.WithCancel(t.Context())
	var loops sync.WaitGroup
	for _, n := range c.Nodes {
		loops.Go(func() {
			err := n.Store.WhileLeader(ctx, func(ctx context.Context) error {
				runs.Add(1)
				running.Add(1)
				defer running.Add(-1)
				<-ctx.Done()
				return ctx.Err()
			})
			if err != nil {
				t.Errorf("%s: %v", n.Name, err)
			}
		})
	}
	for i := range int64(4) {
		testcluster.Eventually(t, "one leader works", func() bool { return runs.Load() > i && running.Load() == 1 })
		old := c.Leader()
		if err := old.Store.TransferLeadership(""); err != nil {
			t.Fatal(err)
		}
		testcluster.Eventually(t, "the old leader has lost leadership", func() bool { return !old.Store.IsLeader() })
	}
	stop()
	loops.Wait()
	if running.Load() != 0 {
		t.Error("fn still runs after the end")
	}

	failure := errors.New("failure")
	err := c.Leader().Store.WhileLeader(t.Context(), func(context.Context) error { return failure })
	if !errors.Is(err, failure) {
		t.Errorf("a failing function: %v", err)
	}
}

func TestTransferLeadership(t *testing.T) {
	c := testcluster.New(t, 3, nil)
	c.Ready()
	leader := c.Leader()
	follower := c.Follower(leader)
	if err := follower.Store.TransferLeadership(""); !errors.Is(err, raftstore.ErrNotLeader) {
		t.Errorf("through a follower: %v", err)
	}
	if err := leader.Store.TransferLeadership("stranger"); err == nil {
		t.Error("transferred leadership to an unknown node")
	}
	// Writes during a transfer are only delayed.
	done := make(chan error, 64)
	for i := range cap(done) {
		go func() {
			name := fmt.Sprintf("o%d", i)
			_, err := leader.Live().Create(within(t, 20*time.Second), raftstore.Create{Key: key(name), Object: object(name, "x")})
			done <- err
		}()
	}
	if err := leader.Store.TransferLeadership(follower.Name); err != nil {
		t.Fatal(err)
	}
	testcluster.Eventually(t, "the named node leads", func() bool { return follower.Store.IsLeader() && !leader.Store.IsLeader() })
	for range cap(done) {
		if err := <-done; err != nil && !errors.Is(err, raftstore.ErrUnknownOutcome) {
			t.Errorf("write during the transfer: %v", err)
		}
	}
}

// Raft can't leave a transfer that does not end (hashicorp/raft#696), so the node must end.
func TestEndlessTransferEndsNode(t *testing.T) {
	c := testcluster.New(t, 1, nil)
	n := c.Leader()
	n.Store.RefusedByTransfer()
	if err := n.Ended(); err == nil || !strings.Contains(err.Error(), "raft#696") {
		t.Errorf("ended with %v", err)
	}
}

// hangingLog blocks writes while hung is set.
type hangingLog struct {
	raft.LogStore
	mu   sync.Mutex
	hung chan struct{} // closed to unblock; nil if writes do not block
}

func (l *hangingLog) hang() (release func()) {
	gate := make(chan struct{})
	l.mu.Lock()
	l.hung = gate
	l.mu.Unlock()
	return sync.OnceFunc(func() {
		l.mu.Lock()
		l.hung = nil
		l.mu.Unlock()
		close(gate)
	})
}

func (l *hangingLog) StoreLogs(entries []*raft.Log) error {
	l.mu.Lock()
	gate := l.hung
	l.mu.Unlock()
	if gate != nil {
		<-gate
	}
	return l.LogStore.StoreLogs(entries)
}

// The leader's disk hangs (hashicorp/raft#503). By itself its heartbeats would prevent the election
// of another leader.
func TestHungDisk(t *testing.T) {
	t.Parallel()
	logs := make(map[string]*hangingLog)
	c := testcluster.New(t, 3, func(cfg *raftstore.Config) {
		cfg.StallLimit = 6 * time.Second // longer than an election
		raftstore.WrapLog(cfg, func(inner raft.LogStore) raft.LogStore {
			logs[cfg.Name] = &hangingLog{LogStore: inner}
			return logs[cfg.Name]
		})
	})
	c.Ready()

	t.Run("the_leader_gives_up_and_comes_back", func(t *testing.T) {
		old := c.Leader()
		release := logs[old.Name].hang()
		defer release()
		start := time.Now()
		_, err := old.Store.Create(within(t, 300*time.Millisecond), raftstore.Create{Key: key("hung"), Object: object("hung", "x")})
		if !errors.Is(err, raftstore.ErrUnknownOutcome) || time.Since(start) > 5*time.Second {
			t.Errorf("write into a hung disk: %v after %s", err, time.Since(start))
		}
		old.Store.Stalled(time.Second)
		fresh := c.Leader(old)
		mustCreate(t, fresh.Store, "meanwhile", "x")
		release()
		testcluster.Eventually(t, "the old leader follows", func() bool { return !old.Store.IsLeader() && old.Store.Ready() == nil })
		root := view(t, old.Store, raftstore.Quorum())
		if root.Get(key("meanwhile")) == nil {
			t.Error("the old leader has not caught up")
		}
	})

	t.Run("a_disk_that_stays_hung_ends_the_node", func(t *testing.T) {
		old := c.Leader()
		release := logs[old.Name].hang()
		defer release()
		_, err := old.Store.Create(within(t, 100*time.Millisecond), raftstore.Create{Key: key("hung2"), Object: object("hung2", "x")})
		if !errors.Is(err, raftstore.ErrUnknownOutcome) {
			t.Errorf("write into a hung disk: %v", err)
		}
		old.Store.Stalled(time.Second)
		if err := old.Ended(); err == nil || !strings.Contains(err.Error(), "disk") {
			t.Errorf("ended with %v", err)
		}
		mustCreate(t, c.Leader(old).Store, "without", "x")
	})
}

func TestClosedStore(t *testing.T) {
	c := testcluster.New(t, 1, nil)
	n := c.Leader()
	store := n.Store
	waiting := make(chan error, 1)
	go func() {
		_, err := store.View(context.Background(), raftstore.AtLeast(1<<40))
		waiting <- err
	}()
	n.Stop()
	if err := <-waiting; !errors.Is(err, raftstore.ErrClosed) {
		t.Errorf("waiting watch: %v", err)
	}
	if _, err := store.Create(t.Context(), raftstore.Create{Key: key("x"), Object: object("x", "x")}); !errors.Is(err, raftstore.ErrClosed) {
		t.Errorf("create: %v", err)
	}
	if _, err := store.Watch("x", 0); !errors.Is(err, raftstore.ErrClosed) {
		t.Errorf("watch: %v", err)
	}
	if err := store.Ready(); !errors.Is(err, raftstore.ErrClosed) {
		t.Errorf("ready: %v", err)
	}
}
