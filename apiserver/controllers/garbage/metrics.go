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
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Name: "quorate_apiserver_garbage_" + name, Help: help})
	}
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: "quorate_apiserver_garbage_" + name, Help: help})
	}
	m := &metrics{
		queue:      gauge("queue_objects", "Objects that the garbage collector has to look at, on the leader."),
		dependents: gauge("dependents", "Objects with owners that the garbage collector knows, on the leader."),
		waiting:    gauge("waiting_owners", "Owners that wait for their dependents, as the leader knows them."),
		deleted:    counter("deleted_total", "Objects deleted because their owners were gone or going, while this node led."),
		orphaned:   counter("orphaned_total", "Objects that were made to forget owners, while this node led."),
		released:   counter("released_total", "Owners whose finalizer was taken off when it was served, while this node led."),
		errors:     counter("errors_total", "Writes and runs of the garbage collector that failed and were tried again."),
	}
	reg.MustRegister(m.queue, m.dependents, m.waiting, m.deleted, m.orphaned, m.released, m.errors)
	return m
}

// clear leaves to the next leader what only the leader knows.
func (m *metrics) clear() {
	m.queue.Set(0)
	m.dependents.Set(0)
	m.waiting.Set(0)
}
