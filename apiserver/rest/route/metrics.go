package route

import (
	"slices"
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
	own      *prometheus.Registry // of requests and latency, for Totals
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
			Help: "Unknown and repeated fields of creates, updates, patches and applies, by kind and by the field validation that " +
				"the client asked for: Strict refuses them, Warn drops them with a warning, Ignore drops them. An apply always " +
				"refuses unknown ones, which do not count. At most some hundred of a body count.",
		}, []string{"kind", "validation"}),
	}
	reg.MustRegister(m.requests, m.latency, m.dropped)
	m.own = prometheus.NewRegistry()
	m.own.MustRegister(m.requests, m.latency)
	return m
}

// Series holds the metrics of one endpoint. Each appears in /metrics once it was used: most nodes
// serve few of the many pairs of verb and kind.
type Series struct {
	verb, kind string
	metrics    *Metrics
	latency    atomic.Pointer[prometheus.Observer]
	// counters are those of the codes seen, a slice that is never changed: few, so that a search
	// costs less than a map.
	counters atomic.Pointer[[]codeCounter]
}

// codeCounter is the counter of the responses with one HTTP code.
type codeCounter struct {
	code int
	prometheus.Counter
}

// Series returns the metrics for a verb and kind.
func (m *Metrics) Series(verb, kind string) *Series {
	return &Series{verb: verb, kind: kind, metrics: m}
}

// Observe records one response.
func (s *Series) Observe(code int, took time.Duration) {
	s.counter(code).Inc()
	if s.verb != VerbWatch {
		s.observer().Observe(took.Seconds())
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
	for {
		known := s.counters.Load()
		if known != nil {
			for _, c := range *known {
				if c.code == code {
					return c.Counter
				}
			}
		}
		c := codeCounter{code, s.metrics.requests.WithLabelValues(s.verb, s.kind, strconv.Itoa(code))}
		more := []codeCounter{c}
		if known != nil {
			more = append(slices.Clip(*known), c)
		}
		if s.counters.CompareAndSwap(known, &more) {
			return c.Counter
		}
	}
}

func (s *Series) observer() prometheus.Observer {
	if known := s.latency.Load(); known != nil {
		return *known
	}
	o := s.metrics.latency.WithLabelValues(s.verb, s.kind)
	s.latency.Store(&o)
	return o
}
