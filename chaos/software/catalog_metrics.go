package main

// metrics returns programs that watch the cluster's objects and export metrics of them.
func metrics() []software {
	return []software{{
		Name: "kube-state-metrics", Version: "v2.18.0",
		Source: "go build of its module; the ClusterRole of its examples/standard",
		Fetch:  fetchStateMetrics,
		Steps: []step{
			{Tried: "lists and watches all of its default resources that are served, without an error", Script: stateMetrics + stateMetricsLists},
			{Tried: "exports the objects of each kind, and follows their changes through another node", Script: stateMetrics + stateMetricsObjects},
			{Tried: "the same as a user with its ClusterRole alone", Script: stateMetrics + stateMetricsRole},
		},
	}}
}

// fetchStateMetrics requires the version in a module file, because go get also asks for the list of
// versions, which not every proxy has.
const fetchStateMetrics = `
mkdir module && cd module
cat >go.mod <<END
module software

go 1.26.0

require k8s.io/kube-state-metrics/v2 v2.18.0
END
go build -mod=mod -o "$BIN/kube-state-metrics" k8s.io/kube-state-metrics/v2
cp "$(go list -mod=mod -m -f '{{.Dir}}' k8s.io/kube-state-metrics/v2)"/examples/standard/cluster-role.yaml "$DIR"
`

// stateMetrics defines functions that run the program, and that read what it exports.
const stateMetrics = `
sort -u >defaults <<END
$(kube-state-metrics --help 2>&1 | sed -n 's/.*resources to be enabled. Defaults to "\([^"]*\)".*/\1/p' | tr , '\n')
END
kubectl api-resources --verbs=list,watch -o name | cut -d. -f1 | sort -u >served
comm -12 defaults served >resources
comm -23 defaults served >missing
ports=($(/usr/bin/python3 -c 'import socket
all = [socket.socket() for _ in range(2)]
for s in all: s.bind(("127.0.0.1", 0))
print(*[s.getsockname()[1] for s in all])'))
run() { # with a copy: the node may write its kubeconfig again, for which the program restarts
  cp "$1" metrics.kubeconfig
  kube-state-metrics --host 127.0.0.1 --port "${ports[0]}" --telemetry-host 127.0.0.1 --telemetry-port "${ports[1]}" \
    --resources "$(paste -sd, resources)" --kubeconfig metrics.kubeconfig >metrics.log 2>&1 &
}
trap 'tail -n 6 metrics.log' ERR
page() { /usr/bin/python3 -c 'import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1], timeout=10).read().decode())' "http://127.0.0.1:$1/metrics"; }
has() { page "${ports[0]}" >exported && grep -F -- "$1" exported; }
hasNot() { page "${ports[0]}" >exported && ! grep -F -- "$1" exported; }
synced() {
  page "${ports[1]}" >telemetry || return
  if grep '^kube_state_metrics_[a-z]*_total{.*result="error"' telemetry; then return 1; fi
  for kind in list watch; do
    sed -n 's/^kube_state_metrics_'$kind'_total{resource="\*[^.]*\.\([A-Za-z]*\)",result="success"}.*/\1/p' telemetry | sort -u >$kind.ok
    [ "$(wc -l <$kind.ok)" = "$(wc -l <resources)" ] || { echo "$kind: $(wc -l <$kind.ok) of $(wc -l <resources)"; return 1; }
  done
}
`

const stateMetricsLists = `
[ "$(wc -l <resources)" -ge 20 ]
run "$KUBECONFIG"
eventually synced
if grep -E '^[EF][0-9]{4}' metrics.log; then false; fi
echo "$(wc -l <resources) resources; not served: $(paste -sd' ' missing)" >"$NOTE"
`

const stateMetricsObjects = `
kubectl create namespace team
kubectl -n team create deployment web --image=registry.example.com/web:1 --replicas=2
kubectl -n team create configmap settings --from-literal=a=b
kubectl -n team create secret generic password --from-literal=a=b
kubectl -n team create service clusterip web --tcp=80
kubectl -n team create job once --image=registry.example.com/web:1
kubectl -n team create cronjob nightly --image=registry.example.com/web:1 --schedule='0 3 * * *'
kubectl -n team autoscale deployment web --min=2 --max=5
kubectl -n team create poddisruptionbudget web --selector=app=web --min-available=1
kubectl -n team run shell --image=registry.example.com/web:1
run "$KUBECONFIG"
eventually synced
eventually has 'kube_deployment_spec_replicas{namespace="team",deployment="web"} 2'
has 'kube_namespace_status_phase{namespace="team",phase="Active"} 1'
has 'kube_configmap_info{namespace="team",configmap="settings"} 1'
has 'kube_secret_type{namespace="team",secret="password",type="Opaque"} 1'
has 'kube_service_spec_type{namespace="team",service="web"'
has 'kube_job_info{namespace="team",job_name="once"} 1'
has 'kube_cronjob_info{namespace="team",cronjob="nightly",schedule="0 3 * * *"'
has 'kube_horizontalpodautoscaler_spec_max_replicas{namespace="team",horizontalpodautoscaler="web"} 5'
has 'kube_poddisruptionbudget_created{namespace="team",poddisruptionbudget="web"}'
has 'kube_pod_status_phase{namespace="team",pod="shell"'
kubectl --kubeconfig "$NODE3" -n team scale deployment web --replicas=4
eventually has 'kube_deployment_spec_replicas{namespace="team",deployment="web"} 4'
kubectl --kubeconfig "$NODE1" -n team delete configmap settings
eventually hasNot 'kube_configmap_info{namespace="team",configmap="settings"}'
synced
`

const stateMetricsRole = `
kubectl apply -f "$DIR/cluster-role.yaml"
kubectl create clusterrolebinding kube-state-metrics --clusterrole=kube-state-metrics --user=state-metrics
token=$("$BIN/quorate" token create --data-dir "$DATA" --user state-metrics --ttl 1h)
cp "$KUBECONFIG" user.kubeconfig
kubectl --kubeconfig user.kubeconfig config set-credentials user --token "$token" >/dev/null
kubectl --kubeconfig user.kubeconfig config set-context --current --user user >/dev/null
refused Forbidden kubectl --kubeconfig user.kubeconfig delete namespace team
run user.kubeconfig
eventually synced
eventually has 'kube_deployment_spec_replicas{namespace="team",deployment="web"} 4'
`
