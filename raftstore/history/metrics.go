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
	logEvents prometheus.Counter
	logQueue  prometheus.Gauge
	logWait   prometheus.Histogram
}

func newMetrics() *metrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
	}
	return &metrics{
		bytes:     gauge("quorate_raftstore_history_bytes", "Memory that events kept for watchers hold on to, at most."),
		events:    gauge("quorate_raftstore_history_events", "Events kept in memory for watchers."),
		evictions: counter("quorate_raftstore_history_evicted_events_total", "Events dropped from memory for newer ones; the log on disk still has them."),
		forgotten: counter("quorate_raftstore_history_forgotten_resources_total", "Resources without events in memory forgotten because there are too many."),
		cursors:   counter("quorate_raftstore_history_cursors_total", "Watch positions opened."),
		compacted: counter("quorate_raftstore_history_compacted_total", "Watch positions refused because history no longer reaches them."),
		logReads:  counter("quorate_raftstore_history_log_reads_total", "Reads of the log on disk for watchers behind memory."),
		logEvents: counter("quorate_raftstore_history_log_events_total", "Events that those reads returned."),
		logQueue:  gauge("quorate_raftstore_history_log_reads_queued", "Watchers waiting for their turn to read the log on disk."),
		logWait: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "quorate_raftstore_history_log_read_wait_seconds",
			Help:    "Time that watchers waited for their turn to read the log on disk.",
			Buckets: prometheus.ExponentialBuckets(0.0005, 4, 8),
		}),
	}
}

// register registers the metrics, including those computed from the hub at each scrape.
func (m *metrics) register(reg prometheus.Registerer, h *Hub) error {
	if reg == nil {
		return nil
	}
	ask := func(name, help string, value func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value)
	}
	for _, c := range []prometheus.Collector{
		m.bytes, m.events, m.evictions, m.forgotten, m.cursors, m.compacted, m.logReads, m.logEvents, m.logQueue, m.logWait,
		ask("quorate_raftstore_history_oldest_index", "Log index of the oldest event in memory; 0 when there is none.", func() float64 {
			return float64(h.oldestIndex())
		}),
		ask("quorate_raftstore_history_cursors_waiting", "Watchers waiting for the next event; one that waits for others too counts once.", func() float64 {
			return float64(h.sleeping.Load())
		}),
		ask("quorate_raftstore_history_log_reads_active", "Reads of the log on disk under way.", func() float64 {
			return float64(len(h.logTurns))
		}),
	} {
		if err := reg.Register(c); err != nil {
			return err
		}
	}
	return nil
}
