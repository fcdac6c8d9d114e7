package apiserver

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"quorate/apiserver/access/budget"
	"quorate/apiserver/limit"
)

// metrics are those of the handler as a whole; route.Metrics are those of single endpoints.
type metrics struct {
	sent     prometheus.Counter
	panics   prometheus.Counter
	unmapped prometheus.Counter
	limits   *prometheus.CounterVec
	stuck    prometheus.Counter
	unkept   prometheus.Counter
	reloads  *prometheus.CounterVec

	crossOrigin  prometheus.Counter
	requestRate  prometheus.Counter // of limits, like the next one
	authFailures prometheus.Counter
	reached      map[limit.Name]prometheus.Counter // of limits, by bound
}

func newMetrics(reg prometheus.Registerer) *metrics {
	m := &metrics{
		sent: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_apiserver_sent_bytes_total",
			Help: "Bytes of answers, before TLS; watch streams count when they end.",
		}),
		panics: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_apiserver_panics_total",
			Help: "Requests whose handler panicked. A bug each.",
		}),
		unmapped: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_apiserver_unmapped_errors_total",
			Help: "Errors that have no Status of their own and were answered with 500. A bug each.",
		}),
		limits: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "quorate_apiserver_limit_hits_total",
			Help: "Requests refused, broken off, or answered without all causes because a bound was reached, by bound.",
		}, []string{"limit"}),
		stuck: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_apiserver_stuck_connections_total",
			Help: "Connections closed because their client took nothing.",
		}),
		unkept: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_apiserver_lists_unkept_total",
			Help: "Lists in protobuf that were encoded twice because of the bound on bytes kept of all lists.",
		}),
		reloads: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "quorate_apiserver_file_reloads_total",
			Help: "Changes of files of settings that were read, by file (tokens, audit-policy, fairness) and result: " +
				"a refused version changes nothing.",
		}, []string{"file", "result"}),
		crossOrigin: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_apiserver_cross_origin_refusals_total",
			Help: "Writes refused because a browser sent them with a client certificate for a page of another origin.",
		}),
	}
	m.requestRate = m.limits.WithLabelValues("request-rate-per-user")
	m.authFailures = m.limits.WithLabelValues("auth-failures-per-address")
	m.reached = make(map[limit.Name]prometheus.Counter)
	for _, name := range limit.All() {
		m.reached[name] = m.limits.WithLabelValues(string(name))
	}
	reg.MustRegister(m.sent, m.panics, m.unmapped, m.limits, m.stuck, m.unkept, m.reloads, m.crossOrigin)
	return m
}

// refusals returns a function for budget.Config.Refused that counts the refusals of a pool by
// bound. The parameter of names what the pool bounds. It is the label of the metric, with the
// suffix -per-user or -per-address for the bounds of one user or address. Bounds that are 0 in cfg
// get no series.
func (m *metrics) refusals(of string, cfg budget.Config) func(budget.Bound) {
	counters := make(map[budget.Bound]prometheus.Counter)
	for _, b := range []struct {
		bound budget.Bound
		limit int64
		label string
	}{
		{budget.Total, cfg.Total, of}, {budget.User, cfg.PerUser, of + "-per-user"}, {budget.Address, cfg.PerAddress, of + "-per-address"},
	} {
		if b.limit > 0 {
			counters[b.bound] = m.limits.WithLabelValues(b.label)
		}
	}
	return func(b budget.Bound) { counters[b].Inc() }
}

// queueRefusals is refusals for a queue, which has waiters: users or addresses, as per says.
func (m *metrics) queueRefusals(of, per string) func(budget.Bound) {
	counters := map[budget.Bound]prometheus.Counter{
		budget.Total:   m.limits.WithLabelValues(of),
		budget.User:    m.limits.WithLabelValues(of + "-per-" + per),
		budget.Waiting: m.limits.WithLabelValues(of + "-waited"),
	}
	return func(b budget.Bound) { counters[b].Inc() }
}

// watchHandler registers gauges of the requests in progress.
func (m *metrics) watchHandler(reg prometheus.Registerer, h *handler) {
	inFlight := func(class string, n *atomic.Int64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name:        "quorate_apiserver_requests_in_flight",
			Help:        "Requests under way, by class, those that wait for seats included; watches are counted apart.",
			ConstLabels: prometheus.Labels{"class": class},
		}, func() float64 { return float64(n.Load()) })
	}
	reg.MustRegister(inFlight("read", &h.seats.reads), inFlight("write", &h.seats.writes),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "quorate_apiserver_token_cache_flushes_total",
			Help: "Times that the cache of verified tokens was full and was cleared.",
		}, func() float64 { return float64(h.authenticator.Flushes()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "quorate_apiserver_answer_bytes",
			Help: "Memory of answers that may wait for their clients.",
		}, func() float64 { return float64(h.services.Answers.Used()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "quorate_apiserver_body_bytes",
			Help: "Memory taken by request bodies under way.",
		}, func() float64 { return float64(h.services.Bodies.Used()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "quorate_apiserver_decoding_bytes",
			Help: "Memory reserved for what bodies under way expand to when they are decoded.",
		}, func() float64 { return float64(h.services.Decodings.Used()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "quorate_apiserver_decodings_waiting",
			Help: "Requests that wait for memory to decode their body.",
		}, func() float64 { return float64(h.services.Decodings.Waiters()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "quorate_apiserver_encoded_bytes",
			Help: "Memory taken by lists kept encoded in protobuf until they are sent.",
		}, func() float64 { return float64(h.services.Encoded.Used()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "quorate_apiserver_watch_selector_bytes",
			Help: "Memory taken by the selectors of open watches, equal ones counted once.",
		}, func() float64 { return float64(h.selectorBytes.Used()) }))
}

func (m *metrics) watchConnections(reg prometheus.Registerer, c *connections) {
	reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "quorate_apiserver_connections",
		Help: "Open connections of clients.",
	}, func() float64 { return float64(c.count()) }), prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "quorate_apiserver_handshakes_waiting",
		Help: "Connections whose TLS handshake waits for a processor.",
	}, func() float64 { return float64(c.handshakes.Waiters()) }))
}
