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
			Help: "Objects taken up because their grace period was over, while this node led.",
		}),
		emptied: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_apiserver_namespace_deletions_total",
			Help: "Objects deleted because their namespace was going, while this node led.",
		}),
		outlived: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_apiserver_outlived_objects_total",
			Help: "Objects deleted because their last write was longer ago than their kind lives, while this node led.",
		}),
		terminating: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "quorate_apiserver_namespaces_terminating",
			Help: "Namespaces that are going, as the leader knows them.",
		}),
		errors: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_apiserver_lifecycle_errors_total",
			Help: "Background tasks that failed and were started again.",
		}),
	}
	reg.MustRegister(m.expired, m.emptied, m.outlived, m.terminating, m.errors)
	return m
}
