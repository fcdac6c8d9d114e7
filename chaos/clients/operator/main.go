package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"

	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	ctrlwebhook "sigs.k8s.io/controller-runtime/pkg/webhook"

	sitev1 "quorate/chaos/clients/operator/api/v1"
	sitev1alpha1 "quorate/chaos/clients/operator/api/v1alpha1"
	"quorate/chaos/clients/operator/controller"
	"quorate/chaos/clients/operator/webhook"
)

type options struct {
	elect       bool
	namespace   string
	probes      string
	webhookPort int
	certificate string
}

func main() {
	var o options
	flag.BoolVar(&o.elect, "leader-elect", false, "let one of several replicas reconcile")
	flag.StringVar(&o.namespace, "leader-election-namespace", "default", "namespace of the replicas' Lease")
	flag.StringVar(&o.probes, "health-probe-bind-address", "0", "address of /healthz and /readyz")
	flag.IntVar(&o.webhookPort, "webhook-port", 0, "port of the webhooks on loopback; none are served if 0")
	flag.StringVar(&o.certificate, "webhook-cert-path", "", "folder of the webhooks' tls.crt and tls.key")
	flag.Parse()
	ctrl.SetLogger(klog.Background())
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "operator:", err)
		os.Exit(1)
	}
}

// run runs the manager until the process gets a signal.
func run(o options) error {
	known := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{scheme.AddToScheme, sitev1.AddToScheme, sitev1alpha1.AddToScheme} {
		if err := add(known); err != nil {
			return err
		}
	}
	manager, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{
		Scheme:                        known,
		Metrics:                       metricsserver.Options{BindAddress: "0"},
		HealthProbeBindAddress:        o.probes,
		LeaderElection:                o.elect,
		LeaderElectionID:              "site-operator.demo.example.com",
		LeaderElectionNamespace:       o.namespace,
		LeaderElectionReleaseOnCancel: true,
		WebhookServer: ctrlwebhook.NewServer(ctrlwebhook.Options{
			Host: "127.0.0.1", Port: o.webhookPort, CertDir: filepath.Clean(o.certificate),
		}),
	})
	if err != nil {
		return err
	}
	if err := controller.Add(manager); err != nil {
		return err
	}
	if o.webhookPort != 0 {
		if err := webhook.Add(manager); err != nil {
			return err
		}
	}
	if err := manager.AddReadyzCheck("ping", healthz.Ping); err != nil {
		return err
	}
	return manager.Start(ctrl.SetupSignalHandler())
}
