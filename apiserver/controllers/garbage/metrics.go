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
			Help: "Objects in the queue of the garbage collector, on the leader.",
		}),
		dependents: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "quorate_apiserver_garbage_dependents",
			Help: "Objects with owner references in the graph of the garbage collector, on the leader.",
		}),
		waiting: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "quorate_apiserver_garbage_waiting_owners",
			Help: "Deleted owners that wait for their dependents, on the leader.",
		}),
		deleted: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_apiserver_garbage_deleted_total",
			Help: "Objects deleted because their owners were deleted, while this node led.",
		}),
		orphaned: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_apiserver_garbage_orphaned_total",
			Help: "Objects whose references to deleted owners were removed, while this node led.",
		}),
		released: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_apiserver_garbage_released_total",
			Help: "Finalizers of owners removed after their dependents were handled, while this node led.",
		}),
		errors: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_apiserver_garbage_errors_total",
			Help: "Failed writes and runs of the garbage collector, which it retries.",
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
