package node

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// metrics holds the node's own metrics; those of its components are beside their code.
type metrics struct {
	backups *prometheus.CounterVec // by result
}

func newMetrics(reg prometheus.Registerer) *metrics {
	m := &metrics{backups: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "quorate_node_backups_total", Help: "Backups requested from this node, by result (written, failed, refused).",
	}, []string{"result"})}
	for _, result := range []string{"written", "failed", "refused"} {
		m.backups.WithLabelValues(result)
	}
	reg.MustRegister(m.backups)
	return m
}

// newRegistry returns a registry with the metrics of the process and the build, for all components.
func newRegistry(cfg Config) *prometheus.Registry {
	registry := prometheus.NewRegistry()
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "quorate_build_info", Help: "1, with the version as labels.",
		ConstLabels: prometheus.Labels{"version": cfg.Build.Version, "commit": cfg.Build.Commit},
	})
	build.Set(1)
	registry.MustRegister(build, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return registry
}
