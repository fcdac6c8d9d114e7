package watch

import "github.com/prometheus/client_golang/prometheus"

type metrics struct {
	events   prometheus.Counter
	cut      prometheus.Counter
	refused  prometheus.Counter
	riding   prometheus.Gauge
	returned prometheus.Counter
	shared   sharedMetrics
}

type sharedMetrics struct{ made, reused, full prometheus.Counter }

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
		riding: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "quorate_apiserver_watch_riding",
			Help: "Watch streams with nothing to send, of which one of each connection and resource waits for changes for the others.",
		}),
		returned: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_apiserver_watch_returned_total",
			Help: "Changes that such a stream had to send by itself: too large a piece, or its client had not taken what came before.",
		}),
		shared: sharedMetrics{
			made: prometheus.NewCounter(prometheus.CounterOpts{
				Name: "quorate_apiserver_watch_encoded_total",
				Help: "Changes encoded for watch streams of other forms than the stored one.",
			}),
			reused: prometheus.NewCounter(prometheus.CounterOpts{
				Name: "quorate_apiserver_watch_encoded_reused_total",
				Help: "Changes sent in such a form that had been encoded for another stream.",
			}),
			full: prometheus.NewCounter(prometheus.CounterOpts{
				Name: "quorate_apiserver_watch_encoded_full_total",
				Help: "Changes so encoded that were not kept for other streams because of the bound on bytes.",
			}),
		},
	}
	reg.MustRegister(m.shared.made, m.shared.reused, m.shared.full, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "quorate_apiserver_watch_encoded_bytes",
		Help: "Memory taken by changes kept so encoded for watch streams.",
	}, func() float64 { return float64(s.shared.bytes.Load()) }))
	reg.MustRegister(m.events, m.cut, m.refused, m.riding, m.returned, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "quorate_apiserver_watch_streams",
		Help: "Open watch streams.",
	}, func() float64 { return float64(s.Open()) }))
	return m
}
