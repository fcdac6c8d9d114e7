package raftstore_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"github.com/prometheus/client_golang/prometheus"

	"quorate/raftstore"
	"quorate/raftstore/testcluster"
)

// Raft's queue takes 512 entries. On a disk that hangs, requests must end at their deadline both
// with and without a place in the queue.
func TestRequestsEndWhileRaftHangs(t *testing.T) {
	const requests = 1200
	metrics := prometheus.NewRegistry()
	var log *hangingLog
	c := testcluster.New(t, 1, func(cfg *raftstore.Config) {
		cfg.Registerer = metrics
		raftstore.WrapLog(cfg, func(inner raft.LogStore) raft.LogStore {
			log = &hangingLog{LogStore: inner}
			return log
		})
	})
	store := c.Leader().Store
	release := log.hang()
	defer release()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	outcomes := make(chan error, requests)
	for i := range requests {
		name := fmt.Sprintf("o%d", i)
		go func() {
			_, err := store.Create(ctx, raftstore.Create{Key: key(name), Object: object(name, "x")})
			outcomes <- err
		}()
	}
	testcluster.Eventually(t, "Raft has all proposals", func() bool {
		return sum(t, metrics, "quorate_raftstore_proposals") == requests
	})
	cancel()
	for range requests {
		select {
		case err := <-outcomes:
			if !errors.Is(err, raftstore.ErrUnknownOutcome) {
				t.Fatalf("got %v", err)
			}
		case <-time.After(time.Minute):
			t.Fatal("a request did not end at its deadline")
		}
	}
	release()
	testcluster.Eventually(t, "Raft has completed all proposals", func() bool { return sum(t, metrics, "quorate_raftstore_proposals") == 0 })
}

// sum returns the sum of a gauge, or the count of a histogram.
func sum(t *testing.T, metrics prometheus.Gatherer, name string) (total int) {
	t.Helper()
	families, err := metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == name {
				total += int(m.GetGauge().GetValue()) + int(m.GetHistogram().GetSampleCount())
			}
		}
	}
	return total
}
