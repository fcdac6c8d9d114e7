package log

import (
	"time"

	"github.com/hashicorp/raft"
	"github.com/prometheus/client_golang/prometheus"
)

// metrics are the metrics of one open log, registered while it is open.
type metrics struct {
	registry   prometheus.Registerer  // nil: collectors is empty
	collectors []prometheus.Collector // those registered

	appendSeconds   prometheus.Histogram
	appendedEntries prometheus.Counter
	appendedBytes   prometheus.Counter
	stalled         prometheus.Counter
	trimmed, resets prometheus.Counter
	holdsGivenUp    prometheus.Counter
	corrupt         prometheus.Counter
	cacheHits       prometheus.Counter
	aheadHits       prometheus.Counter
	cacheMisses     prometheus.Counter
}

// newMetrics returns the metrics of s, registered unless reg is nil. Some are read from s at each
// scrape.
func newMetrics(reg prometheus.Registerer, s *Store) *metrics {
	m := &metrics{
		appendSeconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "quorate_raftstore_log_append_seconds",
			Help:    "Time to append a batch of entries to the log, including the sync.",
			Buckets: prometheus.ExponentialBuckets(0.0001, 2, 17),
		}),
		appendedEntries: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_raftstore_log_appended_entries_total",
			Help: "Entries appended to the log.",
		}),
		appendedBytes: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_raftstore_log_appended_bytes_total",
			Help: "Bytes of entries appended to the log.",
		}),
		stalled: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_raftstore_log_write_stalled_total",
			Help: "Writes that exceeded the stall limit.",
		}),
		trimmed: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_raftstore_log_trimmed_entries_total",
			Help: "Old entries removed because the log exceeded its bounds.",
		}),
		resets: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_raftstore_log_resets_total",
			Help: "Times that a snapshot replaced the whole log.",
		}),
		holdsGivenUp: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_raftstore_log_holds_given_up_total",
			Help: "Holds on old entries given up because the entries took too much space.",
		}),
		corrupt: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_raftstore_log_corrupt_total",
			Help: "Times that damage was found in the log.",
		}),
		cacheHits: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_raftstore_log_cache_hits_total",
			Help: "Entries read from the cache of the newest ones.",
		}),
		aheadHits: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_raftstore_log_read_ahead_total",
			Help: "Entries read from memory that were read from disk together with the entry before.",
		}),
		cacheMisses: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_raftstore_log_cache_misses_total",
			Help: "Reads from disk: of one entry, or of several for a reader that reads in order.",
		}),
	}
	if reg == nil {
		return m
	}
	m.registry = reg
	m.collectors = append(m.gauges(s), m.appendSeconds, m.appendedEntries, m.appendedBytes, m.stalled, m.trimmed,
		m.resets, m.holdsGivenUp, m.corrupt, m.cacheHits, m.aheadHits, m.cacheMisses)
	reg.MustRegister(m.collectors...)
	return m
}

// gauges returns the metrics that are read from s at each scrape.
func (m *metrics) gauges(s *Store) []prometheus.Collector {
	return []prometheus.Collector{
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "quorate_raftstore_log_writes_in_progress",
			Help: "Running writes to the log.",
		}, func() float64 { return float64(s.watch.inFlight()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "quorate_raftstore_log_bytes",
			Help: "Bytes of the entries in the log.",
		}, func() float64 {
			used, _ := s.Size()
			return float64(used)
		}),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "quorate_raftstore_log_file_bytes",
			Help: "Bytes of the files of the log, those included that are reserved for later entries.",
		}, func() float64 {
			_, allocated := s.segments.Bytes()
			return float64(allocated)
		}),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "quorate_raftstore_log_first_index",
			Help: "Index of the oldest entry in the log.",
		}, func() float64 { return float64(s.span().first) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "quorate_raftstore_log_last_index",
			Help: "Index of the newest entry in the log.",
		}, func() float64 { return float64(s.span().last) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "quorate_raftstore_log_entries",
			Help: "Entries in the log.",
		}, func() float64 { return float64(s.span().len()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "quorate_raftstore_log_holds",
			Help: "Holds on old entries, for followers and for snapshots being read.",
		}, func() float64 { return float64(s.holds.count()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "quorate_raftstore_log_cache_bytes",
			Help: "Bytes of entries kept in memory.",
		}, func() float64 {
			_, bytes := s.cache.size()
			return float64(bytes)
		}),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "quorate_raftstore_log_oldest_entry_age_seconds",
			Help: "Age of the oldest entry in the log.",
		}, func() float64 { return s.oldestAge().Seconds() }),
	}
}

// unregister removes what newMetrics registered, so that the log can be opened again.
func (m *metrics) unregister() {
	for _, c := range m.collectors {
		m.registry.Unregister(c)
	}
}

func (m *metrics) appended(entries []*raft.Log, took time.Duration) {
	bytes := 0
	for _, e := range entries {
		bytes += len(e.Data)
	}
	m.appendSeconds.Observe(took.Seconds())
	m.appendedEntries.Add(float64(len(entries)))
	m.appendedBytes.Add(float64(bytes))
}

// oldestAge returns the age of the oldest entry. It returns 0 if there is none or if the entry has
// no time, like the one of a bootstrap.
func (s *Store) oldestAge() time.Duration {
	at, err := s.segments.FirstTime()
	if err != nil || at.IsZero() { // empty, closed or damaged: reads report it
		return 0
	}
	return time.Since(at)
}
