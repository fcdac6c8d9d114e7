package main

// helm returns Helm in both generations.
func helm() []software {
	three := software{
		Name: "Helm", Version: "3.22.0", Source: "go install helm.sh/helm/v3/cmd/helm",
		Fetch: `go install helm.sh/helm/v3/cmd/helm@v3.22.0 && mkdir bin && mv "$BIN/helm" bin/`,
		Steps: helmSteps(),
	}
	four := software{
		Name: "Helm", Version: "4.3.1", Source: "go install helm.sh/helm/v4/cmd/helm",
		Fetch: `go install helm.sh/helm/v4/cmd/helm@v4.3.1 && mkdir bin && mv "$BIN/helm" bin/`,
		Steps: append(helmSteps(), helmServerSide()...),
	}
	return []software{three, four}
}

// helmSteps returns what both generations must do. "helm create" writes the stock chart.
func helmSteps() []step {
	return []step{
		{Tried: "`create`, `lint`, `template`, and `install` of the stock chart into a new namespace", Script: `
"$DIR/bin/helm" create shop
"$DIR/bin/helm" lint shop
"$DIR/bin/helm" template web shop >/dev/null
"$DIR/bin/helm" install web shop --namespace shop --create-namespace
kubectl -n shop get deployment,service,serviceaccount -l app.kubernetes.io/instance=web
equal "$(kubectl -n shop get deployment web-shop -o jsonpath='{.spec.replicas}')" 1
`},
		{Tried: "`list`, `status`, `get all`, `install --dry-run=server`, a second `install` refused", Script: `
"$DIR/bin/helm" list -A -o json | grep '"status":"deployed"'
"$DIR/bin/helm" -n shop status web
"$DIR/bin/helm" -n shop get all web >all
grep 'kind: Deployment' all
"$DIR/bin/helm" -n shop install other shop --dry-run=server >/dev/null
refused 'cannot re-?use a name' "$DIR/bin/helm" -n shop install web shop
`},
		{Tried: "`upgrade` with a changed value, `history`", Script: `
"$DIR/bin/helm" -n shop upgrade web shop --set replicaCount=3
equal "$(kubectl -n shop get deployment web-shop -o jsonpath='{.spec.replicas}')" 3
equal "$("$DIR/bin/helm" -n shop history web -o json | grep -o '"revision":' | wc -l)" 2
`},
		{Tried: "`rollback`", Script: `
"$DIR/bin/helm" -n shop rollback web 1
equal "$(kubectl -n shop get deployment web-shop -o jsonpath='{.spec.replicas}')" 1
`},
		{Tried: "`upgrade --install` of the stock chart with its Ingress", Script: `
"$DIR/bin/helm" -n shop upgrade --install web shop --set ingress.enabled=true
equal "$(kubectl -n shop get ingress web-shop -o jsonpath='{.spec.rules[0].http.paths[0].pathType}')" ImplementationSpecific
`},
		{Tried: "the stock chart with its HorizontalPodAutoscaler (`autoscaling/v2`)", Script: `
"$DIR/bin/helm" -n shop upgrade --install web shop --set autoscaling.enabled=true
kubectl get --raw /apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers/web-shop
`},
		{Tried: "a chart with roles and bindings of `rbac.authorization.k8s.io/v1`", Script: chartWithRoles},
		{Tried: "a chart with `crds/`, an instance, a hook, and a `kubeVersion` of 1.25 or more", Script: chartWithDefinitions},
		{Tried: "`uninstall --wait`; nothing of the release remains", Script: `
"$DIR/bin/helm" -n shop uninstall web --wait
equal "$(kubectl -n shop get deployment,service,ingress,serviceaccount,secret -l app.kubernetes.io/instance=web -o name)" ""
equal "$("$DIR/bin/helm" -n shop list -aq)" ""
`},
	}
}

const chartWithRoles = `
mkdir -p roles/templates
printf 'apiVersion: v2\nname: roles\nversion: 1.0.0\n' >roles/Chart.yaml
cat >roles/templates/roles.yaml <<END
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: {{ .Release.Name }}-reader
rules:
- apiGroups: [""]
  resources: [pods]
  verbs: [get, list, watch]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: {{ .Release.Name }}-reader
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: {{ .Release.Name }}-reader}
subjects:
- {kind: ServiceAccount, name: default, namespace: {{ .Release.Namespace }}}
END
"$DIR/bin/helm" -n shop install roles roles
kubectl auth can-i list pods --as system:serviceaccount:shop:default
"$DIR/bin/helm" -n shop uninstall roles
`

const chartWithDefinitions = `
mkdir -p shelf/templates shelf/crds
printf 'apiVersion: v2\nname: shelf\nversion: 1.0.0\nkubeVersion: ">=1.25.0-0"\n' >shelf/Chart.yaml
cat >shelf/crds/books.yaml <<END
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: books.demo.example.com
spec:
  group: demo.example.com
  names: {kind: Book, plural: books}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              title: {type: string}
              pages: {type: integer, default: 100}
END
cat >shelf/templates/book.yaml <<END
apiVersion: demo.example.com/v1
kind: Book
metadata:
  name: {{ .Release.Name }}
spec:
  title: {{ .Values.title }}
END
cat >shelf/templates/hook.yaml <<END
apiVersion: v1
kind: ConfigMap
metadata:
  name: before
  annotations:
    helm.sh/hook: pre-install
END
"$DIR/bin/helm" -n shop install novel shelf --set title=Emma
equal "$(kubectl -n shop get book novel -o jsonpath='{.spec.title} {.spec.pages}')" 'Emma 100'
kubectl -n shop get configmap before
"$DIR/bin/helm" -n shop upgrade novel shelf --set title=Persuasion
equal "$(kubectl -n shop get book novel -o jsonpath='{.spec.title}')" Persuasion
"$DIR/bin/helm" -n shop uninstall novel
refused NotFound kubectl -n shop get book novel
kubectl -n shop delete configmap before
`

// helmServerSide returns what only Helm 4 does: it applies on the server by default, and waits by
// watching conditions.
func helmServerSide() []step {
	return []step{
		{Tried: "server-side apply: another manager's field conflicts; `--force-conflicts` takes it", Script: `
"$DIR/bin/helm" -n shop install web shop
equal "$(kubectl -n shop get deployment web-shop --show-managed-fields -o jsonpath='{.metadata.managedFields[?(@.manager=="helm")].operation}')" Apply
cat >scaled.yaml <<END
apiVersion: apps/v1
kind: Deployment
metadata: {name: web-shop, namespace: shop}
spec: {replicas: 7}
END
kubectl apply --server-side --field-manager=scaler --force-conflicts -f scaled.yaml
refused 'conflict.*scaler' "$DIR/bin/helm" -n shop upgrade web shop --set replicaCount=2
equal "$(kubectl -n shop get deployment web-shop -o jsonpath='{.spec.replicas}')" 7
"$DIR/bin/helm" -n shop upgrade web shop --set replicaCount=2 --force-conflicts
equal "$(kubectl -n shop get deployment web-shop -o jsonpath='{.spec.replicas}')" 2
`},
		{Tried: "`upgrade --wait` watches until the Deployment's status says that it is available", Script: `
"$DIR/bin/helm" -n shop upgrade web shop --set replicaCount=1 --wait --timeout 90s >upgrade.out 2>&1 &
ready() {
  local generation
  generation=$(kubectl -n shop get deployment web-shop -o jsonpath='{.metadata.generation}')
  kubectl -n shop patch deployment web-shop --subresource=status --type=merge -p '{"status": {
    "observedGeneration": '"$generation"', "replicas": 1, "updatedReplicas": 1, "readyReplicas": 1, "availableReplicas": 1,
    "conditions": [{"type": "Available", "status": "True"}, {"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable"}]}}'
  grep 'has been upgraded' upgrade.out
}
eventually ready
wait
"$DIR/bin/helm" -n shop uninstall web
`},
	}
}
