package conversion

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics are the metrics of all webhooks.
type Metrics struct {
	calls   prometheus.Gauge
	results *prometheus.CounterVec
	seconds prometheus.Histogram
}

// NewMetrics returns metrics that are registered.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{
		calls: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "quorate_apiserver_conversion_webhook_calls",
			Help: "Calls of conversion webhooks under way.",
		}),
		results: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "quorate_apiserver_conversion_webhook_calls_total",
			Help: "Calls of conversion webhooks by result: success, error, oversized for an answer beyond its bound, memory if the answers of webhooks take too much, or busy if too many were under way.",
		}, []string{"result"}),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "quorate_apiserver_conversion_webhook_seconds",
			Help:    "Duration of calls of conversion webhooks.",
			Buckets: prometheus.ExponentialBuckets(0.001, 4, 8),
		}),
	}
	reg.MustRegister(m.calls, m.results, m.seconds)
	return m
}

// observe counts a call. Those that found no turn have no duration.
func (m *Metrics) observe(result string, took time.Duration) {
	m.results.WithLabelValues(result).Inc()
	if result != "busy" {
		m.seconds.Observe(took.Seconds())
	}
}
