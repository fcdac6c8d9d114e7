package raftstore_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"quorate/raftstore"
	"quorate/raftstore/history"
	"quorate/raftstore/smalldisk"
	"quorate/raftstore/state"
	"quorate/raftstore/testcluster"
)

// volume fills and empties a cluster on small volumes. It knows what the state must be.
type volume struct {
	t       *testing.T
	through func() *raftstore.Store
	random  *rand.Rand
	stored  map[state.Key]*state.Object
	order   []state.Key // of stored, as created
	made    int
}

func newVolume(t *testing.T, through func() *raftstore.Store) *volume {
	return &volume{t: t, through: through, random: rand.New(rand.NewPCG(1, 2)), stored: map[state.Key]*state.Object{}}
}

// incompressible returns text of n bytes that no snapshot makes shorter.
func (v *volume) incompressible(n int) string {
	b := make([]byte, n*3/4)
	for i := range b {
		b[i] = byte(v.random.Uint32())
	}
	return base64.RawStdEncoding.EncodeToString(b)
}

// create creates one object of one of several sizes.
func (v *volume) create() error {
	sizes := []int{500, 5_000, 60_000, 300_000, 1_200_000}
	name := fmt.Sprintf("o%d", v.made)
	size := sizes[v.made%len(sizes)]
	v.made++
	o, err := v.through().Create(within(v.t, 30*time.Second), raftstore.Create{Key: key(name), Object: object(name, v.incompressible(size))})
	if errors.Is(err, raftstore.ErrUnknownOutcome) { // a leader without space has just handed over
		o = view(v.t, v.through(), raftstore.Quorum()).Get(key(name))
		err = nil
	}
	if err == nil && o != nil {
		v.stored[o.Key] = o
		v.order = append(v.order, o.Key)
	}
	return err
}

// fill creates objects until writes are refused, also after the log has been made smaller, and
// returns the number of bytes stored.
func (v *volume) fill() (bytes int) {
	v.t.Helper()
	refusals := 0
	for since := time.Now(); refusals < 3; {
		switch err := v.create(); {
		case err == nil:
		case isFull(err):
			if time.Since(since) > 2*time.Second {
				refusals, since = refusals+1, time.Now()
			}
			testcluster.Eventually(v.t, "the next measurement", func() bool { return time.Since(since) > 0 })
		default:
			v.t.Fatalf("object %d: neither stored nor refused: %v", v.made, err)
		}
	}
	for _, o := range v.stored {
		bytes += len(o.Value)
	}
	return bytes
}

func isFull(err error) bool {
	_, is := errors.AsType[*raftstore.FullError](err)
	return is
}

// remove deletes the oldest n objects one by one: each deletion must succeed.
func (v *volume) remove(n int) {
	v.t.Helper()
	for _, k := range v.order[:n] {
		_, err := v.through().Delete(within(v.t, 30*time.Second), raftstore.Delete{Key: k, Previous: v.stored[k]})
		if errors.Is(err, raftstore.ErrUnknownOutcome) && view(v.t, v.through(), raftstore.Quorum()).Get(k) == nil {
			err = nil
		}
		if err != nil {
			v.t.Fatalf("deletion of %s, with %d objects left: %v", k, len(v.stored), err)
		}
		delete(v.stored, k)
	}
	v.order = v.order[n:]
}

// check compares the state of a store with what it must be.
func (v *volume) check(s *raftstore.Store) {
	v.t.Helper()
	root := view(v.t, s, raftstore.Quorum())
	for k, want := range v.stored {
		if got := root.Get(k); got == nil || got.Version != want.Version || string(got.Value) != string(want.Value) {
			v.t.Errorf("%s is lost or has changed", k)
		}
	}
	if root.Len() != len(v.stored) {
		v.t.Errorf("%d objects, want %d", root.Len(), len(v.stored))
	}
}

func TestSmallVolume(t *testing.T) {
	t.Parallel()
	disk := smalldisk.New(t, diskBytes)
	registry := prometheus.NewRegistry()
	c := testcluster.New(t, 1, func(cfg *raftstore.Config) {
		cfg.DataDir, cfg.DiskReserve, cfg.Registerer = disk.Dir, diskBytes/4, registry
	})
	c.Ready()
	node := c.Nodes[0]
	v := newVolume(t, func() *raftstore.Store { return node.Store })
	stored := v.fill()
	t.Logf("%d MiB in %d objects; %d MiB of %d are free", stored>>20, len(v.stored), disk.Free()>>20, int64(diskBytes)>>20)
	if least := diskBytes / 4; stored < least {
		t.Errorf("writes are refused at %d KiB already", stored>>10)
	}
	if free := disk.Free(); free < diskBytes/4 {
		t.Errorf("ordinary writes have used the reserve: %d KiB are left", free>>10)
	}
	if _, _, err := node.Store.Snapshot(); err != nil {
		t.Errorf("a snapshot of the full node: %v", err)
	}
	v.check(node.Store)
	removed := len(v.order)
	v.remove(removed / 2)
	node.Stop() // in the middle: the state is that of the disk
	registry = prometheus.NewRegistry()
	node.Start()
	c.Ready()
	v.check(node.Store)
	v.remove(len(v.order))
	if _, _, err := node.Store.Snapshot(); err != nil {
		t.Errorf("a snapshot after all deletions: %v", err)
	}
	testcluster.Eventually(t, "the alarm is cleared", func() bool { return len(node.Store.Alarms()) == 0 })
	testcluster.Eventually(t, "ordinary writes succeed", func() bool { return v.create() == nil })
	testcluster.Eventually(t, "space is no longer short", func() bool { return disk.Free() >= diskBytes/2 })
	if file := metric(t, registry, "quorate_raftstore_log_file_bytes", ""); file > diskBytes/2 {
		t.Errorf("the log file has %v bytes", file)
	}
	node.Stop()
	registry = prometheus.NewRegistry()
	node.Start()
	c.Ready()
	v.check(node.Store)
}

// One follower's disk is full, and those of the two others become so. The follower catches up when
// its disk has space again, by a snapshot, because the entries that it needs were trimmed.
func TestSmallVolumesWithAFollowerWithoutSpace(t *testing.T) {
	disks := map[string]*smalldisk.Disk{}
	c := testcluster.New(t, 3, func(cfg *raftstore.Config) {
		if disks[cfg.Name] == nil {
			disks[cfg.Name] = smalldisk.New(t, diskBytes)
		}
		cfg.DataDir, cfg.DiskReserve, cfg.HistoryBytes = disks[cfg.Name].Dir, diskBytes/4, 4<<20
	})
	c.Ready()
	follower := c.Follower(c.Leader())
	disks[follower.Name].Fill(0)
	testcluster.Eventually(t, "the follower raises the alarm", func() bool { return alarmed(follower.Store) })

	turn := 0
	v := newVolume(t, func() *raftstore.Store { // not the follower, which would have to apply the write before it responds
		for turn++; c.Nodes[turn%3] == follower; {
			turn++
		}
		return c.Nodes[turn%3].Store
	})
	begun := c.Leader().Store.Applied()
	stored := v.fill()
	t.Logf("%d MiB in %d objects", stored>>20, len(v.stored))
	if least := diskBytes / 4; stored < least {
		t.Errorf("writes are refused at %d KiB already", stored>>10)
	}

	leader := c.Leader()
	watch, err := leader.Store.Watch(state.ResourcePrefix(resource), leader.Store.Applied())
	if err != nil {
		t.Fatal(err)
	}
	seen := make(chan error, 1)
	go func(n int) { seen <- deletions(t, watch, n) }(len(v.order))
	v.remove(len(v.order))
	if err := <-seen; err != nil {
		t.Errorf("a watch of the deletions: %v", err)
	}
	if err := replayFrom(t, leader.Store, begun); !isCompacted(err) {
		t.Errorf("a watch that needs trimmed entries: %v, want Compacted", err)
	}

	for range 30 {
		if err := v.create(); err != nil && !isFull(err) {
			t.Fatalf("neither stored nor refused: %v", err)
		}
	}
	disks[follower.Name].Clear()
	testcluster.Eventually(t, "the follower catches up", func() bool { return follower.Store.Applied() == c.Leader().Store.Applied() })
	testcluster.Eventually(t, "no alarm is left", func() bool {
		for _, n := range c.Nodes {
			if len(n.Store.Alarms()) > 0 {
				return false
			}
		}
		return true
	})
	testcluster.Eventually(t, "ordinary writes succeed", func() bool { return v.create() == nil })
	for _, n := range c.Nodes {
		v.check(n.Store)
		if _, _, err := n.Store.Snapshot(); err != nil {
			t.Errorf("a snapshot on %s: %v", n.Name, err)
		}
	}
	for _, n := range c.Nodes {
		n.Stop()
		n.Start()
	}
	c.Ready()
	for _, n := range c.Nodes {
		v.check(n.Store)
	}
	sums, err := c.Leader().Store.CompareChecksums(within(t, time.Minute))
	if err != nil || len(sums.Diverged()) > 0 {
		t.Errorf("states differ: %v, %v", sums, err)
	}
}

// deletions reads from a watch until it has had n deletions.
func deletions(t *testing.T, watch *history.Cursor, n int) error {
	for n > 0 {
		events, err := watch.Next(within(t, time.Minute))
		if err != nil {
			return err
		}
		for _, e := range events {
			if e.Type == history.Deleted {
				n--
			}
		}
	}
	return nil
}

// replayFrom returns the error of a watch from a version.
func replayFrom(t *testing.T, s *raftstore.Store, version uint64) error {
	watch, err := s.Watch(state.ResourcePrefix(resource), version)
	for err == nil {
		_, err = watch.Next(within(t, time.Second))
	}
	return err
}
