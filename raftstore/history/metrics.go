package history

import "github.com/prometheus/client_golang/prometheus"

type metrics struct {
	bytes     prometheus.Gauge
	events    prometheus.Gauge
	evictions prometheus.Counter
	forgotten prometheus.Counter
	cursors   prometheus.Counter
	compacted prometheus.Counter
	logReads  prometheus.Counter
	logShared prometheus.Counter
	logEvents prometheus.Counter
	logQueue  prometheus.Gauge
	logWait   prometheus.Histogram
}

// newMetrics returns the metrics, registered unless reg is nil. Some are read from the hub at each
// scrape.
func newMetrics(reg prometheus.Registerer, h *Hub) *metrics {
	m := &metrics{
		bytes: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "quorate_raftstore_history_bytes",
			Help: "Upper bound of the memory used by events for watchers.",
		}),
		events: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "quorate_raftstore_history_events",
			Help: "Events in memory for watchers.",
		}),
		evictions: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_raftstore_history_evicted_events_total",
			Help: "Events dropped from memory for newer ones; the log on disk still has them.",
		}),
		forgotten: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_raftstore_history_forgotten_resources_total",
			Help: "Topics without events in memory that were dropped because there were too many.",
		}),
		cursors: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_raftstore_history_cursors_total",
			Help: "Watch cursors created.",
		}),
		compacted: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_raftstore_history_compacted_total",
			Help: "Watch cursors that ended because history begins after their position.",
		}),
		logReads: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_raftstore_history_log_reads_total",
			Help: "Reads of the log on disk for watchers older than the events in memory.",
		}),
		logShared: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_raftstore_history_log_reads_shared_total",
			Help: "Reads of the log on disk that watchers shared with another watcher, which made them.",
		}),
		logEvents: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_raftstore_history_log_events_total",
			Help: "Events returned by reads of the log on disk.",
		}),
		logQueue: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "quorate_raftstore_history_log_reads_queued",
			Help: "Watchers waiting to read the log on disk; users take turns.",
		}),
		logWait: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "quorate_raftstore_history_log_read_wait_seconds",
			Help:    "Time that watchers waited to read the log on disk.",
			Buckets: prometheus.ExponentialBuckets(0.0005, 4, 8),
		}),
	}
	if reg == nil {
		return m
	}
	reg.MustRegister(m.bytes, m.events, m.evictions, m.forgotten, m.cursors, m.compacted,
		m.logReads, m.logShared, m.logEvents, m.logQueue, m.logWait,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "quorate_raftstore_history_oldest_index",
			Help: "Log index of the oldest event in memory; 0 if there is none.",
		}, func() float64 { return float64(h.oldestIndex()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "quorate_raftstore_history_cursors_waiting",
			Help: "Watchers waiting for the next event; a dispatcher that waits for several counts once.",
		}, func() float64 { return float64(h.sleeping.Load()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "quorate_raftstore_history_log_reads_active",
			Help: "Running reads of the log on disk.",
		}, func() float64 { return float64(h.turns.running()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "quorate_raftstore_history_log_reads_kept_bytes",
			Help: "Events of the latest reads of the log on disk, kept for other watchers: at most a quarter of --history-bytes.",
		}, func() float64 { return float64(h.reads.kept()) }))
	return m
}
