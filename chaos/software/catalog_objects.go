package main

// The scripts create objects of the definitions, and try what the schemas refuse.

const certificates = `
kubectl apply --server-side -f - <<END
apiVersion: cert-manager.io/v1
kind: ClusterIssuer
metadata: {name: local}
spec: {selfSigned: {}}
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: web, namespace: default}
spec:
  secretName: web-tls
  dnsNames: [web.example.com]
  issuerRef: {name: local, kind: ClusterIssuer}
  privateKey: {algorithm: ECDSA, size: 256}
END
kubectl get certificate web | grep 'READY'
refused 'Unsupported value: "DSA"' kubectl patch certificate web --type=merge -p '{"spec": {"privateKey": {"algorithm": "DSA"}}}'
refused 'secretName: Required' kubectl patch certificate web --type=json -p '[{"op": "remove", "path": "/spec/secretName"}]'
refused 'exactly one of tpp, cloud, or ngts' kubectl patch clusterissuer local --type=merge -p '{"spec": {"venafi": {"zone": "z"}}}'
kubectl patch certificate web --subresource=status --type=merge -p '{"status": {"conditions": [{"type": "Ready", "status": "True"}]}}'
kubectl wait --for=condition=Ready certificate/web --timeout=10s
equal "$(kubectl get certificate web -o jsonpath='{.metadata.generation}')" 1
kubectl get cert,issuers,orders -A
`

const monitors = `
kubectl apply --server-side -f - <<END
apiVersion: monitoring.coreos.com/v1
kind: Prometheus
metadata: {name: main, namespace: default}
spec:
  replicas: 2
  serviceMonitorSelector: {}
---
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: web, namespace: default}
spec:
  selector: {matchLabels: {app: web}}
  endpoints: [{port: http, interval: 15s}]
---
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata: {name: web, namespace: default}
spec:
  groups:
  - name: web
    rules:
    - {record: one, expr: 1}
    - {alert: Down, expr: "up == 0", for: 5m}
END
equal "$(kubectl get prometheus main -o jsonpath='{.spec.scrapeInterval}')" 30s
equal "$(kubectl get prometheusrule web -o jsonpath='{.spec.groups[0].rules[0].expr}')" 1
kubectl scale prometheus main --replicas=3
equal "$(kubectl get prometheus main -o jsonpath='{.spec.replicas} {.spec.shards}')" '2 3'
refused 'interval' kubectl patch servicemonitor web --type=merge -p '{"spec": {"endpoints": [{"port": "http", "interval": "often"}]}}'
refused 'Unsupported value: "loud"' kubectl patch prometheus main --type=merge -p '{"spec": {"logLevel": "loud"}}'
kubectl get prometheus main | grep 'DESIRED'
kubectl get smon,promrule,amcfg -A
`

const deliveries = `
kubectl apply --server-side -f - <<END
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: web, namespace: default}
spec: {url: "https://git.example.com/web", interval: 1m, ref: {branch: main}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: web, namespace: default}
spec: {interval: 10m, prune: true, path: ./deploy, sourceRef: {kind: GitRepository, name: web}}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: web, namespace: default}
spec:
  interval: 5m
  chart: {spec: {chart: web, sourceRef: {kind: HelmRepository, name: web}}}
  values: {any: {thing: [1, two]}}
END
equal "$(kubectl get gitrepository web -o jsonpath='{.spec.timeout}')" 60s
equal "$(kubectl get helmrelease web -o jsonpath='{.spec.values.any.thing[1]}')" two
refused 'should match' kubectl patch gitrepository web --type=merge -p '{"spec": {"url": "ftp://git.example.com"}}'
refused 'either chart or chartRef must be set' kubectl patch helmrelease web --type=json -p '[{"op": "remove", "path": "/spec/chart"}]'
kubectl patch gitrepository web --subresource=status --type=merge -p '{"status": {"conditions": [
  {"type": "Ready", "status": "True", "reason": "Succeeded", "message": "stored", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}}'
kubectl get gitrepo web | grep 'stored'
kubectl wait --for=condition=Ready gitrepository/web --timeout=10s
kubectl get ks,hr,gitrepo -A
`

const gateways = `
kubectl apply --server-side -f - <<END
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: public}
spec: {controllerName: example.com/gateway}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: default}
spec:
  gatewayClassName: public
  listeners: [{name: http, protocol: HTTP, port: 80}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: web, namespace: default}
spec:
  parentRefs: [{name: edge}]
  rules: [{backendRefs: [{name: web, port: 80}]}]
END
equal "$(kubectl get httproute web -o jsonpath='{.spec.rules[0].matches[0].path.value}')" /
equal "$(kubectl get gateway edge -o jsonpath='{.spec.listeners[0].allowedRoutes.namespaces.from}')" Same
refused 'Listener name must be unique' kubectl patch gateway edge --type=json -p \
  '[{"op": "add", "path": "/spec/listeners/-", "value": {"name": "http", "protocol": "HTTP", "port": 81}}]'
refused 'hostname must not be specified' kubectl patch gateway edge --type=json -p \
  '[{"op": "add", "path": "/spec/listeners/-", "value": {"name": "tcp", "protocol": "TCP", "port": 81, "hostname": "a.example.com"}}]'
refused 'Value is immutable' kubectl patch gatewayclass public --type=merge -p '{"spec": {"controllerName": "example.com/other"}}'
equal "$(kubectl get gatewayclasses.v1beta1.gateway.networking.k8s.io public -o jsonpath='{.apiVersion}')" gateway.networking.k8s.io/v1beta1
kubectl get gc,gtw,httproutes -A
`

const machines = `
kubectl apply --server-side -f - <<END
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: west, namespace: default}
spec:
  clusterNetwork: {pods: {cidrBlocks: [10.0.0.0/16]}}
  infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: DockerCluster, name: west}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineDeployment
metadata: {name: west, namespace: default}
spec:
  clusterName: west
  replicas: 1
  selector: {matchLabels: {pool: west}}
  template:
    metadata: {labels: {pool: west}}
    spec:
      clusterName: west
      bootstrap: {dataSecretName: west}
      infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: DockerMachineTemplate, name: west}
END
kubectl scale machinedeployment west --replicas=4
equal "$(kubectl get machinedeployment west -o jsonpath='{.spec.replicas}')" 4
refused 'clusterName: Required|clusterName.*at least 1' kubectl patch machinedeployment west --type=json -p '[{"op": "remove", "path": "/spec/clusterName"}]'
refused 'may not be more than 63|Too long' kubectl patch machinedeployment west --type=merge -p \
  '{"spec": {"clusterName": "'"$(printf 'x%.0s' {1..64})"'"}}'
kubectl get cl,md,ma -A
`
