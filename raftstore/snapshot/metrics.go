package snapshot

import "github.com/prometheus/client_golang/prometheus"

// metrics of one store, registered while it is open.
type metrics struct {
	registry     prometheus.Registerer // nil: nothing is registered
	writeSeconds prometheus.Histogram
	failures     prometheus.Counter
	corrupt      prometheus.Counter
	discarded    *prometheus.CounterVec
	index, bytes prometheus.GaugeFunc
	partial      prometheus.GaugeFunc
}

// newMetrics returns the metrics of s, registered unless reg is nil. The size and index of the
// newest snapshot are read from disk at each scrape.
func newMetrics(reg prometheus.Registerer, s *Store) *metrics {
	newest := func(value func(index uint64, bytes int64) float64) func() float64 {
		return func() float64 {
			metas, err := s.List()
			if err != nil || len(metas) == 0 {
				return 0
			}
			return value(metas[0].Index, metas[0].Size)
		}
	}
	m := &metrics{
		writeSeconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "quorate_raftstore_snapshot_write_seconds",
			Help:    "Time to write a snapshot, taken or received, including the sync.",
			Buckets: prometheus.ExponentialBuckets(0.01, 2, 14),
		}),
		failures: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_raftstore_snapshot_failures_total", Help: "Snapshots that could not be completed.",
		}),
		corrupt: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_raftstore_snapshot_corrupt_total", Help: "Times that a damaged snapshot was found.",
		}),
		discarded: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "quorate_raftstore_snapshot_partial_discarded_total",
			Help: "Parts of a snapshot from another node that were removed without being installed, by reason.",
		}, []string{"reason"}),
		partial: prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "quorate_raftstore_snapshot_partial_bytes",
			Help: "Bytes on disk of the snapshot that is arriving from another node, synced.",
		}, func() float64 { return float64(s.partialBytes()) }),
		index: prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "quorate_raftstore_snapshot_last_index", Help: "Log index of the newest snapshot.",
		}, newest(func(index uint64, _ int64) float64 { return float64(index) })),
		bytes: prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "quorate_raftstore_snapshot_last_bytes", Help: "Size of the newest snapshot on disk.",
		}, newest(func(_ uint64, bytes int64) float64 { return float64(bytes) })),
	}
	for _, reason := range []string{discardSuperseded, discardDamaged, discardOutdated, discardNoSpace} {
		m.discarded.WithLabelValues(reason)
	}
	if reg != nil {
		m.registry = reg
		reg.MustRegister(m.collectors()...)
	}
	return m
}

func (m *metrics) collectors() []prometheus.Collector {
	return []prometheus.Collector{m.writeSeconds, m.failures, m.corrupt, m.discarded, m.index, m.bytes, m.partial}
}

// unregister removes what newMetrics registered, so that the folder can be opened again.
func (m *metrics) unregister() {
	if m.registry == nil {
		return
	}
	for _, c := range m.collectors() {
		m.registry.Unregister(c)
	}
}
