package rates_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"quorate/apiserver/rates"
	"quorate/apiserver/rest/route"
)

// node is what a recorder samples.
type node struct {
	mu      sync.Mutex
	applied uint64       // guarded by mu
	totals  route.Totals // guarded by mu
}

func (n *node) Term() uint64           { return 3 }
func (n *node) Leader() (string, bool) { return "n1", true }

func (n *node) Applied() uint64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.applied
}

func (n *node) Totals() (route.Totals, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.totals, nil
}

func (n *node) set(applied uint64, totals route.Totals) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.applied, n.totals = applied, totals
}

// TestRecorder: a sample has what happened since the one before, and an hour of them is kept.
func TestRecorder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := &node{}
		n.set(100, route.Totals{Reads: latencies(1000), Errors: 7})
		r := rates.New(rates.Config{Store: n, Totals: n.Totals})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- r.Run(ctx) }()
		synctest.Wait()
		if samples := r.Rates().Samples; len(samples) != 0 {
			t.Errorf("%d samples at the start", len(samples))
		}
		n.set(150, route.Totals{Reads: latencies(1020), Writes: latencies(10), Errors: 8})
		time.Sleep(rates.Interval)
		synctest.Wait()
		got := r.Rates().Samples[0]
		if got.Reads != 2 || got.Writes != 1 || got.Errors != .1 || got.Entries != 5 || got.Term != 3 || got.Leader != "n1" || got.AppliedIndex != 150 {
			t.Errorf("the sample is %+v", got)
		}
		if got.WriteP99Seconds == nil || *got.WriteP99Seconds != .99 {
			t.Errorf("the p99 of the writes is %v", got.WriteP99Seconds)
		}
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		samples := r.Rates().Samples
		if len(samples) != 360 || samples[359].Time.Sub(samples[0].Time) != 359*rates.Interval || samples[0].ReadP99Seconds != nil || samples[0].Reads != 0 {
			t.Errorf("%d samples, from %+v", len(samples), samples[0])
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// latencies returns n observations of up to a second.
func latencies(n uint64) route.Latencies {
	return route.Latencies{Count: n, Bounds: []float64{1}, Counts: []uint64{n}}
}

// TestRecorderWithoutTotals: a server whose requests can't be counted serves on.
func TestRecorderWithoutTotals(t *testing.T) {
	t.Parallel()
	r := rates.New(rates.Config{
		Store: &node{}, Totals: func() (route.Totals, error) { return route.Totals{}, errors.New("none") }, Logger: slog.New(slog.DiscardHandler),
	})
	if err := r.Run(t.Context()); err != nil {
		t.Error(err)
	}
}
