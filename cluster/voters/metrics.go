package voters

import "github.com/prometheus/client_golang/prometheus"

type metrics struct {
	changes   *prometheus.CounterVec
	healthy   prometheus.Gauge
	tolerance prometheus.Gauge
}

func newMetrics(reg prometheus.Registerer) *metrics {
	m := &metrics{
		changes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "quorate_cluster_voters_changes_total",
			Help: "Changes of the Raft configuration made by this node as leader, by kind (add, move, promote, remove).",
		}, []string{"change"}),
		healthy: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "quorate_cluster_voters_healthy_servers",
			Help: "Servers that are alive, in contact and caught up, as the leader sees them; 0 on other nodes.",
		}),
		tolerance: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "quorate_cluster_voters_failure_tolerance",
			Help: "Healthy voters that may be lost without losing the quorum, as the leader sees it; 0 on other nodes.",
		}),
	}
	reg.MustRegister(m.changes, m.healthy, m.tolerance)
	return m
}
