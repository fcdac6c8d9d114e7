package transport

import "github.com/prometheus/client_golang/prometheus"

type metrics struct {
	open    prometheus.Gauge
	refused prometheus.Counter
}

// newMetrics returns the metrics, registered unless reg is nil.
func newMetrics(reg prometheus.Registerer) *metrics {
	m := &metrics{
		open: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "quorate_raftstore_peer_connections", Help: "Connections accepted from peers and open now.",
		}),
		refused: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_raftstore_peer_refused_total", Help: "Connections to the peer address refused in the handshake.",
		}),
	}
	if reg != nil {
		reg.MustRegister(m.open, m.refused)
	}
	return m
}
