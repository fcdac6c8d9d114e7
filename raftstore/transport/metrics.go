package transport

import (
	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// The bounds that strangers, or other nodes, can hit: the values of the label "limit".
const (
	limitHandshakes        = "handshakes"
	limitAddressHandshakes = "handshakes_per_address"
	limitHelloTime         = "hello_time"
	limitHandshakeTime     = "handshake_time"
	limitLogLines          = "log_lines"
	limitMessageBytes      = "message_bytes"
)

type metrics struct {
	open            prometheus.Gauge
	handshakes      prometheus.Gauge
	memberAddresses prometheus.Gauge
	refused         prometheus.Counter
	limits          *prometheus.CounterVec
	earlyAppends    prometheus.Counter
}

// newMetrics returns the metrics, registered unless reg is nil.
func newMetrics(reg prometheus.Registerer) *metrics {
	m := &metrics{
		open: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "quorate_raftstore_peer_connections", Help: "Open connections accepted from peers.",
		}),
		handshakes: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "quorate_raftstore_peer_handshakes", Help: "Running handshakes on the peer address.",
		}),
		memberAddresses: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "quorate_raftstore_peer_member_addresses",
			Help: "Known addresses of members, whose handshakes have priority.",
		}),
		refused: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_raftstore_peer_refused_total",
			Help: "Connections to the peer address closed before or in the handshake.",
		}),
		limits: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "quorate_raftstore_peer_limit_hits_total",
			Help: "Connections to the peer address closed, log lines suppressed, and calls of either side failed, because a bound was reached, by bound.",
		}, []string{"limit"}),
		earlyAppends: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_raftstore_early_appends_total",
			Help: "Appends sent to followers while this node as leader stored the same entries.",
		}),
	}
	for _, limit := range []string{
		limitHandshakes, limitAddressHandshakes, limitHelloTime, limitHandshakeTime, limitLogLines, limitMessageBytes,
	} {
		m.limits.WithLabelValues(limit)
	}
	if reg != nil {
		reg.MustRegister(m.open, m.handshakes, m.memberAddresses, m.refused, m.limits, m.earlyAppends)
	}
	return m
}

// countTooLarge counts the end of a call with err, if a message was too large.
func (m *metrics) countTooLarge(err error) {
	if status.Code(err) == codes.ResourceExhausted {
		m.hit(limitMessageBytes)
	}
}

// hit counts that a bound was hit.
func (m *metrics) hit(limit string) { m.limits.WithLabelValues(limit).Inc() }
