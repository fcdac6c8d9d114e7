package rates_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"quorate/apiserver/rates"
	"quorate/apiserver/rest/route"
)

type store struct{ term, applied uint64 }

func (s *store) Term() uint64           { return s.term }
func (s *store) Leader() (string, bool) { return "n1", true }
func (s *store) Applied() uint64        { return s.applied }

// TestRecorder: a sample has what happened since the one before, and an hour of them is kept.
func TestRecorder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &store{term: 3, applied: 100}
		totals := route.Totals{Reads: latencies(1000), Errors: 7}
		r := rates.New(rates.Config{Store: s, Totals: func() (route.Totals, error) { return totals, nil }})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- r.Run(ctx) }()
		synctest.Wait()
		if n := len(r.Rates().Samples); n != 0 {
			t.Errorf("%d samples at the start", n)
		}
		s.applied, totals = 150, route.Totals{Reads: latencies(1020), Writes: latencies(10), Errors: 8}
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
		Store: &store{}, Totals: func() (route.Totals, error) { return route.Totals{}, errors.New("none") }, Logger: slog.New(slog.DiscardHandler),
	})
	if err := r.Run(t.Context()); err != nil {
		t.Error(err)
	}
}
