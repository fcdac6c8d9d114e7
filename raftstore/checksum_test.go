package raftstore_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"github.com/prometheus/client_golang/prometheus"

	"quorate/raftstore"
	"quorate/raftstore/testcluster"
)

func compare(t *testing.T, n *testcluster.Node) *raftstore.Comparison {
	t.Helper()
	c, err := n.Store.CompareChecksums(within(t, 30*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestChecksums_of_all_nodes_are_equal_while_writing(t *testing.T) {
	t.Parallel()
	c := testcluster.New(t, 3, nil)
	c.Ready()
	stop := make(chan struct{})
	done := make(chan int)
	go func() {
		written := 0
		for ; ; written++ {
			select {
			case <-stop:
				done <- written
				return
			default:
			}
			if _, err := c.Nodes[written%3].Live().Create(t.Context(), raftstore.Create{
				Key: key(fmt.Sprint("o", written)), Object: object(fmt.Sprint("o", written), "1"),
			}); err != nil {
				t.Errorf("create: %v", err)
			}
		}
	}()
	last := uint64(0)
	for range 5 {
		for _, n := range c.Nodes {
			r := compare(t, n)
			if len(r.Nodes) != 3 || len(r.Diverged()) != 0 || r.Nodes[0].Err != nil || r.Nodes[1].Err != nil || r.Nodes[2].Err != nil {
				t.Errorf("%s: %+v", n.Name, r)
			}
			if r.Index < last {
				t.Errorf("index %d after %d", r.Index, last)
			}
			last = r.Index
		}
	}
	close(stop)
	if <-done == 0 {
		t.Error("no write succeeded")
	}
}

// corruptingLog is a log that replaces one word of its entries once it corrupts, as a broken disk
// or memory might. A follower applies what it reads; a leader applies and sends what it was given.
type corruptingLog struct {
	raft.LogStore
	corrupts atomic.Bool
}

func (l *corruptingLog) GetLog(index uint64, entry *raft.Log) error {
	err := l.LogStore.GetLog(index, entry)
	if l.corrupts.Load() {
		entry.Data = bytes.ReplaceAll(entry.Data, []byte("truth"), []byte("false"))
	}
	return err
}

func TestChecksums_name_the_node_that_diverged(t *testing.T) {
	t.Parallel()
	registries, logs := map[string]*prometheus.Registry{}, map[string]*corruptingLog{}
	c := testcluster.New(t, 3, func(cfg *raftstore.Config) {
		cfg.ChecksumInterval = 50 * time.Millisecond
		registries[cfg.Name] = prometheus.NewRegistry()
		cfg.Registerer = registries[cfg.Name]
		raftstore.WrapLog(cfg, func(log raft.LogStore) raft.LogStore {
			logs[cfg.Name] = &corruptingLog{LogStore: log}
			return logs[cfg.Name]
		})
	})
	c.Ready()
	follower := c.Follower(c.Leader()).Name
	logs[follower].corrupts.Store(true)
	const comparisons = "quorate_raftstore_checksum_comparisons_total"
	testcluster.Eventually(t, "the leader has compared the states, which are equal", func() bool {
		return metric(t, registries[c.Leader().Name], comparisons, "equal") > 0
	})
	created := mustCreate(t, c.Leader().Store, "a", "truth")
	for _, n := range c.Nodes {
		r := compare(t, n)
		if !slices.Equal(r.Diverged(), []string{follower}) {
			t.Errorf("%s reports %v as diverged: %+v", n.Name, r.Diverged(), r)
		}
	}
	testcluster.Eventually(t, "the leader's metric counts the diverged node", func() bool {
		return metric(t, registries[c.Leader().Name], "quorate_raftstore_diverged_nodes", "") == 1
	})
	if alarms := c.Leader().Store.Alarms(); len(alarms) != 1 || alarms[0].Name != raftstore.Diverged || alarms[0].Node != follower ||
		!strings.Contains(alarms[0].Message, "differs from that of most nodes") || metric(t, registries[c.Leader().Name], "quorate_alarm", "diverged") != 1 {
		t.Errorf("the alarms are %v", alarms)
	}
	if _, err := c.Leader().Store.Delete(within(t, 20*time.Second), raftstore.Delete{Key: created.Key, Previous: created}); err != nil {
		t.Fatal(err)
	}
	testcluster.Eventually(t, "the alarm clears once the states are equal", func() bool {
		return len(c.Leader().Store.Alarms()) == 0 && metric(t, registries[c.Leader().Name], "quorate_alarm", "diverged") == 0
	})
}

// The leaders must compare the states even if none of them leads for as long as the interval.
func TestChecksums_are_compared_though_leaders_change(t *testing.T) {
	t.Parallel()
	const (
		interval = 1500 * time.Millisecond
		leads    = interval / 3 // by each leader
	)
	registries := map[string]*prometheus.Registry{}
	c := testcluster.New(t, 3, func(cfg *raftstore.Config) {
		cfg.ChecksumInterval = interval
		registries[cfg.Name] = prometheus.NewRegistry()
		cfg.Registerer = registries[cfg.Name]
	})
	c.Ready()
	compared := func() (count float64) {
		for _, registry := range registries {
			count += metric(t, registry, "quorate_raftstore_checksum_comparisons_total", "equal")
		}
		return count
	}
	for changes := 0; compared() == 0; changes++ {
		if changes == 12 {
			t.Fatalf("%d leaders led for %s each, and none compared the states", changes, leads)
		}
		leader := c.Leader()
		for begun := time.Now(); compared() == 0 && time.Since(begun) < leads; {
			time.Sleep(leads / 50)
		}
		if err := leader.Store.TransferLeadership(""); err != nil {
			t.Log(err) // it has lost leadership already
		}
	}
}

// metric returns the value of a metric, of the series with the given label value if it is not "".
func metric(t *testing.T, registry *prometheus.Registry, name, label string) float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, m := range f.GetMetric() {
			if label == "" || m.GetLabel()[0].GetValue() == label {
				return m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
	}
	t.Fatalf("no metric %s", name)
	return 0
}
