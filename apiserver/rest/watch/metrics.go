package watch

import "github.com/prometheus/client_golang/prometheus"

type metrics struct {
	events   prometheus.Counter
	cut      prometheus.Counter
	refused  prometheus.Counter
	idle     prometheus.Gauge
	returned prometheus.Counter
	cache    cacheMetrics
}

type cacheMetrics struct{ encoded, hits, full prometheus.Counter }

func newMetrics(reg prometheus.Registerer, s *Streams) *metrics {
	m := &metrics{
		events: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_apiserver_watch_events_total",
			Help: "Events sent to watch streams, bookmarks included.",
		}),
		cut: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_apiserver_watch_cut_total",
			Help: "Watch streams cut off because their client read nothing.",
		}),
		refused: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_apiserver_watch_refused_total",
			Help: "Watch requests refused because of the bound on open streams.",
		}),
		idle: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "quorate_apiserver_watch_idle",
			Help: "Idle HTTP/2 watch streams. One of each connection and resource waits for changes on behalf of the others.",
		}),
		returned: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_apiserver_watch_returned_total",
			Help: "Batches that an idle stream's own goroutine had to send: too large, or the client had not read the batch before.",
		}),
		cache: cacheMetrics{
			encoded: prometheus.NewCounter(prometheus.CounterOpts{
				Name: "quorate_apiserver_watch_encoded_total",
				Help: "Changes encoded for watch streams that do not send the stored JSON.",
			}),
			hits: prometheus.NewCounter(prometheus.CounterOpts{
				Name: "quorate_apiserver_watch_encoded_reused_total",
				Help: "Encoded changes that were sent again from the cache.",
			}),
			full: prometheus.NewCounter(prometheus.CounterOpts{
				Name: "quorate_apiserver_watch_encoded_full_total",
				Help: "Encoded changes that were not cached because the cache was full.",
			}),
		},
	}
	reg.MustRegister(m.cache.encoded, m.cache.hits, m.cache.full, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "quorate_apiserver_watch_encoded_bytes",
		Help: "Size of the cache of encoded changes.",
	}, func() float64 { return float64(s.cache.bytes.Load()) }))
	reg.MustRegister(m.events, m.cut, m.refused, m.idle, m.returned, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "quorate_apiserver_watch_streams",
		Help: "Open watch streams.",
	}, func() float64 { return float64(s.Open()) }))
	return m
}
