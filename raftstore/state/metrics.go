package state

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// The reasons for dropping a retained root, which are the values of the label "reason".
const (
	evictedAge    = "age"
	evictedNumber = "number"
	evictedBytes  = "bytes"
	evictedReset  = "reset"
)

type retainerMetrics struct {
	roots     prometheus.Gauge
	oldest    prometheus.Gauge
	bytes     prometheus.Gauge
	evictions *prometheus.CounterVec
}

// newRetainerMetrics returns the metrics, registered unless reg is nil.
func newRetainerMetrics(reg prometheus.Registerer) *retainerMetrics {
	m := &retainerMetrics{
		roots: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "quorate_raftstore_retained_roots",
			Help: "States retained for paged reads.",
		}),
		oldest: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "quorate_raftstore_retained_oldest_seconds",
			Help: "Age of the oldest retained state.",
		}),
		bytes: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "quorate_raftstore_retained_bytes",
			Help: "Upper bound of the memory that only retained states use.",
		}),
		evictions: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "quorate_raftstore_retained_evictions_total",
			Help: "Retained states dropped, by the bound that they exceeded.",
		}, []string{"reason"}),
	}
	for _, reason := range []string{evictedAge, evictedNumber, evictedBytes, evictedReset} {
		m.evictions.WithLabelValues(reason)
	}
	if reg != nil {
		reg.MustRegister(m.roots, m.oldest, m.bytes, m.evictions)
	}
	return m
}

func (m *retainerMetrics) evicted(reason string, n int) {
	m.evictions.WithLabelValues(reason).Add(float64(n))
}

func (m *retainerMetrics) set(roots int, oldest time.Duration, bytes uint64) {
	m.roots.Set(float64(roots))
	m.oldest.Set(oldest.Seconds())
	m.bytes.Set(float64(bytes))
}
