package log

import (
	"encoding/binary"
	"time"

	"github.com/hashicorp/raft"
	"github.com/prometheus/client_golang/prometheus"
	"go.etcd.io/bbolt"
)

// metrics are the metrics of one open log, registered while it is open.
type metrics struct {
	registry   prometheus.Registerer
	collectors []prometheus.Collector

	appendSeconds   prometheus.Histogram
	appendedEntries prometheus.Counter
	appendedBytes   prometheus.Counter
	stalled         prometheus.Counter
	trimmed, resets prometheus.Counter
	holdsGivenUp    prometheus.Counter
	corrupt         prometheus.Counter
	cacheHits       prometheus.Counter
	cacheMisses     prometheus.Counter
}

// newMetrics registers the metrics of s. Gauges computed from s are computed at each scrape.
func newMetrics(registry prometheus.Registerer, s *Store) (*metrics, error) {
	m := &metrics{registry: registry}
	m.appendSeconds = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name:    "quorate_raftstore_log_append_seconds",
		Help:    "Time to append a batch of entries to the log, sync included.",
		Buckets: prometheus.ExponentialBuckets(0.0001, 2, 17),
	})
	m.collectors = append(m.collectors, m.appendSeconds)
	m.appendedEntries = m.counter("quorate_raftstore_log_appended_entries_total", "Entries appended to the log.")
	m.appendedBytes = m.counter("quorate_raftstore_log_appended_bytes_total", "Bytes of entries appended to the log.")
	m.stalled = m.counter("quorate_raftstore_log_write_stalled_total", "Writes that were still under way after the stall limit.")
	m.trimmed = m.counter("quorate_raftstore_log_trimmed_entries_total", "Old entries removed because the log was over its bounds.")
	m.holdsGivenUp = m.counter("quorate_raftstore_log_holds_given_up_total", "Times that old entries were kept for a follower no longer, because they took too much space.")
	m.resets = m.counter("quorate_raftstore_log_resets_total", "Times the log was removed whole, for a snapshot.")
	m.corrupt = m.counter("quorate_raftstore_log_corrupt_total", "Findings of damage in the log file.")
	m.cacheHits = m.counter("quorate_raftstore_log_cache_hits_total", "Entries read from memory.")
	m.cacheMisses = m.counter("quorate_raftstore_log_cache_misses_total", "Entries read from disk.")
	m.gauge("quorate_raftstore_log_writes_in_progress", "Writes to the log under way.", func() float64 { return float64(s.watch.underway()) })
	m.gauge("quorate_raftstore_log_bytes", "Bytes of the log file in use.", func() float64 {
		used, _ := s.Size()
		return float64(used)
	})
	m.gauge("quorate_raftstore_log_first_index", "Oldest entry kept.", func() float64 { return float64(s.span.Load().first) })
	m.gauge("quorate_raftstore_log_last_index", "Newest entry.", func() float64 { return float64(s.span.Load().last) })
	m.gauge("quorate_raftstore_log_entries", "Entries kept.", func() float64 { return float64(s.span.Load().len()) })
	m.gauge("quorate_raftstore_log_holds", "For how many followers, and snapshots being read, old entries are kept.", func() float64 { return float64(s.holds.count()) })
	m.gauge("quorate_raftstore_log_cache_bytes", "Bytes of entries kept in memory.", func() float64 {
		_, bytes := s.cache.size()
		return float64(bytes)
	})
	m.gauge("quorate_raftstore_log_oldest_entry_age_seconds", "Age of the oldest entry kept.", func() float64 { return s.oldestAge().Seconds() })
	return m, m.register()
}

func (m *metrics) counter(name, help string) prometheus.Counter {
	c := prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	m.collectors = append(m.collectors, c)
	return c
}

func (m *metrics) gauge(name, help string, value func() float64) {
	m.collectors = append(m.collectors, prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value))
}

func (m *metrics) register() error {
	if m.registry == nil {
		return nil
	}
	for i, c := range m.collectors {
		if err := m.registry.Register(c); err != nil {
			m.collectors = m.collectors[:i]
			m.unregister()
			return err
		}
	}
	return nil
}

func (m *metrics) unregister() {
	if m.registry == nil {
		return
	}
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

// oldestAge returns the age of the oldest entry, 0 if there is none or if it has no time, like a
// bootstrap's.
func (s *Store) oldestAge() time.Duration {
	var at time.Time
	err := s.view(func(tx *bbolt.Tx) error {
		c := tx.Bucket(logsBucket()).Cursor()
		for k, v := c.First(); len(k) == keyBytes && at.IsZero(); k, v = c.Next() {
			rec, err := parseRecord(v, binary.BigEndian.Uint64(k))
			if err != nil {
				return err
			}
			if at, err = rec.time(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || at.IsZero() { // empty, closed or damaged: reads report it
		return 0
	}
	return time.Since(at)
}
