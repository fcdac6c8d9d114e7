package logsink

import "github.com/prometheus/client_golang/prometheus"

// Metrics are the metrics of all queues of a process.
type Metrics struct {
	// RemovedFiles is the counter for FileConfig.
	RemovedFiles prometheus.Counter

	registerer prometheus.Registerer
	dropped    *prometheus.CounterVec
}

// NewMetrics registers the metrics.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{registerer: reg, dropped: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "quorate_node_log_dropped_lines_total",
		Help: "Lines of logs that were dropped, by log and reason: full (its queue was), failed (the destination did).",
	}, []string{"log", "reason"}), RemovedFiles: prometheus.NewCounter(prometheus.CounterOpts{
		Name: "quorate_node_log_removed_files_total",
		Help: "Rotated files of the log of requests or events that were removed because there were too many.",
	})}
	reg.MustRegister(m.dropped, m.RemovedFiles)
	return m
}

// queueMetrics are those of one queue.
type queueMetrics struct{ full, failed prometheus.Counter }

func (m *Metrics) of(name string) queueMetrics {
	return queueMetrics{full: m.dropped.WithLabelValues(name, "full"), failed: m.dropped.WithLabelValues(name, "failed")}
}

// watch registers the gauge of what a queue holds.
func (m *Metrics) watch(q *Queue) {
	m.registerer.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name:        "quorate_node_log_queued_bytes",
		Help:        "Lines of logs that wait for their destination, by log.",
		ConstLabels: prometheus.Labels{"log": q.cfg.Name},
	}, func() float64 { return float64(q.Queued()) }))
}
