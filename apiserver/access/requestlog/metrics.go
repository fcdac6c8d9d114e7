package requestlog

import "github.com/prometheus/client_golang/prometheus"

// metrics are those of a request log.
type metrics struct{ leftOut prometheus.Counter }

func newMetrics(reg prometheus.Registerer) *metrics {
	m := &metrics{leftOut: prometheus.NewCounter(prometheus.CounterOpts{
		Name: "quorate_apiserver_request_log_left_out_total",
		Help: "Refused requests without a line in the log of requests, because their user caused too many.",
	})}
	reg.MustRegister(m.leftOut)
	return m
}
