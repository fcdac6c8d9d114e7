package h2

import "github.com/prometheus/client_golang/prometheus"

// The bounds that clients can hit: the values of the label "limit".
const (
	limitStreams       = "streams"
	limitHandlers      = "handlers"
	limitHeaderList    = "header_list"
	limitContinuations = "continuations"
	limitResets        = "resets"
	limitControl       = "queued_control"
	limitIdleFrames    = "idle_frames"
	limitHeaderTime    = "header_time"
	limitPing          = "ping"
	limitWriteStall    = "write_stall"
	limitCachedNames   = "cached_names"
	limitResponseTime  = "response_time"
	limitWaiting       = "waiting_responses"
	limitSettings      = "settings"
	limitLateBody      = "late_body"
)

type metrics struct {
	connections prometheus.Gauge
	requests    prometheus.Counter
	resets      prometheus.Counter
	faults      *prometheus.CounterVec
	limits      *prometheus.CounterVec
}

// newMetrics returns the metrics, registered unless reg is nil.
func newMetrics(reg prometheus.Registerer) *metrics {
	m := &metrics{
		connections: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "quorate_apiserver_h2_connections",
			Help: "Open HTTP/2 connections.",
		}),
		requests: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_apiserver_h2_requests_total",
			Help: "Requests passed to a handler.",
		}),
		resets: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_apiserver_h2_resets_total",
			Help: "Streams reset by clients while they were open.",
		}),
		faults: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "quorate_apiserver_h2_faults_total",
			Help: "Streams and connections that the server ended because of an error of the client, by scope and error code.",
		}, []string{"scope", "code"}),
		limits: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "quorate_apiserver_h2_limit_hits_total",
			Help: "Times that HTTP/2 connections hit a bound, by bound.",
		}, []string{"limit"}),
	}
	for _, limit := range []string{
		limitStreams, limitHandlers, limitHeaderList, limitContinuations, limitResets, limitControl, limitIdleFrames,
		limitHeaderTime, limitPing, limitWriteStall, limitCachedNames, limitResponseTime, limitWaiting,
		limitSettings, limitLateBody,
	} {
		m.limits.WithLabelValues(limit)
	}
	if reg != nil {
		reg.MustRegister(m.connections, m.requests, m.resets, m.faults, m.limits)
	}
	return m
}

// hit counts that a bound was hit.
func (m *metrics) hit(limit string) { m.limits.WithLabelValues(limit).Inc() }
