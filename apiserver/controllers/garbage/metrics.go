package garbage

import "github.com/prometheus/client_golang/prometheus"

type metrics struct {
	queue      prometheus.Gauge
	dependents prometheus.Gauge
	waiting    prometheus.Gauge
	deleted    prometheus.Counter
	orphaned   prometheus.Counter
	released   prometheus.Counter
	errors     prometheus.Counter
}

func newMetrics(reg prometheus.Registerer) *metrics {
	m := &metrics{
		queue: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "quorate_apiserver_garbage_queue_objects",
			Help: "Objects that the garbage collector has to look at, on the leader.",
		}),
		dependents: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "quorate_apiserver_garbage_dependents",
			Help: "Objects with owners that the garbage collector knows, on the leader.",
		}),
		waiting: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "quorate_apiserver_garbage_waiting_owners",
			Help: "Owners that wait for their dependents, as the leader knows them.",
		}),
		deleted: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_apiserver_garbage_deleted_total",
			Help: "Objects deleted because their owners were gone or going, while this node led.",
		}),
		orphaned: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_apiserver_garbage_orphaned_total",
			Help: "Objects that were made to forget owners, while this node led.",
		}),
		released: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_apiserver_garbage_released_total",
			Help: "Owners whose finalizer was taken off when it was served, while this node led.",
		}),
		errors: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_apiserver_garbage_errors_total",
			Help: "Writes and runs of the garbage collector that failed and were tried again.",
		}),
	}
	reg.MustRegister(m.queue, m.dependents, m.waiting, m.deleted, m.orphaned, m.released, m.errors)
	return m
}

// clear resets the leader's gauges when this node stops leading.
func (m *metrics) clear() {
	m.queue.Set(0)
	m.dependents.Set(0)
	m.waiting.Set(0)
}
