package apiserver

import (
	"errors"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// TestObserved: a histogram is exported from its first observation on, and each of its label sets
// by itself. Counters are exported from the start.
func TestObserved(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	plain := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "plain", Buckets: []float64{1}})
	labelled := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "labelled", Buckets: []float64{1}}, []string{"verb"})
	registry.MustRegister(plain, labelled, prometheus.NewCounter(prometheus.CounterOpts{Name: "counter"}))
	labelled.WithLabelValues("get")
	labelled.WithLabelValues("list")
	count := func(want map[string]int) {
		t.Helper()
		families, err := observed(registry).Gather()
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]int{}
		for _, f := range families {
			got[f.GetName()] = len(f.GetMetric())
		}
		for _, name := range []string{"plain", "labelled", "counter"} {
			if _, exported := got[name]; got[name] != want[name] || exported != (want[name] > 0) {
				t.Errorf("%d series of %s, want %d", got[name], name, want[name])
			}
		}
	}
	count(map[string]int{"counter": 1})
	labelled.WithLabelValues("get").Observe(0)
	count(map[string]int{"counter": 1, "labelled": 1})
	plain.Observe(2)
	count(map[string]int{"counter": 1, "labelled": 1, "plain": 1})
}

// A registry that fails in part returns what it has, and so does observed.
func TestObservedKeepsTheError(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	name := "counter"
	families, err := observed(prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) {
		return []*dto.MetricFamily{{Name: &name, Metric: []*dto.Metric{{}}}}, broken
	})).Gather()
	if !errors.Is(err, broken) || len(families) != 1 {
		t.Errorf("%d families and %v", len(families), err)
	}
}
