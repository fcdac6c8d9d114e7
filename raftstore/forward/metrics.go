package forward

import "github.com/prometheus/client_golang/prometheus"

// metrics are the client's metrics of forwarded writes.
type metrics struct {
	full          prometheus.Counter
	messagesFull  prometheus.Counter
	messageWrites prometheus.Histogram
}

// serverMetrics are the server's metrics of forwarded writes.
type serverMetrics struct {
	held           prometheus.Counter
	messageResults prometheus.Histogram
}

// sizes are the buckets for numbers of writes in one message.
func sizes() []float64 { return prometheus.ExponentialBuckets(1, 2, 13) }

func newMetrics(reg prometheus.Registerer) *metrics {
	m := &metrics{
		full: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_raftstore_forward_full_total",
			Help: "Writes refused because too many writes, or too many bytes, to the leader were pending.",
		}),
		messagesFull: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_raftstore_forward_messages_full_total",
			Help: "Messages to the leader that could not hold all waiting writes.",
		}),
		messageWrites: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "quorate_raftstore_forward_message_writes",
			Help:    "Writes sent to the leader in one message.",
			Buckets: sizes(),
		}),
	}
	reg.MustRegister(m.full, m.messagesFull, m.messageWrites)
	return m
}

func newServerMetrics(reg prometheus.Registerer) *serverMetrics {
	m := &serverMetrics{
		held: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_raftstore_forward_held_total",
			Help: "Times that the leader stopped reading writes from a node because too many of that node were pending.",
		}),
		messageResults: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "quorate_raftstore_forward_message_results",
			Help:    "Results sent to another node in one message.",
			Buckets: sizes(),
		}),
	}
	reg.MustRegister(m.held, m.messageResults)
	return m
}
