package rbac

import "github.com/prometheus/client_golang/prometheus"

type metrics struct{ escalations, uncompared, errors, cutRules prometheus.Counter }

func newMetrics(reg prometheus.Registerer, e *Evaluator) *metrics {
	m := &metrics{
		escalations: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_apiserver_rbac_escalations_total",
			Help: "Writes of roles and bindings that were refused because they grant more than the writer may grant.",
		}),
		uncompared: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_apiserver_rbac_uncompared_total",
			Help: "Those of them with more combinations of verbs, resources and names than are compared with the writer's.",
		}),
		errors: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_apiserver_rbac_errors_total",
			Help: "Failures to follow roles and bindings or to create the built-in ones, which are retried.",
		}),
		cutRules: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_apiserver_rbac_cut_reviews_total",
			Help: "Reviews of rules that were marked as incomplete because there are too many rules.",
		}),
	}
	reg.MustRegister(m.escalations, m.uncompared, m.errors, m.cutRules, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "quorate_apiserver_rbac_roles",
		Help: "Roles in the index that requests are authorized with.",
	}, e.count(func(x *index) int { return x.roleCount })), prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "quorate_apiserver_rbac_bindings",
		Help: "Bindings in the index that requests are authorized with.",
	}, e.count(func(x *index) int { return x.bindingCount })))
	return m
}

// count returns a function for a gauge of the current index. Without an index, the gauge is 0.
func (e *Evaluator) count(of func(x *index) int) func() float64 {
	return func() float64 {
		if x := e.current.Load(); x != nil {
			return float64(of(x))
		}
		return 0
	}
}
