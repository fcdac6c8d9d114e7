package route

import (
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics counts requests and measures their latency by verb and kind. It counts the fields of
// their bodies that no kind has.
type Metrics struct {
	requests *prometheus.CounterVec
	latency  *prometheus.HistogramVec
	dropped  *prometheus.CounterVec
}

// NewMetrics registers the metrics of requests.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "quorate_apiserver_requests_total",
			Help: "Requests answered, by verb, kind and HTTP code.",
		}, []string{"verb", "kind", "code"}),
		latency: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "quorate_apiserver_request_duration_seconds",
			Help:    "Time from the header of a request to the end of its response, except for watches.",
			Buckets: []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60},
		}, []string{"verb", "kind"}),
		dropped: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "quorate_apiserver_fields_dropped_total",
			Help: "Unknown and repeated fields of request bodies, by kind and by the field validation that the client asked for: " +
				"Strict refuses them, Warn drops them with a warning, Ignore drops them. At most 100 of a body count.",
		}, []string{"kind", "validation"}),
	}
	reg.MustRegister(m.requests, m.latency, m.dropped)
	return m
}

// maxCode limits the codes whose counters are cached.
const maxCode = 600

// Series holds the metrics of one endpoint. It looks up the counter of each code once.
type Series struct {
	verb, kind string
	metrics    *Metrics
	latency    prometheus.Observer
	byCode     [maxCode]atomic.Pointer[prometheus.Counter]
}

// Series returns the metrics for a verb and kind.
func (m *Metrics) Series(verb, kind string) *Series {
	return &Series{verb: verb, kind: kind, metrics: m, latency: m.latency.WithLabelValues(verb, kind)}
}

// Observe records one response.
func (s *Series) Observe(code int, took time.Duration) {
	s.counter(code).Inc()
	if s.verb != VerbWatch {
		s.latency.Observe(took.Seconds())
	}
}

// ObserveDropped records n fields of a request body that the kind does not have. A nil Series, that
// of an endpoint outside of a server, records nothing.
func (s *Series) ObserveDropped(n int, validation string) {
	if s == nil {
		return
	}
	s.metrics.dropped.WithLabelValues(s.kind, validation).Add(float64(n))
}

func (s *Series) counter(code int) prometheus.Counter {
	if code < 0 || code >= maxCode {
		code = 0
	}
	if known := s.byCode[code].Load(); known != nil {
		return *known
	}
	c := s.metrics.requests.WithLabelValues(s.verb, s.kind, strconv.Itoa(code))
	s.byCode[code].Store(&c)
	return c
}
