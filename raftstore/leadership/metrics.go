package leadership

import "github.com/prometheus/client_golang/prometheus"

type metrics struct {
	changes       prometheus.Counter
	fastFailovers prometheus.Counter
}

func newMetrics(reg prometheus.Registerer) *metrics {
	m := &metrics{
		changes: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_raftstore_leadership_changes_total",
			Help: "Times that this node gained or lost leadership.",
		}),
		fastFailovers: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_raftstore_successions_total",
			Help: "Elections that this node started without waiting for missed heartbeats, because the leader's process had ended.",
		}),
	}
	reg.MustRegister(m.changes, m.fastFailovers)
	return m
}
