package fairness

import "github.com/prometheus/client_golang/prometheus"

// The reasons of refusals: the values of the label "reason".
const (
	reasonFull = "queue_full"
	reasonTime = "time"
)

type metrics struct {
	waited  *prometheus.HistogramVec
	refused *prometheus.CounterVec
	lost    prometheus.Counter
}

func newMetrics(reg prometheus.Registerer) *metrics {
	m := &metrics{
		waited: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "quorate_apiserver_fairness_wait_seconds",
			Help:    "Time that requests waited for seats, of those that had to, by priority level.",
			Buckets: []float64{.0001, .0005, .001, .005, .01, .05, .1, .5, 1, 5, 10, 60},
		}, []string{"level"}),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "quorate_apiserver_fairness_refused_total",
			Help: "Requests refused because their queue was full or because of the time they waited, by priority level.",
		}, []string{"level", "reason"}),
		lost: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_apiserver_fairness_seats_lost_total",
			Help: "Times that a request lost its seats because it waited for its client.",
		}),
	}
	reg.MustRegister(m.waited, m.refused, m.lost)
	return m
}

// watch registers the gauges of a level, which holds them.
func (m *metrics) watch(reg prometheus.Registerer, l *level) {
	level := prometheus.Labels{"level": l.config.Name}
	l.gauges = []prometheus.Collector{
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "quorate_apiserver_fairness_seats", Help: "Seats of a priority level.", ConstLabels: level,
		}, func() float64 { return float64(l.seats) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "quorate_apiserver_fairness_seats_in_use", Help: "Seats in use of a priority level.", ConstLabels: level,
		}, func() float64 { inUse, _ := l.load(); return float64(inUse) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "quorate_apiserver_fairness_queued", Help: "Requests that wait for seats of a priority level.", ConstLabels: level,
		}, func() float64 { _, waiting := l.load(); return float64(waiting) }),
	}
	reg.MustRegister(l.gauges...)
}
