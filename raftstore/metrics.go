package raftstore

import (
	"fmt"
	"math"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics are those of the state machine. Each part of the store has its own.
type metrics struct {
	registerer prometheus.Registerer

	applyBatch   prometheus.Histogram
	applySeconds prometheus.Histogram
}

func newMetrics(registerer prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		registerer: registerer,
		applyBatch: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "quorate_raftstore_apply_batch_entries", Help: "Entries applied together.",
			Buckets: prometheus.ExponentialBuckets(1, 2, 11),
		}),
		applySeconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "quorate_raftstore_apply_seconds", Help: "Time to apply a batch of entries.",
			Buckets: prometheus.ExponentialBuckets(0.0001, 2, 18), // 100 µs to 13 s
		}),
	}
	return m, m.register(m.applyBatch, m.applySeconds)
}

func (m *metrics) register(collectors ...prometheus.Collector) error {
	for _, c := range collectors {
		if err := m.registerer.Register(c); err != nil {
			return fmt.Errorf("register metrics of the store: %w", err)
		}
	}
	return nil
}

// observe registers the metrics that read the store when they are collected.
func (m *metrics) observe(s *Store) error {
	value := func(name, help string, read func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, read)
	}
	return m.register(
		value("quorate_raftstore_applied_index", "Index of the last entry applied.", func() float64 { return float64(s.Applied()) }),
		value("quorate_raftstore_commit_index", "Index of the last entry known to be committed.", func() float64 { return float64(s.raft.CommitIndex()) }),
		value("quorate_raftstore_last_index", "Index of the last entry in the log.", func() float64 { return float64(s.raft.LastIndex()) }),
		value("quorate_raftstore_term", "Term that this node is in.", func() float64 { return float64(s.raft.CurrentTerm()) }),
		value("quorate_raftstore_leader", "1 while this node leads.", func() float64 { return indicator(s.IsLeader()) }),
		value("quorate_raftstore_ready", "1 while this node is ready to serve.", func() float64 { return indicator(s.Ready() == nil) }),
		value("quorate_raftstore_voters", "Voters in the latest configuration.", func() float64 { return float64(s.members.Voters()) }),
		value("quorate_raftstore_proposals", "Proposals that Raft has.", func() float64 { return float64(s.writer.Proposals()) }),
		value("quorate_raftstore_apply_waiting", "Requests waiting for entries to be applied here.", func() float64 { return float64(s.applied.Waiting()) }),
		value("quorate_raftstore_disk_free_bytes", "Space left on the disk of the data directory.", func() float64 {
			if free, known := s.space.Free(); known {
				return float64(free)
			}
			return math.NaN()
		}),
		value("quorate_raftstore_objects", "Objects stored.", func() float64 { return float64(s.root().Len()) }),
		value("quorate_raftstore_object_bytes", "Memory that the objects take.", func() float64 { return float64(s.root().Bytes()) }),
	)
}

func indicator(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
