package admission

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// The results of calls, as values of a label.
const (
	resultAllowed = "allowed"
	resultDenied  = "denied"
	resultFailed  = "failed"  // the write is refused
	resultIgnored = "ignored" // the call failed, and the write goes on
)

// The types of webhooks, as values of a label.
const (
	typeMutating   = "mutating"
	typeValidating = "validating"
)

type metrics struct {
	underWay  prometheus.Gauge
	calls     *prometheus.CounterVec
	seconds   *prometheus.HistogramVec
	unmatched prometheus.Counter
}

func newMetrics(reg prometheus.Registerer, d *Dispatcher) *metrics {
	m := &metrics{
		underWay: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "quorate_apiserver_admission_webhook_calls",
			Help: "Calls of admission webhooks under way.",
		}),
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "quorate_apiserver_admission_webhook_calls_total",
			Help: "Calls of admission webhooks by type (mutating, validating), operation, and result: allowed, denied, " +
				"failed if the write was refused because the call failed, or ignored if it went on.",
		}, []string{"type", "operation", "result"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "quorate_apiserver_admission_webhook_seconds",
			Help:    "Duration of calls of admission webhooks by type.",
			Buckets: prometheus.ExponentialBuckets(0.001, 4, 8),
		}, []string{"type"}),
		unmatched: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_apiserver_admission_webhook_unmatched_total",
			Help: "Webhooks that were not called because of their matchConditions.",
		}),
	}
	reg.MustRegister(m.underWay, m.calls, m.seconds, m.unmatched, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "quorate_apiserver_admission_webhooks",
		Help: "Admission webhooks of all configurations.",
	}, func() float64 {
		if x := d.current.Load(); x != nil {
			return float64(x.Len())
		}
		return 0
	}), prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "quorate_apiserver_admission_programs_bytes",
		Help: "Memory of the compiled matchConditions of admission webhooks, as estimated.",
	}, func() float64 { return float64(d.programs.Bytes()) }), prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "quorate_apiserver_admission_programs_dropped_total",
		Help: "Compiled matchConditions dropped because of the bound on their memory.",
	}, func() float64 { return float64(d.programs.Dropped()) }))
	return m
}

// observe counts a call.
func (m *metrics) observe(kind string, o Operation, result string, took time.Duration) {
	m.calls.WithLabelValues(kind, string(o), result).Inc()
	m.seconds.WithLabelValues(kind).Observe(took.Seconds())
}
