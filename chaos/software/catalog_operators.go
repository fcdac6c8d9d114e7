package main

// operators returns operators that run beside the cluster, as programs of this machine.
func operators() []software {
	return []software{
		{
			Name: "site-operator", Version: "controller-runtime 0.25.2",
			Source: "`chaos/clients/operator`, laid out as by kubebuilder (which is not to be had); manifests by controller-gen 0.23.0",
			Steps:  siteOperator(),
		},
		{
			Name: "prometheus-operator", Version: "v0.85.0", Source: "go build of cmd/operator; the manifests of its module",
			Fetch: `build prometheus-operator github.com/prometheus-operator/prometheus-operator/cmd/operator \
  github.com/prometheus-operator/prometheus-operator/cmd/operator@v0.85.0
cp "$(go list -C module -m -f '{{.Dir}}' github.com/prometheus-operator/prometheus-operator)/bundle.yaml" .`,
			Steps: []step{
				{Tried: "the whole `bundle.yaml` applied server-side, and once more without a change", Script: `
kubectl apply --server-side -f "$DIR/bundle.yaml"
kubectl wait --for=condition=Established --timeout=30s crd --all
kubectl diff --server-side -f "$DIR/bundle.yaml"
`},
				{Tried: "the operator runs: a Prometheus and an Alertmanager become StatefulSets, Services and Secrets", Script: prometheus},
			},
		},
	}
}

const prometheus = `
kubectl apply --server-side -f "$DIR/bundle.yaml"
kubectl wait --for=condition=Established --timeout=30s crd --all
prometheus-operator --web.listen-address=127.0.0.1:0 >operator.log 2>&1 &
trap 'tail -n 6 operator.log' ERR
kubectl apply --server-side -f - <<END
apiVersion: monitoring.coreos.com/v1
kind: Prometheus
metadata: {name: main, namespace: default}
spec: {replicas: 2, serviceMonitorSelector: {}, ruleSelector: {}}
---
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: web, namespace: default}
spec: {selector: {matchLabels: {app: web}}, endpoints: [{port: http}]}
---
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata: {name: web, namespace: default}
spec: {groups: [{name: web, rules: [{alert: Down, expr: "up == 0"}]}]}
---
apiVersion: monitoring.coreos.com/v1
kind: Alertmanager
metadata: {name: main, namespace: default}
spec: {replicas: 1}
END
eventually kubectl get statefulset prometheus-main alertmanager-main
eventually kubectl get service prometheus-operated alertmanager-operated
eventually kubectl get secret prometheus-main
replicas() { [ "$(kubectl get statefulset prometheus-main -o jsonpath='{.spec.replicas}')" = "$1" ]; }
replicas 2
rules() { kubectl get configmap -o yaml | grep 'alert: Down'; }
eventually rules
kubectl --kubeconfig "$NODE2" patch prometheus main --type=merge -p '{"spec": {"replicas": 3}}'
eventually replicas 3
kubectl scale prometheus main --replicas=2 # of its shards
eventually kubectl get statefulset prometheus-main-shard-1
kubectl patch statefulset prometheus-main --subresource=status --type=merge -p \
  '{"status": {"observedGeneration": 9, "replicas": 3, "readyReplicas": 3, "updatedReplicas": 3, "availableReplicas": 3}}'
condition() { kubectl get prometheus main -o jsonpath='{.status.conditions[*].type}' | grep Reconciled; }
eventually condition
kubectl delete prometheus,alertmanager --all
gone() { [ -z "$(kubectl get statefulset -o name)" ]; }
eventually gone
`

// siteOperator returns what is tried with the operator of chaos/clients.
func siteOperator() []step {
	return []step{
		{Tried: "its CustomResourceDefinition, applied as generated", Script: `
kubectl apply --server-side -f "$SITE/crd"
kubectl wait --for=condition=Established --timeout=30s crd/sites.demo.example.com
`},
		{Tried: "its roles, applied as generated", Script: `
kubectl apply --server-side -f "$SITE/rbac"
`},
		{Tried: "two replicas, as a user with these roles (in our group) alone: one leads, and reconciles through another node", Script: siteReplicas},
		{Tried: "conversion webhook: written as v1alpha1, read, changed and reconciled as v1", Script: siteConversion},
		{Tried: "admission webhooks: defaulted, validated", Script: siteAdmission},
	}
}

// siteUser makes a kubeconfig for the operator's user, and functions that run a replica.
const siteUser = `
rm -f ./*.log
token=$("$BIN/quorate" token create --data-dir "$DATA" --user site-operator --ttl 1h)
cp "$KUBECONFIG" operator.kubeconfig
kubectl --kubeconfig operator.kubeconfig config set-credentials operator --token "$token" >/dev/null
kubectl --kubeconfig operator.kubeconfig config set-context --current --user operator >/dev/null
refused Forbidden kubectl --kubeconfig operator.kubeconfig get secrets
replica() {
  local name=$1
  shift
  KUBECONFIG=operator.kubeconfig operator --leader-elect "$@" >"$name.log" 2>&1 &
}
trap 'tail -qn 4 ./*.log' ERR
holder() { kubectl get lease site-operator.demo.example.com -o jsonpath='{.spec.holderIdentity}' | grep .; }
ready() { kubectl get site "$1" -o jsonpath='{.status.conditions[?(@.type=="Ready")].status}' | grep "$2"; }
`

const siteReplicas = `
sed 's/rbac.authorization.k8s.io/rbac.authorization.platform.io/' "$SITE/rbac/role.yaml" | kubectl apply --server-side -f -
kubectl apply --server-side -f - <<END
apiVersion: rbac.authorization.platform.io/v1
kind: ClusterRoleBinding
metadata: {name: site-operator}
roleRef: {apiGroup: rbac.authorization.platform.io, kind: ClusterRole, name: site-operator}
subjects: [{apiGroup: rbac.authorization.platform.io, kind: User, name: site-operator}]
---
apiVersion: rbac.authorization.platform.io/v1
kind: RoleBinding
metadata: {name: site-operator, namespace: default}
roleRef: {apiGroup: rbac.authorization.platform.io, kind: Role, name: site-operator}
subjects: [{apiGroup: rbac.authorization.platform.io, kind: User, name: site-operator}]
END
` + siteUser + `
replica first
first=$!
eventually holder
leader=$(holder)
replica second
kubectl apply -f - <<END
apiVersion: demo.example.com/v1
kind: Site
metadata: {name: home, namespace: default}
spec: {page: "<h1>Hello</h1>", replicas: 2}
END
eventually ready home False
eventually kubectl get deployment home
equal "$(kubectl get configmap home -o jsonpath='{.data.index\.html}')" '<h1>Hello</h1>'
kubectl --kubeconfig "$NODE3" patch deployment home --subresource=status --type=merge -p '{"status": {"replicas": 2, "readyReplicas": 2}}'
eventually ready home True
kubectl get st home
kubectl --kubeconfig "$NODE3" scale site home --replicas=3
replicas() { [ "$(kubectl get deployment home -o jsonpath='{.spec.replicas}')" = "$1" ]; }
eventually replicas 3
kubectl delete configmap home
eventually kubectl get configmap home
refused 'a page is needed' kubectl patch site home --type=merge -p '{"spec": {"page": ""}}'
refused 'less than or equal to 100' kubectl patch site home --type=merge -p '{"spec": {"replicas": 101}}'
kubectl patch site home --type=merge -p '{"spec": {"host": "a.example.com"}}'
refused "host can't change" kubectl patch site home --type=merge -p '{"spec": {"host": "b.example.com"}}'
kill "$first"
other() { holder | grep -v "$leader"; }
eventually other
kubectl scale site home --replicas=1
eventually replicas 1
kubectl delete site home --timeout=30s
gone() { [ -z "$(kubectl get deployment,configmap -o name)" ]; }
eventually gone
`

// siteCertificate makes a certificate for webhooks on this machine.
const siteCertificate = siteUser + `
openssl req -x509 -newkey rsa:2048 -nodes -keyout tls.key -out tls.crt -days 1 -subj /CN=127.0.0.1 \
  -addext subjectAltName=IP:127.0.0.1 2>/dev/null
bundle=$(base64 -w0 tls.crt)
port=$(/usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
replica webhooks --webhook-port "$port" --webhook-cert-path .
serving() { : <"/dev/tcp/127.0.0.1/$port"; }
eventually serving
`

const siteConversion = siteCertificate + `
kubectl patch crd sites.demo.example.com --type=merge -p '{"spec": {"conversion": {"strategy": "Webhook", "webhook": {
  "conversionReviewVersions": ["v1"], "clientConfig": {"url": "https://127.0.0.1:'"$port"'/convert", "caBundle": "'"$bundle"'"}}}}}'
cat >old.yaml <<END
apiVersion: demo.example.com/v1alpha1
kind: Site
metadata: {name: old, namespace: default}
spec: {lines: [one, two], size: 2}
END
eventually kubectl apply -f old.yaml
equal "$(kubectl --kubeconfig "$NODE2" get sites.v1.demo.example.com old -o jsonpath='{.spec.page} {.spec.replicas}')" 'one
two 2'
kubectl --kubeconfig "$NODE3" patch sites.v1.demo.example.com old --type=merge -p '{"spec": {"page": "three"}}'
equal "$(kubectl get sites.v1alpha1.demo.example.com old -o jsonpath='{.spec.lines[0]}')" three
equal "$(kubectl get sites.v1alpha1.demo.example.com -o jsonpath='{.items[0].spec.size}')" 2
eventually kubectl get deployment old
kubectl delete site old --timeout=30s
`

const siteAdmission = siteCertificate + `
/usr/bin/python3 - "$SITE/webhook/manifests.yaml" "$port" "$bundle" >webhooks.yaml <<'END'
import re, sys
text, port, bundle = open(sys.argv[1]).read(), sys.argv[2], sys.argv[3]
print(re.sub(r"service:\n +name: \S+\n +namespace: \S+\n +path: (\S+)", rf"url: https://127.0.0.1:{port}\1\n    caBundle: {bundle}", text))
END
kubectl apply -f webhooks.yaml
cat >plain.yaml <<END
apiVersion: demo.example.com/v1
kind: Site
metadata: {name: plain, namespace: default}
spec: {page: plain}
END
kubectl apply -f plain.yaml
equal "$(kubectl get site plain -o jsonpath='{.spec.host}')" plain.example.com
refused 'a page has no scripts' kubectl patch site plain --type=merge -p '{"spec": {"page": "<script>"}}'
`
