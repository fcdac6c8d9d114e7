package main

// languages returns clients in other languages than Go, and an old kubectl, all from Debian.
func languages() []software {
	return []software{
		{
			Name: "python3-kubernetes", Version: "22.6", Source: "Debian 12: apt-get install python3-kubernetes",
			Fetch: debian("python3-kubernetes"),
			Steps: []step{
				{Tried: "typed client: create, read, list with selectors, merge and JSON patches, watch from a version, delete", Script: python("typed")},
				{Tried: "create_from_yaml, scale, Deployments, Jobs, CronJobs, Ingresses, nodes, events, access reviews", Script: python("kinds")},
				{Tried: "CustomResourceDefinitions, custom objects and their scale", Script: python("custom")},
				{Tried: "dynamic client: discovery, server-side apply, watch", Script: python("dynamically")},
				{Tried: "leader election with two candidates", Script: python("election")},
				{Tried: "roles by RbacAuthorizationV1Api", Script: python("roles")},
			},
		},
		{
			Name: "kubectl", Version: "1.20.2", Source: "Debian 12: kubernetes-client",
			Fetch: `apt-get download kubernetes-client && dpkg -x kubernetes-client_*.deb package`,
			Steps: []step{
				{Tried: "`create`, `apply`, `get`, `describe`, `label`, `patch`, `scale`, `wait`, `explain`, `delete`", Script: oldKubectl},
			},
		},
	}
}

// debian returns a script that installs a package, as root, and builds nothing.
func debian(name string) string {
	return "dpkg -s " + name + ` >/dev/null 2>&1 || DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends ` + name
}

// python returns a step's script that runs one of the folder python.
func python(name string) string {
	return `/usr/bin/python3 -B "$ROOT/chaos/software/python/` + name + `.py"`
}

const oldKubectl = `
old() { "$DIR/package/usr/bin/kubectl" "$@"; }
old version
old create namespace old
cat >web.yaml <<END
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: web, namespace: old}
spec:
  serviceName: web
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "registry.example.com/web:1"}]}
END
old apply -f web.yaml
sed -i 's/web:1/web:2/' web.yaml
old apply -f web.yaml
old apply --server-side --force-conflicts -f web.yaml
equal "$(old -n old get statefulset web -o jsonpath='{.spec.template.spec.containers[0].image}')" registry.example.com/web:2
old -n old scale statefulset web --replicas=3
old -n old describe statefulset web
old -n old label statefulset web tier=front
old -n old patch statefulset web --type=merge -p '{"spec": {"replicas": 2}}'
old -n old get statefulset -l tier=front -o wide
old explain statefulset.spec.template.spec.containers
old api-resources | grep statefulsets
old -n old create configmap settings --from-literal=colour=green
old delete namespace old --wait
refused NotFound old get namespace old
`
