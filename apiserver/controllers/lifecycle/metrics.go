package lifecycle

import "github.com/prometheus/client_golang/prometheus"

type metrics struct {
	expired     prometheus.Counter
	emptied     prometheus.Counter
	outlived    prometheus.Counter
	terminating prometheus.Gauge
	errors      prometheus.Counter
}

func newMetrics(reg prometheus.Registerer) *metrics {
	m := &metrics{
		expired: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_apiserver_expired_objects_total",
			Help: "Objects removed, or marked for their finalizers, because their grace period had ended, while this node led.",
		}),
		emptied: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_apiserver_namespace_deletions_total",
			Help: "Objects deleted because their namespace was being deleted, while this node led.",
		}),
		outlived: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_apiserver_outlived_objects_total",
			Help: "Objects deleted because their time to live had passed since their last write, while this node led.",
		}),
		terminating: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "quorate_apiserver_namespaces_terminating",
			Help: "Namespaces that are being deleted, on the leader.",
		}),
		errors: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_apiserver_lifecycle_errors_total",
			Help: "Failures of background tasks, which are restarted.",
		}),
	}
	reg.MustRegister(m.expired, m.emptied, m.outlived, m.terminating, m.errors)
	return m
}
