package gossip

import "github.com/prometheus/client_golang/prometheus"

type metrics struct {
	refused prometheus.Counter
	joins   *prometheus.CounterVec
	limits  *prometheus.CounterVec
}

func newMetrics(reg prometheus.Registerer, g *Gossip) *metrics {
	m := &metrics{
		refused: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_cluster_gossip_refused_total",
			Help: "Messages and exchanges refused: another key, another cluster, a name taken.",
		}),
		joins: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "quorate_cluster_gossip_join_attempts_total",
			Help: "Attempts to reach an address to join, by result (joined, unreachable, refused).",
		}, []string{"result"}),
		limits: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "quorate_cluster_gossip_limit_hits_total",
			Help: "Connections closed and log lines left out because a bound was reached, by bound.",
		}, []string{"limit"}),
	}
	for _, limit := range []string{
		limitStreams, limitAddressStreams, limitStreamBytes, limitStreamTime, limitLogLines, limitRepeatedLines, limitFindings,
	} {
		m.limits.WithLabelValues(limit)
	}
	reg.MustRegister(m.refused, m.joins, m.limits,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "quorate_cluster_gossip_health",
			Help: "How well this node keeps up with gossip: 0 is well, more is worse.",
		}, g.health),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "quorate_cluster_gossip_members_alive",
			Help: "Nodes that gossip says are alive, this one included.",
		}, func() float64 { alive, _ := g.count(); return alive }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "quorate_cluster_gossip_members_dead",
			Help: "Nodes known and not alive.",
		}, func() float64 { _, dead := g.count(); return dead }))
	return m
}
