package raftstore_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	raftboltdb "github.com/hashicorp/raft-boltdb/v2"

	"quorate/raftstore"
	"quorate/raftstore/log"
	"quorate/raftstore/state"
	"quorate/raftstore/testcluster"
)

// payload is the data of an object of about 1 KiB.
var payload = strings.Repeat("x", 850)

// runParallel runs b.N operations on the given number of goroutines.
func runParallel(b *testing.B, proposers int, op func(worker, i int)) {
	b.Helper()
	var next atomic.Int64
	var work sync.WaitGroup
	b.ResetTimer()
	before := processTime(b)
	for w := range proposers {
		work.Go(func() {
			for {
				i := next.Add(1)
				if i > int64(b.N) {
					return
				}
				op(w, int(i))
			}
		})
	}
	work.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "op/s")
	b.ReportMetric(float64((processTime(b)-before).Microseconds())/float64(b.N), "cpu-µs/op")
}

// processTime returns the CPU time of this process, which varies less than the elapsed time on a
// busy machine.
func processTime(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func BenchmarkCreate(b *testing.B) {
	for _, nodes := range []int{1, 3} {
		for _, proposers := range []int{1, 32, 100, 1000} {
			b.Run(fmt.Sprintf("nodes=%d/proposers=%d", nodes, proposers), func(b *testing.B) {
				c := testcluster.New(b, nodes, func(cfg *raftstore.Config) { cfg.RaftMultiplier = 1 })
				leader := c.Leader()
				c.Ready()
				runParallel(b, proposers, func(_, i int) { create(b, leader.Store, i) })
			})
		}
	}
	b.Run("nodes=3/through_all/proposers=96", func(b *testing.B) {
		c := testcluster.New(b, 3, func(cfg *raftstore.Config) { cfg.RaftMultiplier = 1 })
		c.Ready()
		runParallel(b, 96, func(w, i int) { create(b, c.Nodes[w%3].Store, i) })
	})
}

func create(b *testing.B, s *raftstore.Store, i int) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	name := fmt.Sprintf("o%d", i)
	if _, err := s.Create(ctx, raftstore.Create{Key: key(name), Object: object(name, payload)}); err != nil {
		b.Error(err)
	}
}

func BenchmarkQuorumRead(b *testing.B) {
	for _, nodes := range []int{1, 3} {
		c := testcluster.New(b, nodes, func(cfg *raftstore.Config) { cfg.RaftMultiplier = 1 })
		leader := c.Leader()
		c.Ready()
		create(b, leader.Store, 0)
		read := func(s *raftstore.Store) {
			ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
			defer cancel()
			if root, err := s.View(ctx, raftstore.Quorum()); err != nil || root.Get(key("o0")) == nil {
				b.Error("not there", err)
			}
		}
		b.Run(fmt.Sprintf("nodes=%d/leader/readers=32", nodes), func(b *testing.B) {
			runParallel(b, 32, func(int, int) { read(leader.Store) })
		})
		if nodes == 1 {
			continue
		}
		follower := c.Follower(leader)
		b.Run("nodes=3/follower/readers=32", func(b *testing.B) {
			runParallel(b, 32, func(int, int) { read(follower.Store) })
		})
		b.Run("nodes=3/all/readers=96", func(b *testing.B) {
			runParallel(b, 96, func(w, _ int) { read(c.Nodes[w%3].Store) })
		})
	}
}

// BenchmarkRawRaft measures the Raft library alone, with an empty state machine, for comparison
// with BenchmarkCreate: on the library's usual log in bolt, and on that of package log.
func BenchmarkRawRaft(b *testing.B) {
	logs := map[string]func(*testing.B) rawLog{"bolt": boltLog, "own": ownLog}
	for _, kind := range []string{"bolt", "own"} {
		for _, nodes := range []int{1, 3} {
			for _, proposers := range []int{1, 32, 100, 1000} {
				b.Run(fmt.Sprintf("log=%s/nodes=%d/proposers=%d", kind, nodes, proposers), func(b *testing.B) {
					leader := rawRaft(b, nodes, logs[kind])
					data := []byte(strings.Repeat("x", 1024))
					runParallel(b, proposers, func(int, int) {
						if err := leader.Apply(data, 0).Error(); err != nil {
							b.Error(err)
						}
					})
				})
			}
		}
	}
}

// rawLog is what the library keeps on disk.
type rawLog interface {
	raft.LogStore
	raft.StableStore
	Close() error
}

func boltLog(b *testing.B) rawLog {
	b.Helper()
	store, err := raftboltdb.NewBoltStore(filepath.Join(b.TempDir(), "raft.db"))
	if err != nil {
		b.Fatal(err)
	}
	return store
}

func ownLog(b *testing.B) rawLog {
	b.Helper()
	store, err := log.Open(log.Config{Dir: filepath.Join(b.TempDir(), "log"), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	return store
}

func rawRaft(b *testing.B, nodes int, open func(*testing.B) rawLog) *raft.Raft {
	b.Helper()
	var servers []raft.Server
	var transports []*raft.NetworkTransport
	for i := range nodes {
		trans, err := raft.NewTCPTransportWithLogger("127.0.0.1:0", nil, 3, 10*time.Second, hclog.NewNullLogger())
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { trans.CloseStreams(); trans.Close() })
		transports = append(transports, trans)
		servers = append(servers, raft.Server{ID: raft.ServerID(fmt.Sprint(i)), Address: trans.LocalAddr()})
	}
	var all []*raft.Raft
	for i := range nodes {
		cfg := raft.DefaultConfig()
		cfg.LocalID, cfg.Logger = servers[i].ID, hclog.NewNullLogger()
		cfg.BatchApplyCh, cfg.MaxAppendEntries = true, 512
		store := open(b)
		r, err := raft.NewRaft(cfg, &emptyFSM{}, store, store, raft.NewInmemSnapshotStore(), transports[i])
		if err != nil {
			b.Fatal(err)
		}
		if err := r.BootstrapCluster(raft.Configuration{Servers: servers}).Error(); err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { r.Shutdown().Error(); store.Close() })
		all = append(all, r)
	}
	var leader *raft.Raft
	testcluster.Eventually(b, "leader", func() bool {
		for _, r := range all {
			if r.State() == raft.Leader {
				leader = r
				return true
			}
		}
		return false
	})
	return leader
}

// emptyFSM is a state machine without state.
type emptyFSM struct{}

func (*emptyFSM) Apply(*raft.Log) any { return nil }
func (*emptyFSM) ApplyBatch(entries []*raft.Log) []any {
	return make([]any, len(entries))
}
func (*emptyFSM) Snapshot() (raft.FSMSnapshot, error) { return nil, io.EOF }
func (*emptyFSM) Restore(io.ReadCloser) error         { return nil }

// BenchmarkRestart measures the time from opening a data directory with 100,000 pods of 7 KiB to
// being ready (design.md §6), with a snapshot of all of them and without one.
func BenchmarkRestart(b *testing.B) {
	pod := strings.Repeat("0123456789abcdef", 440)
	for _, snapshot := range []bool{true, false} {
		b.Run(fmt.Sprintf("snapshot=%t", snapshot), func(b *testing.B) {
			c := testcluster.New(b, 1, func(cfg *raftstore.Config) { cfg.RaftMultiplier, cfg.LogBytes = 1, 4<<30 })
			n := c.Leader()
			var next atomic.Int64
			var work sync.WaitGroup
			for range 500 {
				work.Go(func() {
					for i := next.Add(1); i <= 100_000; i = next.Add(1) {
						ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
						name := fmt.Sprintf("o%d", i)
						if _, err := n.Store.Create(ctx, raftstore.Create{Key: key(name), Object: object(name, pod)}); err != nil {
							b.Error(err)
						}
						cancel()
					}
				})
			}
			work.Wait()
			if snapshot {
				if _, _, err := n.Store.Snapshot(); err != nil {
					b.Fatal(err)
				}
			}
			for b.Loop() {
				b.StopTimer()
				n.Stop()
				b.StartTimer()
				n.Start()
				c.Leader()
			}
			if n.Store.Applied() < 100_000 {
				b.Errorf("applied %d", n.Store.Applied())
			}
		})
	}
}

// BenchmarkContended runs eight writers that update one object and retry after a conflict.
func BenchmarkContended(b *testing.B) {
	c := testcluster.New(b, 1, func(cfg *raftstore.Config) { cfg.RaftMultiplier = 1 })
	s := c.Leader().Store
	create(b, s, 0)
	var conflicts atomic.Int64
	runParallel(b, 8, func(int, int) {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		for {
			root, err := s.View(ctx, raftstore.Cached())
			if err != nil {
				b.Error(err)
				return
			}
			_, err = s.Update(ctx, raftstore.Update{Key: key("o0"), Object: object("o0", payload), Previous: root.Get(key("o0"))})
			if conflict := (*state.Conflict)(nil); errors.As(err, &conflict) {
				conflicts.Add(1)
				continue
			}
			if err != nil {
				b.Error(err)
			}
			return
		}
	})
	b.ReportMetric(float64(conflicts.Load())/float64(b.N), "conflicts/op")
}
