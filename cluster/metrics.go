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
	}), aliveMembers{c: c, desc: prometheus.NewDesc(
		"quorate_cluster_member_alive",
		"1 if this node sees the other member as alive, else 0. Members are the servers of Raft's configuration.",
		[]string{"member"}, nil,
	)})
	return m
}

// aliveMembers collects whether each other member is alive. Every node reports it, not only the
// leader, so that an alert about a dead node continues when the leader changes. Only servers of
// Raft's configuration have a series: it ends when the member is removed.
type aliveMembers struct {
	c    *Cluster
	desc *prometheus.Desc
}

func (a aliveMembers) Describe(descs chan<- *prometheus.Desc) { descs <- a.desc }

func (a aliveMembers) Collect(metrics chan<- prometheus.Metric) {
	alive := map[string]float64{}
	for _, m := range a.c.gossip.Members() {
		if m.Alive {
			alive[m.Name] = 1
		}
	}
	for _, s := range a.c.cfg.Store.Servers() {
		if name := string(s.ID); name != a.c.self.Name {
			metrics <- prometheus.MustNewConstMetric(a.desc, prometheus.GaugeValue, alive[name], name)
		}
	}
}
