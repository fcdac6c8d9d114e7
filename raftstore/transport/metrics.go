package transport

import (
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

type metrics struct {
	open    prometheus.Gauge
	refused prometheus.Counter
}

func newMetrics(registerer prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		open: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "quorate_raftstore_peer_connections", Help: "Connections accepted from peers and open now.",
		}),
		refused: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_raftstore_peer_refused_total", Help: "Connections to the peer address refused in the handshake.",
		}),
	}
	if registerer == nil {
		return m, nil
	}
	if err := errors.Join(registerer.Register(m.open), registerer.Register(m.refused)); err != nil {
		return nil, fmt.Errorf("register transport metrics: %w", err)
	}
	return m, nil
}
