package raftstore_test

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"quorate/raftstore"
	"quorate/raftstore/state"
	"quorate/raftstore/testcluster"
)

// failingLog is a log whose appends wait for a gate, and fail if the gate returns an error.
type failingLog struct {
	raft.LogStore
	gate atomic.Pointer[func() error]
}

func (l *failingLog) StoreLogs(entries []*raft.Log) error {
	if gate := l.gate.Load(); gate != nil {
		if err := (*gate)(); err != nil {
			return err
		}
	}
	return l.LogStore.StoreLogs(entries)
}

// TestFollowersStoreWhatTheLeaderIsStoring checks that followers store an entry while the leader's
// own write of it is still running. If that write then fails, the client gets ErrUnknownOutcome,
// but both followers have the entry, so the next leader commits it and every node applies it.
func TestFollowersStoreWhatTheLeaderIsStoring(t *testing.T) {
	for name, failure := range map[string]error{"which_succeeds": nil, "which_fails": errors.New("disk failed")} {
		t.Run(name, func(t *testing.T) {
			logs := make(map[string]*failingLog)
			c := testcluster.New(t, 3, func(cfg *raftstore.Config) {
				raftstore.WrapLog(cfg, func(inner raft.LogStore) raft.LogStore {
					logs[cfg.Name] = &failingLog{LogStore: inner}
					return logs[cfg.Name]
				})
			})
			c.Ready()
			leader := c.Leader()
			mustCreate(t, leader.Store, "first", "x")
			// A follower that is still busy with an earlier append gets the entry later.
			for attempt := 1; ; attempt++ {
				key := key(fmt.Sprintf("early-%d", attempt))
				stored, err := createWhileStoring(t, c, leader, logs, key, failure)
				if !stored && err == nil && attempt < 20 {
					continue
				}
				if !stored {
					t.Fatalf("the followers did not store an entry before the leader had stored it: %v", err)
				}
				if failure == nil && err != nil || failure != nil && !errors.Is(err, raftstore.ErrUnknownOutcome) {
					t.Errorf("the write ended with %v", err)
				}
				for _, n := range c.Nodes {
					testcluster.Eventually(t, n.Name+" has applied the entry that two of three nodes stored", func() bool {
						root, err := n.Store.View(within(t, time.Minute), raftstore.Quorum())
						return err == nil && root.Get(key) != nil
					})
				}
				return
			}
		})
	}
}

// createWhileStoring creates an object while the leader's disk waits. If both followers store the
// entry meanwhile, the leader's write ends with failure, otherwise it succeeds.
func createWhileStoring(t *testing.T, c *testcluster.Cluster, leader *testcluster.Node, logs map[string]*failingLog, key state.Key, failure error) (stored bool, err error) {
	testcluster.Eventually(t, "all nodes have applied the same", func() bool {
		same := true
		for _, n := range c.Nodes {
			same = same && n.Store.Applied() == leader.Store.Applied()
		}
		return same
	})
	before, err := logs[leader.Name].LastIndex()
	if err != nil {
		t.Fatal(err)
	}
	storing, result := make(chan error, 1), make(chan error, 1)
	gate := func() error { return <-storing }
	logs[leader.Name].gate.Store(&gate)
	go func() {
		_, err := leader.Store.Create(within(t, time.Minute), raftstore.Create{Key: key, Object: object("early", "x")})
		result <- err
	}()
	for deadline := time.Now().Add(time.Second); !stored && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		stored = true
		for _, n := range c.Nodes {
			last, err := logs[n.Name].LastIndex()
			stored = stored && (n == leader || err == nil && last > before)
		}
	}
	logs[leader.Name].gate.Store(nil) // for later entries
	if stored {
		storing <- failure
	}
	close(storing)
	return stored, <-result
}
