package read

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

type readerMetrics struct {
	waits          prometheus.Histogram
	confirmReaders *prometheus.HistogramVec // by role
	confirmSeconds *prometheus.HistogramVec // by role
}

type pinMetrics struct {
	pins    *prometheus.CounterVec // by result
	callers prometheus.Histogram
	seconds prometheus.Histogram
}

// latencies returns the buckets for waits on disks and networks: 100 µs to 13 s.
func latencies() []float64 { return prometheus.ExponentialBuckets(0.0001, 2, 18) }

// sizes returns the buckets for numbers of callers that share a result.
func sizes() []float64 { return prometheus.ExponentialBuckets(1, 2, 11) }

func newReaderMetrics(reg prometheus.Registerer) *readerMetrics {
	m := &readerMetrics{
		waits: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "quorate_raftstore_read_wait_seconds", Help: "Time that a linearizable read waited.", Buckets: latencies(),
		}),
		confirmReaders: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "quorate_raftstore_read_index_readers", Help: "Readers served by one confirmed read index.", Buckets: sizes(),
		}, []string{"role"}),
		confirmSeconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "quorate_raftstore_read_index_seconds", Help: "Time to confirm a read index.", Buckets: latencies(),
		}, []string{"role"}),
	}
	reg.MustRegister(m.waits, m.confirmReaders, m.confirmSeconds)
	return m
}

// confirmed returns the function with which a read index batcher reports its confirmations.
func (m *readerMetrics) confirmed(role string) func(readers int, took time.Duration) {
	readers, seconds := m.confirmReaders.WithLabelValues(role), m.confirmSeconds.WithLabelValues(role)
	return func(count int, took time.Duration) {
		readers.Observe(float64(count))
		seconds.Observe(took.Seconds())
	}
}

func newPinMetrics(reg prometheus.Registerer) *pinMetrics {
	m := &pinMetrics{
		pins: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "quorate_raftstore_pins_total",
			Help: "Requests of this node to pin a state on all nodes for paged reads, by result.",
		}, []string{"result"}),
		callers: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "quorate_raftstore_pin_callers", Help: "Callers served by one pin.", Buckets: sizes(),
		}),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "quorate_raftstore_pin_seconds", Help: "Time to pin a state on all nodes.", Buckets: latencies(),
		}),
	}
	for _, result := range []string{"proposed", "reused", "failed"} {
		m.pins.WithLabelValues(result)
	}
	reg.MustRegister(m.pins, m.callers, m.seconds)
	return m
}

// shared records one batch of callers that shared a pin.
func (m *pinMetrics) shared(callers int, took time.Duration) {
	m.callers.Observe(float64(callers))
	m.seconds.Observe(took.Seconds())
}
