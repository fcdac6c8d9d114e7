package write

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"quorate/proto/peerpb"
)

type metrics struct {
	writes          *prometheus.CounterVec // by outcome, on the node that the request came to
	retries         prometheus.Counter
	unsettled       prometheus.Counter
	forwardSeconds  prometheus.Histogram
	proposalSeconds prometheus.Histogram
	proposalsFull   prometheus.Counter
	abandoned       prometheus.Counter
	prechecked      prometheus.Counter
	latches         *latchMetrics
}

type latchMetrics struct {
	waits               prometheus.Counter
	waiting             prometheus.Gauge
	full                prometheus.Counter
	conflictsDelayed    prometheus.Gauge
	conflictDelay       prometheus.Histogram
	reservationsExpired prometheus.Counter
}

func counter(name, help string) prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
}

func gauge(name, help string) prometheus.Gauge {
	return prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
}

// latencies returns a histogram with buckets for waits on disks and networks: 100 µs to 13 s.
func latencies(name, help string) prometheus.Histogram {
	return prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: name, Help: help, Buckets: prometheus.ExponentialBuckets(0.0001, 2, 18),
	})
}

func newMetrics(registerer prometheus.Registerer) (*metrics, error) {
	l := newLatchMetrics()
	m := &metrics{
		latches: l,
		writes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "quorate_raftstore_writes_total",
			Help: "Writes that came to this node, by outcome.",
		}, []string{"outcome"}),
		retries:         counter("quorate_raftstore_write_retries_total", "Attempts repeated because the one before surely changed nothing."),
		unsettled:       counter("quorate_raftstore_write_unsettled_total", "Writes answered before this node had applied them."),
		forwardSeconds:  latencies("quorate_raftstore_forward_seconds", "From forwarding a write to the leader to its response."),
		proposalSeconds: latencies("quorate_raftstore_proposal_seconds", "From proposing an entry to its outcome."),
		proposalsFull:   counter("quorate_raftstore_proposals_full_total", "Writes given up because too many proposals were under way."),
		abandoned:       counter("quorate_raftstore_proposals_abandoned_total", "Writes whose deadline passed while Raft had their entry."),
		prechecked:      counter("quorate_raftstore_prechecked_total", "Writes refused by the leader's state, without a log entry."),
	}
	for _, o := range outcomes() {
		m.writes.WithLabelValues(o)
	}
	for _, c := range []prometheus.Collector{
		m.writes, m.retries, m.unsettled, m.forwardSeconds, m.proposalSeconds, m.proposalsFull, m.abandoned, m.prechecked,
		l.waits, l.waiting, l.full, l.conflictsDelayed, l.conflictDelay, l.reservationsExpired,
	} {
		if err := registerer.Register(c); err != nil {
			return nil, fmt.Errorf("register metrics of writes: %w", err)
		}
	}
	return m, nil
}

func newLatchMetrics() *latchMetrics {
	return &latchMetrics{
		waits:            counter("quorate_raftstore_latch_waits_total", "Writes that waited for another to the same object."),
		waiting:          gauge("quorate_raftstore_latch_waiting", "Writes waiting now for others to the same objects."),
		full:             counter("quorate_raftstore_latches_full_total", "Writes given up because too many waited for others to the same objects."),
		conflictsDelayed: gauge("quorate_raftstore_conflicts_delayed", "Conflicts on contended objects that are delayed now."),
		conflictDelay:    latencies("quorate_raftstore_conflict_delay_seconds", "Delay of conflicts on contended objects."),
		reservationsExpired: counter("quorate_raftstore_latch_reservations_expired_total",
			"Objects reserved for a client that did not retry its write in time."),
	}
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
