package specification

import (
	"testing"

	"quorate/apiserver/internal/testserver"
)

// statuses are kinds with a status, each with one that a client may write.
func statuses() map[string]string {
	return map[string]string{
		"Pod":                     `{"status":{"phase":"Running","podIP":"10.0.0.9"}}`,
		"PersistentVolume":        `{"status":{"phase":"Available","message":"free"}}`,
		"Node":                    `{"status":{"phase":"Running","capacity":{"cpu":"4"},"allocatable":{"cpu":"3"}}}`,
		"Namespace":               `{"status":{"phase":"Active"}}`,
		"HorizontalPodAutoscaler": `{"status":{"currentReplicas":2,"desiredReplicas":3}}`,
		"DaemonSet":               `{"status":{"currentNumberScheduled":2,"desiredNumberScheduled":3}}`,
		"StatefulSet":             `{"status":{"replicas":3,"readyReplicas":2}}`,
		"CronJob":                 `{"status":{"lastScheduleTime":"2020-01-02T03:04:05Z"}}`,
	}
}

// replaceFieldRows prove what a replace leaves as it is and what it refuses to change (E12, E17,
// E18, E21–E30).
var replaceFieldRows = []row{
	{"E12", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		for _, kind := range []string{"Endpoints", "Event", "ClusterRole", "Role", "ClusterRoleBinding"} {
			expect(t, s.Do("PUT", item(kind, ns, "e12"), minimal(kind, ns, "e12", `{"metadata":{"resourceVersion":"7"}}`)),
				400, "BadRequest", "resourceVersion should not be set on objects to be created")
			expect(t, s.Do("PUT", item(kind, ns, "e12"), minimal(kind, ns, "e12", `{"metadata":{"uid":"u"}}`)),
				409, "Conflict", "Precondition failed: UID in precondition: u, UID in object meta: ")
			made := ok(t, s.Do("PUT", item(kind, ns, "e12"), minimal(kind, ns, "e12")))
			if now := ok(t, s.Do("GET", item(kind, ns, "e12"), "")); now != made || get(t, made, "metadata.uid") == "" {
				t.Errorf("%s: made %s, stored %s", kind, made, now)
			}
		}
		expect(t, s.Do("PUT", item("Endpoints", "nowhere", "e12"), minimal("Endpoints", "nowhere", "e12")),
			404, "NotFound", `namespaces "nowhere" not found`)
	}},
	{"E17", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		for kind, status := range statuses() {
			create(t, s, kind, ns, "e17")
			written := ok(t, s.Do("PATCH", item(kind, ns, "e17")+"/status", status, mergePatch))
			for _, other := range []string{minimal(kind, ns, "e17", label), with(written, `{"status":null}`)} {
				put := ok(t, s.Do("PUT", item(kind, ns, "e17"), with(other, `{"metadata":{"resourceVersion":null}}`)))
				want(t, put, "status", get(t, written, "status"))
			}
		}
	}},
	{"E18", func(t *testing.T, s *testserver.Server) {
		name := namespace(t, s)
		held := `{"spec":{"finalizers":["x.io/a","platform"]}}`
		ok(t, s.Do("PUT", item("Namespace", "", name)+"/finalize", minimal("Namespace", "", name, held)))
		put := ok(t, s.Do("PUT", item("Namespace", "", name),
			minimal("Namespace", "", name, label, `{"spec":{"finalizers":["x.io/b"]},"status":{"phase":"Terminating"}}`)))
		want(t, put, "metadata.labels.row", "changed", "spec.finalizers", `["x.io/a","platform"]`, "status.phase", "Active")
	}},
	{"E21 E24", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		create(t, s, "DaemonSet", ns, "m")
		relabelled := minimal("DaemonSet", ns, "m",
			`{"spec":{"selector":{"matchLabels":{"app":"b"}},"template":{"metadata":{"labels":{"app":"b"}}}}}`)
		expectInvalid(t, s.Do("PUT", item("DaemonSet", ns, "m"), relabelled), "spec.selector", "FieldValueInvalid", "field is immutable")
	}},
	{"E22", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		create(t, s, "Pod", ns, "m", `{"spec":{"initContainers":[{"name":"i","image":"i:1"}],"tolerations":[{"key":"a","operator":"Exists"}]}}`)
		base := ok(t, s.Do("GET", item("Pod", ns, "m"), ""))
		change := func(changes ...string) testserver.Answer {
			return s.Do("PUT", item("Pod", ns, "m"), with(base, append(changes, `{"metadata":{"resourceVersion":null}}`)...))
		}
		deadline := func(d string) string { return `{"spec":{"activeDeadlineSeconds":` + d + `}}` }
		want(t, ok(t, change(deadline("90"))), "spec.activeDeadlineSeconds", "90")
		want(t, ok(t, change(deadline("60"))), "spec.activeDeadlineSeconds", "60")
		expectInvalid(t, change(deadline("80")), "spec.activeDeadlineSeconds", "FieldValueInvalid", "less than or equal to previous value")
		base = ok(t, s.Do("GET", item("Pod", ns, "m"), ""))
		more := ok(t, change(`{"spec":{"tolerations":[{"key":"a","operator":"Exists"},{"key":"b","operator":"Exists"}]}}`))
		want(t, more, "spec.tolerations.1.key", "b")
		base = more
		container := get(t, base, "spec.containers.0")
		want(t, ok(t, change(`{"spec":{"containers":[`+with(container, `{"image":"j:2"}`)+`]}}`)), "spec.containers.0.image", "j:2")
		first := get(t, base, "spec.initContainers.0")
		base = ok(t, s.Do("GET", item("Pod", ns, "m"), ""))
		want(t, ok(t, change(`{"spec":{"initContainers":[`+with(first, `{"image":"k:3"}`)+`]}}`)), "spec.initContainers.0.image", "k:3")
		for _, refused := range []string{
			`{"spec":{"nodeSelector":{"a":"b"}}}`, `{"spec":{"restartPolicy":"Never"}}`, `{"spec":{"hostNetwork":true}}`,
			`{"spec":{"containers":[` + with(container, `{"command":["x"]}`) + `]}}`,
		} {
			expectInvalid(t, change(refused), "spec", "FieldValueForbidden", "pod updates may not change fields other than `spec.containers[*].image`")
		}
	}},
	{"E23", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		create(t, s, "StatefulSet", ns, "m")
		for _, allowed := range []string{
			`{"spec":{"replicas":4}}`, `{"spec":{"template":{"spec":{"nodeSelector":{"a":"b"}}}}}`,
			`{"spec":{"updateStrategy":{"type":"OnDelete"}}}`,
		} {
			ok(t, s.Do("PUT", item("StatefulSet", ns, "m"), minimal("StatefulSet", ns, "m", allowed)))
		}
		for _, refused := range []string{`{"spec":{"serviceName":"other"}}`, `{"spec":{"podManagementPolicy":"Parallel"}}`} {
			expectInvalid(t, s.Do("PUT", item("StatefulSet", ns, "m"), minimal("StatefulSet", ns, "m", refused)),
				"spec", "FieldValueForbidden", "'replicas', 'template', and 'updateStrategy' are forbidden")
		}
	}},
	{"E25", func(t *testing.T, s *testserver.Server) {
		create(t, s, "Node", "", "e25")
		const once = `{"spec":{"podCIDR":"10.1.0.0/24","providerID":"p://1"}}`
		want(t, ok(t, s.Do("PUT", item("Node", "", "e25"), minimal("Node", "", "e25", once))), "spec.podCIDR", "10.1.0.0/24", "spec.providerID", "p://1")
		change := func(field, value string) testserver.Answer {
			return s.Do("PUT", item("Node", "", "e25"), minimal("Node", "", "e25", once, `{"spec":{"`+field+`":"`+value+`"}}`))
		}
		expectInvalid(t, change("podCIDR", "10.2.0.0/24"), "spec.podCIDR", "FieldValueForbidden")
		expectInvalid(t, change("providerID", "p://2"), "spec.providerID", "FieldValueForbidden")
		expectInvalid(t, change("externalID", "other"), "spec.externalID", "FieldValueInvalid", "field is immutable")
	}},
	{"E26", func(t *testing.T, s *testserver.Server) {
		create(t, s, "PersistentVolume", "", "e26")
		expectInvalid(t, s.Do("PUT", item("PersistentVolume", "", "e26"), minimal("PersistentVolume", "", "e26", `{"spec":{"hostPath":{"path":"/e"}}}`)),
			"spec.persistentvolumesource", "FieldValueForbidden", "is immutable after creation")
	}},
	{"E27", func(t *testing.T, s *testserver.Server) {
		for _, kind := range []string{"ClusterRoleBinding", "LegacyBinding"} {
			name := nameFor(kind, "e27")
			create(t, s, kind, "", name)
			expectInvalid(t, s.Do("PUT", item(kind, "", name), minimal(kind, "", name, `{"roleRef":{"name":"other"}}`)),
				"roleRef", "FieldValueInvalid", "cannot change roleRef")
		}
	}},
	{"E28", func(t *testing.T, s *testserver.Server) {
		made := create(t, s, "Image", "", "e28", `{"containerImageMetadata":{"Id":"1"},"containerImageLayers":[{"name":"l","size":1,"mediaType":"m"}]}`)
		put := ok(t, s.Do("PUT", item("Image", "", "e28"), with(made, label, `{"containerImageReference":"registry.example/app:2",
			"containerImageMetadata":{"Id":"2"},"containerImageLayers":[],"containerImageManifest":"{}",
			"signatures":[{"metadata":{"name":"e28@one"},"type":"t","content":"Yw=="}]}`)))
		want(t, put, "metadata.labels.row", "changed", "signatures.0.metadata.name", "e28@one", "containerImageManifest", "")
		for _, kept := range []string{"containerImageReference", "containerImageMetadata", "containerImageLayers"} {
			want(t, put, kept, get(t, made, kept))
		}
	}},
	{"E29", func(t *testing.T, s *testserver.Server) {
		made := create(t, s, "HostSubnet", "", "e29")
		path := item("HostSubnet", "", "e29")
		expectInvalid(t, s.Do("PUT", path, with(made, `{"host":"other"}`)), "host", "FieldValueInvalid", "must be the same as metadata.name")
		expectInvalid(t, s.Do("PUT", path, with(made, `{"subnet":"10.130.0.0/23"}`)), "subnet", "FieldValueInvalid", "field is immutable")
		want(t, ok(t, s.Do("PUT", path, with(made, `{"hostIP":"192.0.2.7","egressIPs":["192.0.2.8"]}`))), "hostIP", "192.0.2.7")
	}},
	{"E30", func(t *testing.T, s *testserver.Server) {
		made := create(t, s, "ThirdPartyResource", "", "e-thirty.example.com")
		path := item("ThirdPartyResource", "", "e-thirty.example.com")
		want(t, ok(t, s.Do("PUT", path, with(made, `{"versions":[{"name":"v1"},{"name":"v2"}]}`))), "versions", `[{"name":"v1"},{"name":"v2"}]`)
		expect(t, s.Do("PUT", path, minimal("ThirdPartyResource", "", "e-forty.example.com")), 400, "BadRequest", "does not match the name on the URL")
	}},
}
