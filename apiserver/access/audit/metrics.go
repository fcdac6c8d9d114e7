package audit

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics are those of an audit log.
type metrics struct {
	events     [RequestResponse + 1]prometheus.Counter // by level
	leftOut    prometheus.Counter
	cutBodies  prometheus.Counter
	unreported atomic.Int64 // of leftOut
}

func newMetrics(reg prometheus.Registerer) *metrics {
	events := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "quorate_apiserver_audit_events_total",
		Help: "Audit events emitted, by level. quorate_node_log_dropped_lines_total counts those that did not arrive.",
	}, []string{"level"})
	m := &metrics{leftOut: prometheus.NewCounter(prometheus.CounterOpts{
		Name: "quorate_apiserver_audit_left_out_total",
		Help: "Requests without a known user that were not audited, because there were too many.",
	}), cutBodies: prometheus.NewCounter(prometheus.CounterOpts{
		Name: "quorate_apiserver_audit_bodies_left_out_total",
		Help: "Bodies that audit events do not have, because they were too long.",
	})}
	for level := Metadata; level <= RequestResponse; level++ {
		m.events[level] = events.WithLabelValues(level.String())
	}
	reg.MustRegister(events, m.leftOut, m.cutBodies)
	return m
}

func (m *metrics) leaveOut() {
	m.leftOut.Inc()
	m.unreported.Add(1)
}

func (m *metrics) takeUnreported() int64 { return m.unreported.Swap(0) }
