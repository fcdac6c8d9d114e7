package node

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// newRegistry returns the registry of all rooms' metrics, with those of the process.
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
