package snapshotrpc

import "github.com/prometheus/client_golang/prometheus"

// The reasons for which transfers break and are refused: values of the label "reason".
const (
	brokenConnection = "connection" // it broke, or the follower's process ended
	brokenStalled    = "stalled"    // the follower took nothing for too long

	refusedSender     = "sender"     // not the leader that this node follows
	refusedMessage    = "message"    // against the protocol, or beyond its bounds
	refusedSpace      = "space"      // the disk has none
	refusedDamaged    = "damaged"    // the bytes do not match their checksum
	refusedSuperseded = "superseded" // another transfer has begun
	refusedStalled    = "stalled"    // nothing arrived for too long
)

// senderMetrics are those of the leader's side.
type senderMetrics struct {
	sends        prometheus.Gauge
	sentBytes    prometheus.Counter
	resumedBytes prometheus.Counter
	waiting      prometheus.Gauge
	waitSeconds  prometheus.Counter
	broken       *prometheus.CounterVec
	givenUp      prometheus.Counter
}

func newSenderMetrics(reg prometheus.Registerer) *senderMetrics {
	m := &senderMetrics{
		sends: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "quorate_raftstore_snapshot_sends", Help: "Snapshots that this node is sending to followers.",
		}),
		sentBytes: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_raftstore_snapshot_sent_bytes_total", Help: "Bytes of snapshots sent to followers.",
		}),
		resumedBytes: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_raftstore_snapshot_resumed_bytes_total",
			Help: "Bytes of snapshots that followers still had from a transfer that broke, and that were not sent again.",
		}),
		waiting: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "quorate_raftstore_snapshot_sends_waiting", Help: "Transfers of snapshots that wait for the bound on their rate.",
		}),
		waitSeconds: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_raftstore_snapshot_send_wait_seconds_total",
			Help: "Time that transfers of snapshots have waited for the bound on their rate.",
		}),
		broken: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "quorate_raftstore_snapshot_sends_broken_total", Help: "Transfers of snapshots that broke, by reason.",
		}, []string{"reason"}),
		givenUp: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_raftstore_snapshot_sends_given_up_total",
			Help: "Transfers of snapshots that broke and were not continued at once: the follower did not return in time, or refused.",
		}),
	}
	for _, reason := range []string{brokenConnection, brokenStalled} {
		m.broken.WithLabelValues(reason)
	}
	reg.MustRegister(m.sends, m.sentBytes, m.resumedBytes, m.waiting, m.waitSeconds, m.broken, m.givenUp)
	return m
}

// receiverMetrics are those of the follower's side.
type receiverMetrics struct {
	receivedBytes prometheus.Counter
	refused       *prometheus.CounterVec
}

func newReceiverMetrics(reg prometheus.Registerer) *receiverMetrics {
	m := &receiverMetrics{
		receivedBytes: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_raftstore_snapshot_received_bytes_total", Help: "Bytes of snapshots received from leaders.",
		}),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "quorate_raftstore_snapshot_receives_refused_total",
			Help: "Transfers of snapshots that this node refused or ended, by reason.",
		}, []string{"reason"}),
	}
	for _, reason := range []string{refusedSender, refusedMessage, refusedSpace, refusedDamaged, refusedSuperseded, refusedStalled} {
		m.refused.WithLabelValues(reason)
	}
	reg.MustRegister(m.receivedBytes, m.refused)
	return m
}
