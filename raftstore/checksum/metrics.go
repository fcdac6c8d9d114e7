package checksum

import "github.com/prometheus/client_golang/prometheus"

type metrics struct {
	comparisons *prometheus.CounterVec // by result
	diverged    prometheus.Gauge
}

func newMetrics(reg prometheus.Registerer) *metrics {
	m := &metrics{
		comparisons: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "quorate_raftstore_checksum_comparisons_total",
			Help: "Comparisons of all nodes' states that this node made as leader, by result.",
		}, []string{"result"}),
		diverged: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "quorate_raftstore_diverged_nodes",
			Help: "Nodes whose state differs from that of most, by this leader's last comparison.",
		}),
	}
	for _, result := range []string{"equal", "diverged", "failed"} {
		m.comparisons.WithLabelValues(result)
	}
	reg.MustRegister(m.comparisons, m.diverged)
	return m
}
