package leadership

import "github.com/prometheus/client_golang/prometheus"

type metrics struct {
	changes       prometheus.Counter
	fastFailovers prometheus.Counter
	refused       prometheus.Counter
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
		refused: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_raftstore_leaderless_refused_total",
			Help: "Reads, writes and commands refused at once, because this node had known no leader for longer than an election takes.",
		}),
	}
	reg.MustRegister(m.changes, m.fastFailovers, m.refused)
	return m
}
