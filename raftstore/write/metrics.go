package write

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"

	"quorate/proto/peerpb"
	"quorate/raftstore/failure"
)

type metrics struct {
	writes          *prometheus.CounterVec // by outcome, on the node that the request came to
	retries         prometheus.Counter
	unsettled       prometheus.Counter
	forwardSeconds  prometheus.Histogram
	proposalSeconds prometheus.Histogram
	proposalsFull   prometheus.Counter
	groups          prometheus.Histogram
	abandoned       prometheus.Counter
	prechecked      prometheus.Counter
	latches         *latchMetrics
	quotas          *quotaMetrics
}

// quotaMetrics count the writes that a quota refused, on the leader.
type quotaMetrics struct{ objects, bytes prometheus.Counter }

func newQuotaMetrics(reg prometheus.Registerer) *quotaMetrics {
	refused := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "quorate_raftstore_quota_refused_total",
		Help: "Writes that this leader refused because of a quota: on the objects of a kind in a namespace, or on the bytes of the state.",
	}, []string{"quota"})
	reg.MustRegister(refused)
	return &quotaMetrics{objects: refused.WithLabelValues("objects"), bytes: refused.WithLabelValues("bytes")}
}

// refused counts a refusal; it ignores other errors.
func (m *quotaMetrics) refused(err error) {
	q, ok := errors.AsType[*failure.QuotaError](err)
	switch {
	case !ok:
	case q.Resource == "":
		m.bytes.Inc()
	default:
		m.objects.Inc()
	}
}

type latchMetrics struct {
	waits               prometheus.Counter
	waiting             prometheus.Gauge
	full                prometheus.Counter
	conflictsDelayed    prometheus.Gauge
	conflictDelay       prometheus.Histogram
	reservationsExpired prometheus.Counter
}

// latencies are the buckets for waits on disks and networks: 100 µs to 13 s.
func latencies() []float64 { return prometheus.ExponentialBuckets(0.0001, 2, 18) }

func newMetrics(reg prometheus.Registerer) *metrics {
	m := &metrics{
		writes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "quorate_raftstore_writes_total",
			Help: "Writes received by this node, by outcome.",
		}, []string{"outcome"}),
		retries: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_raftstore_write_retries_total",
			Help: "Attempts repeated because the previous one was certainly not applied.",
		}),
		unsettled: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_raftstore_write_unsettled_total",
			Help: "Writes whose response was sent before this node had applied them.",
		}),
		forwardSeconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "quorate_raftstore_forward_seconds",
			Help:    "Time from forwarding a write to the leader to its response.",
			Buckets: latencies(),
		}),
		proposalSeconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "quorate_raftstore_proposal_seconds",
			Help:    "Time from proposing an entry to its outcome.",
			Buckets: latencies(),
		}),
		proposalsFull: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_raftstore_proposals_full_total",
			Help: "Writes that failed because too many proposals were pending.",
		}),
		groups: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "quorate_raftstore_proposal_group_size",
			Help:    "Proposals that this leader gave to Raft at once: one, or under load those that arrived while others were under way and shortly after, 64 at most.",
			Buckets: prometheus.ExponentialBuckets(1, 2, 7),
		}),
		abandoned: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_raftstore_proposals_abandoned_total",
			Help: "Writes whose deadline passed before the outcome of their entry was known.",
		}),
		prechecked: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_raftstore_prechecked_total",
			Help: "Writes that the leader refused by its state, without a log entry.",
		}),
		latches: newLatchMetrics(reg),
		quotas:  newQuotaMetrics(reg),
	}
	for _, o := range outcomes() {
		m.writes.WithLabelValues(o)
	}
	reg.MustRegister(m.writes, m.retries, m.unsettled, m.forwardSeconds, m.proposalSeconds, m.proposalsFull, m.groups, m.abandoned, m.prechecked)
	return m
}

func registerPending(reg prometheus.Registerer, pending func() float64) {
	reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "quorate_raftstore_proposals_pending",
		Help: "Proposals of this leader whose outcome is not decided.",
	}, pending))
}

func (m *metrics) observeGroup(proposals int) { m.groups.Observe(float64(proposals)) }

func newLatchMetrics(reg prometheus.Registerer) *latchMetrics {
	m := &latchMetrics{
		waits: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_raftstore_latch_waits_total",
			Help: "Writes that waited for another write to the same object.",
		}),
		waiting: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "quorate_raftstore_latch_waiting",
			Help: "Writes waiting for others to the same objects.",
		}),
		full: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_raftstore_latches_full_total",
			Help: "Writes that failed because too many waited for others to the same objects.",
		}),
		conflictsDelayed: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "quorate_raftstore_conflicts_delayed",
			Help: "Conflicts on contended objects that are being delayed.",
		}),
		conflictDelay: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "quorate_raftstore_conflict_delay_seconds",
			Help:    "Delay of conflicts on contended objects.",
			Buckets: latencies(),
		}),
		reservationsExpired: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_raftstore_latch_reservations_expired_total",
			Help: "Objects reserved for a client that did not retry its write in time.",
		}),
	}
	reg.MustRegister(m.waits, m.waiting, m.full, m.conflictsDelayed, m.conflictDelay, m.reservationsExpired)
	return m
}

// outcomes returns the values of the label "outcome".
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
