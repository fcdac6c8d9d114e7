package raftstore

import (
	"fmt"
	"math"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"quorate/proto/peerpb"
)

// metrics of this package. Those of log, snapshots, history and retained states are beside their code.
type metrics struct {
	registerer prometheus.Registerer

	writes              *prometheus.CounterVec // by outcome, on the node that the request came to
	proposalSeconds     prometheus.Histogram
	proposalsFull       prometheus.Counter
	abandoned           prometheus.Counter
	prechecked          prometheus.Counter
	retries             prometheus.Counter
	unsettled           prometheus.Counter
	forwarded           prometheus.Histogram
	latchWaits          prometheus.Counter
	latchWaiting        prometheus.Gauge
	latchesFull         prometheus.Counter
	conflictsDelayed    prometheus.Gauge
	conflictDelay       prometheus.Histogram
	reservationsExpired prometheus.Counter

	applyBatch   prometheus.Histogram
	applySeconds prometheus.Histogram

	comparisons *prometheus.CounterVec // by result
	diverged    prometheus.Gauge
}

func counter(name, help string) prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{Name: "quorate_raftstore_" + name, Help: help})
}

func gauge(name, help string) prometheus.Gauge {
	return prometheus.NewGauge(prometheus.GaugeOpts{Name: "quorate_raftstore_" + name, Help: help})
}

func histogram(name, help string, buckets []float64) prometheus.Histogram {
	return prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "quorate_raftstore_" + name, Help: help, Buckets: buckets,
	})
}

// latencies are the buckets for waits on disks and networks: 100 µs to 13 s.
func latencies() []float64 { return prometheus.ExponentialBuckets(0.0001, 2, 18) }

// sizes are the buckets for numbers of things handled together.
func sizes() []float64 { return prometheus.ExponentialBuckets(1, 2, 11) }

func newMetrics(registerer prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		registerer: registerer,
		writes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "quorate_raftstore_writes_total",
			Help: "Writes that this node took in, by what became of them.",
		}, []string{"outcome"}),
		proposalSeconds:     histogram("proposal_seconds", "From proposing an entry to its outcome.", latencies()),
		proposalsFull:       counter("proposals_full_total", "Writes given up because too many proposals were under way."),
		abandoned:           counter("proposals_abandoned_total", "Writes whose deadline passed with the entry in Raft's hands."),
		prechecked:          counter("prechecked_total", "Writes refused by the leader's state, without a log entry."),
		retries:             counter("write_retries_total", "Attempts repeated because the one before surely changed nothing."),
		unsettled:           counter("write_unsettled_total", "Writes answered before this node had applied them."),
		forwarded:           histogram("forward_seconds", "Writes handed to the leader and answered.", latencies()),
		latchWaits:          counter("latch_waits_total", "Writes that waited for another to the same object."),
		latchWaiting:        gauge("latch_waiting", "Writes waiting now for others to the same objects."),
		latchesFull:         counter("latches_full_total", "Writes given up because too many waited for others to the same objects."),
		conflictsDelayed:    gauge("conflicts_delayed", "Conflicts on contended objects that are delayed now."),
		conflictDelay:       histogram("conflict_delay_seconds", "Delay of conflicts on contended objects.", latencies()),
		reservationsExpired: counter("latch_reservations_expired_total", "Objects reserved for a client that did not retry its write in time."),
		applyBatch:          histogram("apply_batch_entries", "Entries applied together.", sizes()),
		applySeconds:        histogram("apply_seconds", "Time to apply a batch of entries.", latencies()),
		comparisons: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "quorate_raftstore_checksum_comparisons_total",
			Help: "Comparisons of all nodes' states that this node made as leader, by result.",
		}, []string{"result"}),
		diverged: gauge("diverged_nodes", "Nodes whose state is another than that of most, by this leader's last comparison."),
	}
	for _, o := range outcomes() {
		m.writes.WithLabelValues(o)
	}
	for _, result := range []string{"equal", "diverged", "failed"} {
		m.comparisons.WithLabelValues(result)
	}
	return m, m.register(
		m.comparisons, m.diverged, m.writes, m.proposalSeconds, m.proposalsFull, m.abandoned, m.prechecked, m.retries, m.unsettled, m.forwarded,
		m.latchWaits, m.latchWaiting, m.latchesFull, m.conflictsDelayed, m.conflictDelay, m.reservationsExpired, m.applyBatch, m.applySeconds,
	)
}

func (m *metrics) register(collectors ...prometheus.Collector) error {
	for _, c := range collectors {
		if err := m.registerer.Register(c); err != nil {
			return fmt.Errorf("register metrics of the store: %w", err)
		}
	}
	return nil
}

// observe registers what is read from the store when it is asked for.
func (m *metrics) observe(s *Store) error {
	value := func(name, help string, read func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "quorate_raftstore_" + name, Help: help}, read)
	}
	return m.register(
		value("applied_index", "Index of the last entry applied.", func() float64 { return float64(s.Applied()) }),
		value("commit_index", "Index of the last entry known to be committed.", func() float64 { return float64(s.raft.CommitIndex()) }),
		value("last_index", "Index of the last entry in the log.", func() float64 { return float64(s.raft.LastIndex()) }),
		value("term", "Term that this node is in.", func() float64 { return float64(s.raft.CurrentTerm()) }),
		value("leader", "1 while this node leads.", func() float64 { return indicator(s.IsLeader()) }),
		value("ready", "1 while this node is ready to serve.", func() float64 { return indicator(s.Ready() == nil) }),
		value("voters", "Voters in the latest configuration.", func() float64 { return float64(s.members.Voters()) }),
		value("proposals", "Proposals in Raft's hands.", func() float64 { return float64(len(s.slots)) }),
		value("apply_waiting", "Requests waiting for entries to be applied here.", func() float64 { return float64(s.applied.Waiting()) }),
		value("disk_free_bytes", "Space left on the disk of the data directory.", func() float64 {
			if free, known := s.space.Free(); known {
				return float64(free)
			}
			return math.NaN()
		}),
		value("objects", "Objects stored.", func() float64 { return float64(s.root().Len()) }),
		value("object_bytes", "Memory that the objects take.", func() float64 { return float64(s.root().Bytes()) }),
	)
}

func indicator(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// outcomes are the values of the label "outcome".
func outcomes() []string { return []string{"applied", "refused", "not_applied", "unknown"} }

func (m *metrics) outcome(r result) {
	label := "not_applied"
	switch r.outcome {
	case peerpb.Outcome_APPLIED:
		label = "applied"
	case peerpb.Outcome_REFUSED:
		label = "refused"
	case peerpb.Outcome_UNKNOWN:
		label = "unknown"
	}
	m.writes.WithLabelValues(label).Inc()
}

func (m *metrics) proposed(took time.Duration) { m.proposalSeconds.Observe(took.Seconds()) }
