package watch

import "github.com/prometheus/client_golang/prometheus"

type metrics struct {
	events  prometheus.Counter
	cut     prometheus.Counter
	refused prometheus.Counter
}

func newMetrics(reg prometheus.Registerer, s *Streams) *metrics {
	m := &metrics{
		events: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_apiserver_watch_events_total",
			Help: "Events sent to watch streams, bookmarks included.",
		}),
		cut: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_apiserver_watch_cut_total",
			Help: "Watch streams cut because their client took nothing.",
		}),
		refused: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_apiserver_watch_refused_total",
			Help: "Watch requests refused because of the bound on open streams.",
		}),
	}
	reg.MustRegister(m.events, m.cut, m.refused, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "quorate_apiserver_watch_streams",
		Help: "Open watch streams.",
	}, func() float64 { return float64(s.Open()) }))
	return m
}
