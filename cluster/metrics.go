package cluster

import "github.com/prometheus/client_golang/prometheus"

type metrics struct {
	failures *prometheus.CounterVec
}

func newMetrics(reg prometheus.Registerer, c *Cluster) *metrics {
	m := &metrics{failures: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "quorate_cluster_calls_failed_total",
		Help: "Calls of other nodes' membership service without a response, by call (describe, promise).",
	}, []string{"call"})}
	reg.MustRegister(m.failures, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "quorate_cluster_initialised",
		Help: "1 once this node belongs to a cluster.",
	}, func() float64 {
		if c.cfg.Store.ClusterID() == "" {
			return 0
		}
		return 1
	}), prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "quorate_cluster_removed_nodes",
		Help: "Node ids remembered as removed, which are refused; of more than 256 the oldest are forgotten.",
	}, func() float64 {
		return float64(len(c.cfg.Roster.Record().Removed))
	}), prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "quorate_cluster_roster_forgotten_total",
		Help: "Removed node ids and freed names that were forgotten because of too many others.",
	}, func() float64 {
		return float64(c.cfg.Roster.Forgotten())
	}))
	return m
}
