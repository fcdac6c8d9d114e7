package applier

import "github.com/prometheus/client_golang/prometheus"

type metrics struct {
	applyBatch   prometheus.Histogram
	applySeconds prometheus.Histogram
}

func newMetrics(reg prometheus.Registerer) *metrics {
	m := &metrics{
		applyBatch: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "quorate_raftstore_apply_batch_entries",
			Help:    "Entries applied together.",
			Buckets: prometheus.ExponentialBuckets(1, 2, 11),
		}),
		applySeconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "quorate_raftstore_apply_seconds",
			Help:    "Time to apply a batch of entries.",
			Buckets: prometheus.ExponentialBuckets(0.0001, 2, 18), // 100 µs to 13 s
		}),
	}
	reg.MustRegister(m.applyBatch, m.applySeconds)
	return m
}
