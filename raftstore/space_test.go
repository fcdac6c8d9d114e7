package raftstore_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"quorate/raftstore"
	"quorate/raftstore/history"
	"quorate/raftstore/log"
	"quorate/raftstore/smalldisk"
	"quorate/raftstore/state"
	"quorate/raftstore/testcluster"
)

// Sizes of the disks in these tests. The reserve is a quarter of the disk.
const (
	diskBytes = 64 << 20
	little    = 12 << 20
	hardlyAny = 2 << 20
)

// smallDisk is a disk that counts the appends to the log that found no space.
type smallDisk struct {
	*smalldisk.Disk
	refused atomic.Int64
}

// countingLog wraps the log on a smallDisk.
type countingLog struct {
	raft.LogStore
	disk *smallDisk
}

func (l countingLog) IsMonotonic() bool { return true } // like the log

func (l countingLog) StoreLogs(entries []*raft.Log) error {
	err := l.LogStore.StoreLogs(entries)
	if log.OutOfSpace(err) {
		l.disk.refused.Add(1)
	}
	return err
}

// onSmallDisks starts a cluster in which each node has its own small disk.
func onSmallDisks(t *testing.T) (*testcluster.Cluster, map[string]*smallDisk) {
	t.Helper()
	disks := map[string]*smallDisk{}
	c := testcluster.New(t, 3, func(cfg *raftstore.Config) {
		disk := disks[cfg.Name]
		if disk == nil {
			disk = &smallDisk{Disk: smalldisk.New(t, diskBytes)}
			disks[cfg.Name] = disk
		}
		cfg.DataDir, cfg.LogBytes = disk.Dir, 16<<20
		raftstore.WrapLog(cfg, func(inner raft.LogStore) raft.LogStore { return countingLog{inner, disk} })
	})
	c.Ready()
	return c, disks
}

func alarmed(s *raftstore.Store) bool {
	return slices.ContainsFunc(s.Alarms(), func(a raftstore.Alarm) bool {
		return a.Name == raftstore.NoSpace && strings.Contains(a.Message, "MiB left")
	})
}

// refused waits until the cluster refuses writes of a kind, and returns the refusal.
func refused(t *testing.T, what string, write func() error) *raftstore.FullError {
	t.Helper()
	var full *raftstore.FullError
	testcluster.Eventually(t, what+" are refused", func() bool {
		err := write()
		var is bool
		if full, is = errors.AsType[*raftstore.FullError](err); err != nil && !is && !errors.Is(err, raftstore.ErrUnavailable) {
			t.Fatalf("%s: %v", what, err)
		}
		return is
	})
	return full
}

// creates returns a function that creates an object under a new name at each call.
func creates(t *testing.T, prefix string, through func() *raftstore.Store) func() error {
	n := 0
	return func() error {
		name := fmt.Sprintf("%s%d", prefix, n)
		n++
		_, err := through().Create(within(t, 20*time.Second), raftstore.Create{Key: key(name), Object: object(name, strings.Repeat("x", 1000))})
		return err
	}
}

func TestFollowerWithoutSpace(t *testing.T) {
	t.Parallel()
	c, disks := onSmallDisks(t)
	leader := c.Leader()
	follower := c.Follower(leader)
	create := creates(t, "o", func() *raftstore.Store { return leader.Store })
	disks[follower.Name].Fill(0)
	testcluster.Eventually(t, "the follower raises the alarm", func() bool { return alarmed(follower.Store) })
	for disks[follower.Name].refused.Load() == 0 { // until the reserved space is used up
		for range 500 {
			if err := create(); err != nil {
				t.Fatalf("with one follower full: %v", err)
			}
		}
	}
	if !leader.Store.IsLeader() {
		t.Error("a full follower made the leader lose leadership")
	}
	disks[follower.Name].Clear()
	testcluster.Eventually(t, "the alarm is cleared", func() bool { return !alarmed(follower.Store) })
	testcluster.Eventually(t, "the follower catches up", func() bool { return follower.Store.Applied() == leader.Store.Applied() })
}

func TestLeaderWithoutSpace(t *testing.T) {
	c, disks := onSmallDisks(t)
	old := c.Leader()
	disks[old.Name].Fill(little)
	testcluster.Eventually(t, "another node leads", func() bool { return alarmed(old.Store) && !old.Store.IsLeader() })
	create := creates(t, "o", func() *raftstore.Store { return old.Store })
	for range 50 {
		if err := create(); err != nil {
			t.Fatalf("through the node without space: %v", err)
		}
	}
	if c.Leader() == old {
		t.Error("the node without space leads again")
	}
}

func TestQuorumWithoutSpace(t *testing.T) {
	t.Parallel()
	c, disks := onSmallDisks(t)
	leader := c.Leader()
	kept := mustCreate(t, leader.Store, "kept", "1")
	watch, err := leader.Store.Watch(state.ResourcePrefix(resource), kept.Version)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range c.Nodes[:2] {
		disks[n.Name].Fill(little)
	}
	turn := 0
	any := func() *raftstore.Store {
		turn++
		return c.Nodes[turn%3].Store
	}
	create := creates(t, "o", any)
	full := refused(t, "creates", create)
	testcluster.Eventually(t, "the refusal names both nodes", func() bool {
		full = refused(t, "creates", create)
		return slices.Equal(full.Nodes, []string{"n0", "n1"})
	})
	testcluster.Eventually(t, "the node with space leads", func() bool { return !alarmed(c.Leader().Store) })
	refused(t, "creates", create) // by that leader, which accepts writes until it has asked the others
	_, err = any().Update(within(t, 10*time.Second), raftstore.Update{Key: kept.Key, Object: object("kept", "2"), Previous: kept})
	if _, is := errors.AsType[*raftstore.FullError](err); !is {
		t.Errorf("an update: %v", err)
	}

	t.Run("reads_and_deletions_go_on", func(t *testing.T) {
		for _, n := range c.Nodes {
			if view(t, n.Store, raftstore.Quorum()).Get(key("kept")) == nil || view(t, n.Store, raftstore.Cached()).Get(key("kept")) == nil {
				t.Errorf("%s has lost an object", n.Name)
			}
		}
		marked, err := c.Nodes[0].Store.Update(within(t, 20*time.Second),
			raftstore.Update{Key: kept.Key, Object: object("kept", "going"), Previous: kept, Frees: true})
		if err != nil {
			t.Fatalf("the first half of a deletion: %v", err)
		}
		if _, err := c.Nodes[1].Store.Delete(within(t, 20*time.Second), raftstore.Delete{Key: kept.Key, Previous: marked}); err != nil {
			t.Fatalf("the second half: %v", err)
		}
		for gone := false; !gone; {
			events, err := watch.Next(within(t, 20*time.Second))
			if err != nil {
				t.Fatal(err)
			}
			gone = slices.ContainsFunc(events, func(e *history.Event) bool { return e.Object.Key == kept.Key && e.Type == history.Deleted })
		}
	})

	t.Run("not_even_deletions_when_hardly_any_is_left", func(t *testing.T) {
		deletion := func() error {
			_, err := any().Delete(within(t, 20*time.Second), raftstore.Delete{Key: key("nobody"), Previous: &state.Object{Value: []byte("0"), Version: 1}})
			if _, missing := errors.AsType[*state.NotFound](err); missing {
				return nil // proposed, and without effect
			}
			return err
		}
		for _, n := range c.Nodes[:2] {
			disks[n.Name].Fill(hardlyAny)
		}
		refused(t, "deletions", deletion)
	})

	for _, n := range c.Nodes[:2] {
		disks[n.Name].Clear()
	}
	testcluster.Eventually(t, "writes succeed again without intervention", func() bool { return create() == nil })
	for _, n := range c.Nodes {
		testcluster.Eventually(t, "no alarm is left", func() bool { return len(n.Store.Alarms()) == 0 })
	}
}

// The disks are filled to the last byte, so that appends fail at different points. Every
// acknowledged write must exist afterwards on every node, also after a restart.
func TestCompletelyFullDisks(t *testing.T) {
	t.Parallel()
	c, disks := onSmallDisks(t)
	acknowledged := map[state.Key]bool{}
	n := 0
	write := func() error {
		name := fmt.Sprintf("o%d", n)
		n++
		_, err := c.Nodes[n%3].Store.Create(within(t, 5*time.Second), raftstore.Create{Key: key(name), Object: object(name, strings.Repeat("x", 60_000))})
		if err == nil {
			acknowledged[key(name)] = true
		}
		return err
	}
	for round := range 2 {
		for _, node := range c.Nodes {
			disks[node.Name].Fill(0)
		}
		refused := 0
		testcluster.Eventually(t, "writes fail", func() bool {
			if write() != nil {
				refused++
			}
			return refused > 5
		})
		for _, node := range c.Nodes {
			disks[node.Name].Clear()
		}
		testcluster.Eventually(t, "writes succeed again", func() bool { return write() == nil })
		if round == 1 {
			continue
		}
		for _, node := range c.Nodes {
			node.Stop()
			node.Start()
		}
	}
	c.Ready()
	for _, node := range c.Nodes {
		root := view(t, node.Store, raftstore.Quorum())
		for k := range acknowledged {
			if root.Get(k) == nil {
				t.Errorf("%s has lost %s", node.Name, k)
			}
		}
	}
	sums, err := c.Leader().Store.CompareChecksums(within(t, time.Minute))
	if err != nil || len(sums.Diverged()) > 0 {
		t.Errorf("states differ: %v, %v", sums, err)
	}
}
