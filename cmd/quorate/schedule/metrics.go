package schedule

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"quorate/raftstore"
)

// metrics describes the backups. The series appear on their first use.
type metrics struct {
	bytes, duration *prometheus.GaugeVec // of the last backup that this node wrote
	failures        *prometheus.CounterVec
}

func newMetrics(reg prometheus.Registerer, s *Scheduler) *metrics {
	m := &metrics{
		bytes: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "quorate_backup_last_bytes", Help: "Size of the last scheduled backup that this node wrote.",
		}, nil),
		duration: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "quorate_backup_last_duration_seconds", Help: "Time that this node took to write and verify its last scheduled backup.",
		}, nil),
		failures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "quorate_backup_failures_total", Help: "Failed attempts of this node at scheduled backups, by reason.",
		}, []string{"reason"}),
	}
	reg.MustRegister(m.bytes, m.duration, m.failures, &recorded{
		scheduler: s,
		last: prometheus.NewDesc("quorate_backup_last_timestamp_seconds",
			"When the last scheduled backup of the cluster was taken; before the first one, since when backups are scheduled.", nil, nil),
		due: prometheus.NewDesc("quorate_backup_due_timestamp_seconds",
			"The first scheduled time after the last scheduled backup of the cluster: in the past if a backup is overdue.", nil, nil),
	})
	return m
}

// recorded collects what the record says, which is the same on all nodes and survives a change of
// leader.
type recorded struct {
	scheduler *Scheduler
	last, due *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (r *recorded) Describe(descs chan<- *prometheus.Desc) { descs <- r.last; descs <- r.due }

// Collect implements prometheus.Collector.
func (r *recorded) Collect(values chan<- prometheus.Metric) {
	s := r.scheduler
	now, err := s.readRecord(context.Background(), raftstore.Cached()) // does not wait
	if err != nil || now.object == nil {
		return
	}
	values <- prometheus.MustNewConstMetric(r.last, prometheus.GaugeValue, float64(now.taken.UnixMilli())/1000)
	if next := s.cfg.Schedule.Next(now.scheduled); !next.IsZero() {
		values <- prometheus.MustNewConstMetric(r.due, prometheus.GaugeValue, float64(next.Unix()))
	}
}
