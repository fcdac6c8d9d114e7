package node

import (
	"crypto/tls"
	"math"

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

// registerCertificate registers the expiry of the certificate that the API serves to clients.
// Prometheus compares it with its own clock, so a node that restarts changes nothing.
func registerCertificate(reg prometheus.Registerer, config *tls.Config) {
	reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "quorate_node_certificate_expiry_timestamp_seconds",
		Help: "Unix time at which the certificate of the API, or another of its chain, expires. Certificates of the cluster's own authority are renewed before.",
	}, func() float64 {
		certificate, err := config.GetCertificate(&tls.ClientHelloInfo{})
		if err != nil {
			return math.NaN() // clients see the reason: their handshakes fail
		}
		end, err := expiry(certificate)
		if err != nil {
			return math.NaN()
		}
		return float64(end.Unix())
	}))
}
