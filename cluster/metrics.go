package cluster

import "github.com/prometheus/client_golang/prometheus"

type metrics struct {
	failures *prometheus.CounterVec
}

func newMetrics(reg prometheus.Registerer, c *Cluster) *metrics {
	m := &metrics{failures: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "quorate_cluster_calls_failed_total",
		Help: "Calls of other nodes' membership service without an answer, by call (describe, promise).",
	}, []string{"call"})}
	reg.MustRegister(m.failures, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "quorate_cluster_initialised",
		Help: "1 once this node belongs to a cluster.",
	}, func() float64 {
		if c.cfg.Store.ClusterID() == "" {
			return 0
		}
		return 1
	}))
	return m
}
