package main

func kustomizations() []software {
	return []software{{
		Name: "kustomize", Version: "v5.8.2", Source: "go install sigs.k8s.io/kustomize/kustomize/v5",
		Fetch: `go install sigs.k8s.io/kustomize/kustomize/v5@v5.8.2`,
		Steps: []step{
			{Tried: "`build` of an overlay with a generator and patches, applied server-side as an ApplySet", Script: `
mkdir -p base overlay
cat >base/web.yaml <<END
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: web, image: "registry.example.com/web:1", envFrom: [{configMapRef: {name: settings}}]}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80}]}
END
cat >base/kustomization.yaml <<END
resources: [web.yaml]
configMapGenerator: [{name: settings, literals: [colour=green]}]
END
cat >overlay/kustomization.yaml <<END
namespace: default
namePrefix: west-
resources: [../base]
labels: [{pairs: {region: west}, includeTemplates: true}]
images: [{name: registry.example.com/web, newTag: "2"}]
replicas: [{name: web, count: 3}]
patches:
- target: {kind: Service}
  patch: '[{"op": "add", "path": "/spec/ports/0/name", "value": "http"}]'
END
export KUBECTL_APPLYSET=true
kustomize build overlay | kubectl apply -n default --server-side --prune --applyset=configmap/west -f -
equal "$(kubectl get deployment west-web -o jsonpath='{.spec.replicas} {.spec.template.spec.containers[0].image} {.spec.template.metadata.labels.region}')" \
  '3 registry.example.com/web:2 west'
settings=$(kubectl get deployment west-web -o jsonpath='{.spec.template.spec.containers[0].envFrom[0].configMapRef.name}')
equal "$(kubectl get configmap "$settings" -o jsonpath='{.data.colour}')" green
`},
			{Tried: "a changed value: `diff` shows it, `apply --prune --applyset` removes the ConfigMap of before", Script: `
sed -i 's/colour=green/colour=red/' base/kustomization.yaml
kustomize build overlay >all.yaml
if kubectl diff --server-side -f all.yaml >difference; then echo "no difference"; exit 1; fi
grep 'colour: red' difference
KUBECTL_APPLYSET=true kubectl apply -n default --server-side --prune --applyset=configmap/west -f all.yaml
equal "$(kubectl get configmap -l region=west -o jsonpath='{.items[*].data.colour}')" red
`},
			{Tried: "the same by `kubectl apply -k`, and deleted by `delete -k`", Script: `
kubectl apply --server-side -k overlay
kubectl delete -k overlay
equal "$(kubectl get deployment,service,configmap -l region=west -o name)" ""
`},
		},
	}}
}
