package transport

import (
	"sync"

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

const (
	// maxCountedPeers is the number of peers whose bytes are counted by name. Those of further ones,
	// such as nodes that have replaced others, count together as otherPeers.
	maxCountedPeers = 64
	otherPeers      = "others"
)

type metrics struct {
	open            prometheus.Gauge
	handshakes      prometheus.Gauge
	memberAddresses prometheus.Gauge
	refused         prometheus.Counter
	limits          *prometheus.CounterVec
	earlyAppends    prometheus.Counter
	farAppends      prometheus.Counter
	pacedAppends    prometheus.Counter
	sent            *prometheus.CounterVec

	mu      sync.Mutex
	counted map[string]*prometheus.Counter // by peer; guarded by mu
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
		farAppends: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_raftstore_far_appends_total",
			Help: "Appends sent to distant followers before the responses to two earlier ones.",
		}),
		pacedAppends: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_raftstore_paced_appends_total",
			Help: "Appends to non-voters after which this node as leader paused, so that the next one has more entries.",
		}),
		sent: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "quorate_raftstore_peer_sent_bytes_total",
			Help: "Bytes sent to other nodes, with the overhead of TLS and without handshakes, by node; those beyond 64 together.",
		}, []string{"peer"}),
		counted: make(map[string]*prometheus.Counter),
	}
	for _, limit := range []string{
		limitHandshakes, limitAddressHandshakes, limitHelloTime, limitHandshakeTime, limitLogLines, limitMessageBytes,
	} {
		m.limits.WithLabelValues(limit)
	}
	if reg != nil {
		reg.MustRegister(m.open, m.handshakes, m.memberAddresses, m.refused, m.limits, m.earlyAppends, m.farAppends, m.pacedAppends, m.sent)
	}
	return m
}

// sentTo returns the counter of the bytes sent to a peer.
func (m *metrics) sentTo(peer string) *prometheus.Counter {
	m.mu.Lock()
	defer m.mu.Unlock()
	if c := m.counted[peer]; c != nil {
		return c
	}
	label := peer
	if len(m.counted) >= maxCountedPeers {
		label = otherPeers
	}
	c := m.sent.WithLabelValues(label)
	if label == peer {
		m.counted[peer] = &c
	}
	return &c
}

// countTooLarge counts the end of a call with err, if a message was too large.
func (m *metrics) countTooLarge(err error) {
	if status.Code(err) == codes.ResourceExhausted {
		m.hit(limitMessageBytes)
	}
}

// hit counts that a bound was hit.
func (m *metrics) hit(limit string) { m.limits.WithLabelValues(limit).Inc() }
