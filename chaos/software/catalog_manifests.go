package main

// manifests returns CustomResourceDefinitions of well-known projects, with objects of them. They
// are generated from the projects' Go types, by the generator that the projects use.
func manifests() []software {
	return []software{
		{
			Name: "cert-manager", Version: "v1.21.2", Source: "definitions from the Go types, with controller-gen",
			Fetch: `definitions v1.21.2 github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1 github.com/cert-manager/cert-manager/pkg/apis/acme/v1`,
			Steps: definitionSteps(certificates),
		},
		{
			Name: "Prometheus", Version: "v0.95.1", Source: "definitions from the Go types of prometheus-operator, with controller-gen",
			Fetch: `definitions v0.95.1 github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1 \
  github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1alpha1 \
  github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1beta1`,
			Steps: definitionSteps(monitors),
		},
		{
			Name: "Flux", Version: "v2", Source: "definitions from the Go types of its controllers, with controller-gen",
			Fetch: `definitions v1.9.6 github.com/fluxcd/source-controller/api/v1 github.com/fluxcd/kustomize-controller/api/v1
definitions v1.6.5 github.com/fluxcd/helm-controller/api/v2
definitions v1.9.4 github.com/fluxcd/notification-controller/api/v1 github.com/fluxcd/notification-controller/api/v1beta3`,
			Steps: definitionSteps(deliveries),
		},
		{
			Name: "Gateway API", Version: "v1.6.3", Source: "definitions from the Go types, with controller-gen",
			// The project's own generator adds the approval that names under k8s.io need.
			Fetch: `definitions v1.6.3 sigs.k8s.io/gateway-api/apis/v1 sigs.k8s.io/gateway-api/apis/v1beta1
for file in crds/*; do
  "$BIN/kubectl" annotate --local -f "$file" -o yaml api-approved.kubernetes.io=https://github.com/kubernetes-sigs/gateway-api/pull/3328 >approved
  mv approved "$file"
done`,
			Steps: definitionSteps(gateways),
		},
		{
			Name: "Cluster API", Version: "v1.14.2", Source: "definitions from the Go types, with controller-gen",
			Fetch: `definitions v1.14.2 sigs.k8s.io/cluster-api/api/core/v1beta2 sigs.k8s.io/cluster-api/api/addons/v1beta2 \
  sigs.k8s.io/cluster-api/api/ipam/v1beta2 sigs.k8s.io/cluster-api/api/runtime/v1beta2`,
			Steps: definitionSteps(machines),
		},
		{
			Name: "Argo CD", Version: "v3.6.1", Source: "Go module",
			Missing: "v3.6 wants Go 1.27, and a module that v3.5 needs (gitops-engine) is not to be had from the Go module proxy here",
		},
	}
}

// definitionSteps returns what is tried with a folder of definitions. The last script has objects
// of them.
func definitionSteps(objects string) []step {
	return []step{
		{Tried: "definitions applied server-side; established, and their lists served, by every node", Script: `
kubectl apply --server-side -f "$DIR/crds"
for config in "$NODE1" "$NODE2" "$NODE3"; do
  kubectl --kubeconfig "$config" wait --for=condition=Established --timeout=30s crd --all >/dev/null
  for name in $(kubectl get crd -o name); do kubectl --kubeconfig "$config" get -A "${name#*/}" >/dev/null; done
done
ls "$DIR/crds" | wc -l
`},
		{Tried: "applied again by another node: no version changes; `diff --server-side` finds nothing", Script: `
before=$(kubectl get crd -o jsonpath='{.items[*].metadata.resourceVersion}')
kubectl apply --server-side -f "$DIR/crds" >/dev/null
equal "$(kubectl get crd -o jsonpath='{.items[*].metadata.resourceVersion}')" "$before"
kubectl diff --server-side -f "$DIR/crds"
`},
		{Tried: "`explain --recursive` of every kind", Script: `
for name in $(kubectl get crd -o name); do
  kubectl explain --recursive "${name#*/}" >explained
  [ "$(wc -l <explained)" -gt 20 ]
done
`},
		{Tried: "objects: created, defaulted, checked by schema and CEL, changed, patched, listed as tables", Script: objects},
		{Tried: "definitions and their objects deleted", Script: `
kubectl delete -f "$DIR/crds" --timeout=60s
equal "$(kubectl get crd -o name)" ""
`},
	}
}
