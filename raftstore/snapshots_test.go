package raftstore_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"github.com/prometheus/client_golang/prometheus"

	"quorate/raftstore"
	"quorate/raftstore/testcluster"
)

// The number of entries stays far below the one that makes a snapshot due.
func TestLogOfLargeEntriesIsTrimmedToBound(t *testing.T) {
	t.Parallel()
	const bound = 4 << 20
	registry := prometheus.NewRegistry()
	c := testcluster.New(t, 1, func(cfg *raftstore.Config) { cfg.LogBytes, cfg.Registerer = bound, registry })
	n := c.Leader()
	data := strings.Repeat("x", 20_000)
	for i := range 600 {
		mustCreate(t, n.Store, fmt.Sprintf("o%d", i), data)
	}
	testcluster.Eventually(t, "the log is trimmed to its bound", func() bool {
		return metric(t, registry, "quorate_raftstore_log_bytes", "") <= bound
	})
	if last := metric(t, registry, "quorate_raftstore_log_last_index", ""); last < 600 {
		t.Errorf("the log ends at %v", last)
	}
}

// TestNoSnapshotDuringReplay starts a node whose log has grown enough for a snapshot, and keeps it
// from reading one of the last entries for a while: the first snapshot has all of them.
func TestNoSnapshotDuringReplay(t *testing.T) {
	t.Parallel()
	const objects, held, batch = 700, 600, 512 // the library applies batches
	bytes := int64(64 << 20)                   // of the log, so that no snapshot is due
	holding := &holdingLog{index: held}
	c := testcluster.New(t, 1, func(cfg *raftstore.Config) {
		cfg.LogBytes = bytes
		raftstore.WrapLog(cfg, func(inner raft.LogStore) raft.LogStore {
			holding.LogStore = inner
			return holding
		})
	})
	n := c.Leader()
	data := strings.Repeat("x", 2_000)
	for i := range objects {
		mustCreate(t, n.Store, fmt.Sprintf("o%d", i), data)
	}
	last := n.Store.Applied()
	n.Stop()
	bytes = 2 << 20
	release := holding.hold()
	defer release()
	n.Start()
	testcluster.Eventually(t, "the entries before the one that is held are applied", func() bool {
		return holding.isHeld() && n.Store.Applied() >= batch
	})
	// A store that takes a snapshot too early does so within this time, and fails. One that does
	// not passes however long this takes.
	time.Sleep(raftstore.IdleInterval + 2*raftstore.SnapshotInterval)
	release()
	testcluster.Eventually(t, "there is a snapshot", func() bool {
		snapshots, err := n.Store.Snapshots()
		if err != nil {
			t.Fatal(err)
		}
		if len(snapshots) == 0 {
			return false
		}
		if first := snapshots[len(snapshots)-1].Index; first < last {
			t.Fatalf("the first snapshot is of entry %d of %d", first, last)
		}
		return true
	})
}

// holdingLog lets nobody read one of its entries after hold, but for the library's search at the
// start, which reads it once.
type holdingLog struct {
	raft.LogStore
	index uint64

	mu       sync.Mutex
	reads    int
	held     bool
	released chan struct{} // nil before hold
}

func (l *holdingLog) hold() (release func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reads, l.released = 0, make(chan struct{})
	return sync.OnceFunc(func() { close(l.released) })
}

func (l *holdingLog) isHeld() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.held
}

func (l *holdingLog) GetLog(index uint64, entry *raft.Log) error {
	l.mu.Lock()
	released := l.released
	if index == l.index {
		l.reads++
		l.held = released != nil && l.reads > 1
	}
	waits := index == l.index && l.held
	l.mu.Unlock()
	if waits {
		<-released
	}
	return l.LogStore.GetLog(index, entry)
}
