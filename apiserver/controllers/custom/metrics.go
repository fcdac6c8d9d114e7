package custom

import "github.com/prometheus/client_golang/prometheus"

type metrics struct{ removed, errors prometheus.Counter }

func newMetrics(reg prometheus.Registerer, s *Served) *metrics {
	m := &metrics{
		removed: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_apiserver_thirdparty_removed_total",
			Help: "Objects removed because their ThirdPartyResource or CustomResourceDefinition was deleted.",
		}),
		errors: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "quorate_apiserver_thirdparty_errors_total",
			Help: "Failures to follow, serve or clean up after ThirdPartyResources and CustomResourceDefinitions, which are retried.",
		}),
	}
	reg.MustRegister(m.removed, m.errors, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "quorate_apiserver_thirdparty_served",
		Help: "ThirdPartyResources whose kinds are served.",
	}, func() float64 {
		set := s.current.Load()
		return float64(len(set.Owners) - set.definitionsServed)
	}), prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "quorate_apiserver_thirdparty_unserved",
		Help: "ThirdPartyResources that are not served, because they exceed the limit or an older definition has the same plural.",
	}, func() float64 { return float64(s.current.Load().unserved) }), prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "quorate_apiserver_customresourcedefinitions_served",
		Help: "CustomResourceDefinitions whose kinds are served.",
	}, func() float64 { return float64(s.current.Load().definitionsServed) }), prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "quorate_apiserver_rule_programs_bytes",
		Help: "Memory of the compiled rules and patterns of CustomResourceDefinitions, as estimated.",
	}, func() float64 { return float64(s.factory.programs.Bytes()) }), prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "quorate_apiserver_rule_programs_dropped_total",
		Help: "Compiled rules and patterns of CustomResourceDefinitions dropped because of the bound on their memory.",
	}, func() float64 { return float64(s.factory.programs.Dropped()) }), prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "quorate_apiserver_customresourcedefinitions_unserved",
		Help: "CustomResourceDefinitions that are not served; their conditions say why.",
	}, func() float64 {
		set := s.current.Load()
		return float64(len(set.definitions) - set.definitionsServed)
	}))
	return m
}
