package rbac

import "github.com/prometheus/client_golang/prometheus"

type metrics struct{ escalations, errors prometheus.Counter }

func newMetrics(reg prometheus.Registerer, e *Evaluator) *metrics {
	m := &metrics{
		escalations: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_apiserver_rbac_escalations_total",
			Help: "Writes of roles and bindings that were refused, as they grant what the writer may not.",
		}),
		errors: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_apiserver_rbac_errors_total",
			Help: "Failures to follow roles and bindings, or to make the built-in ones; all are tried again.",
		}),
	}
	gauge := func(name, help string, count func(x *index) int) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "quorate_apiserver_rbac_" + name, Help: help}, func() float64 {
			if x := e.current.Load(); x != nil {
				return float64(count(x))
			}
			return 0
		})
	}
	reg.MustRegister(m.escalations, m.errors,
		gauge("roles", "Roles that requests are decided by.", func(x *index) int { return x.roleCount }),
		gauge("bindings", "Bindings that requests are decided by.", func(x *index) int { return x.bindingCount }))
	return m
}
