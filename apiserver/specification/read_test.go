package specification

import (
	"fmt"
	"strings"
	"testing"

	"quorate/apiserver/internal/testserver"
)

// exporting are the kinds whose reads know the parameters export and exact (§4.4).
func exporting() []string {
	return []string{
		"Endpoints", "Namespace", "ConfigMap", "Event", "PersistentVolume", "Node", "ClusterNetwork", "Image", "ThirdPartyResource",
		"OAuthClient", "HostSubnet", "HorizontalPodAutoscaler", "DaemonSet", "CronJob", "StatefulSet", "Pod",
	}
}

// readRows prove reads of one object and their exports (B1–B5, B9–B14, Z4).
var readRows = []row{
	{"B1 §4.2-namespaced-read §4.2-cluster-read", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		for _, k := range catalog() {
			name := nameFor(k.kind, "b1")
			made := create(t, s, k.kind, ns, name)
			got := ok(t, s.Do("GET", item(k.kind, ns, name), ""))
			want(t, got, "kind", k.realKind(), "apiVersion", k.apiVersion())
			if got != made {
				t.Errorf("%s: made %s, read %s", k.kind, made, got)
			}
		}
	}},
	{"B2", func(t *testing.T, s *testserver.Server) {
		expect(t, s.Do("GET", item("StatefulSet", namespace(t, s), "no"), ""), 404, "NotFound", `statefulsets.apps "no" not found`,
			`"details":{"name":"no","group":"apps","kind":"statefulsets"}`)
		expect(t, s.Do("GET", item("ConfigMap", "nowhere", "no"), ""), 404, "NotFound", `configmaps "no" not found`)
	}},
	{"B3", func(t *testing.T, s *testserver.Server) {
		list := ok(t, s.Do("GET", collection("ConfigMap", "nowhere"), ""))
		want(t, list, "kind", "ConfigMapList", "items", "[]")
	}},
	{"B4", func(t *testing.T, s *testserver.Server) {
		for _, path := range []string{"/api/v1/what", "/api/v2/pods", "/apis/apps/v9/daemonsets", "/apis/what/v1/pods", "/oapi/v2/hostsubnets"} {
			expect(t, s.Do("GET", path, ""), 404, "NotFound", "the server could not find the requested resource")
		}
	}},
	{"B5", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		made := create(t, s, "ConfigMap", ns, "m")
		path := item("ConfigMap", ns, "m")
		for _, at := range []string{"", "?resourceVersion=0", fmt.Sprintf("?resourceVersion=%d", version(t, made))} {
			if got := ok(t, s.Do("GET", path+at, "")); got != made {
				t.Errorf("%s: %s", at, got)
			}
		}
		expect(t, s.Do("GET", path+"?resourceVersion=9999999999", ""), 504, "Timeout", "Too large resource version: 9999999999", "ResourceVersionTooLarge")
	}},
	{"B9 Z4 §4.4-export", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		for _, kind := range exporting() {
			name := nameFor(kind, "b9")
			create(t, s, kind, ns, name, `{"metadata":{"labels":{"a":"b"},"finalizers":["x.io/hold"]}}`)
			ok(t, s.Do("DELETE", item(kind, ns, name), ""))
			got := ok(t, s.Do("GET", item(kind, ns, name)+"?export=true", ""))
			want(t, got, "metadata.name", name, "metadata.labels", `{"a":"b"}`, "metadata.namespace", "", "metadata.uid", "",
				"metadata.creationTimestamp", "", "metadata.deletionTimestamp", "", "metadata.resourceVersion", "", "metadata.selfLink", "")
			ok(t, s.Do("PATCH", item(kind, ns, name), `{"metadata":{"finalizers":null}}`, mergePatch))
		}
		create(t, s, "ConfigMap", ns, "generated", `{"metadata":{"generateName":"gen"}}`)
		want(t, ok(t, s.Do("GET", item("ConfigMap", ns, "generated")+"?export=1", "")),
			"metadata.name", "", "metadata.generateName", "gen")
		for kind, status := range statuses() {
			create(t, s, kind, ns, "b9s")
			ok(t, s.Do("PATCH", item(kind, ns, "b9s")+"/status", status, mergePatch))
			got := ok(t, s.Do("GET", item(kind, ns, "b9s")+"?export=true", ""))
			fresh := ok(t, s.Do("POST", collection(kind, ns)+"?dryRun=All", minimal(kind, ns, "b9f")))
			want(t, got, "status", get(t, fresh, "status"), "metadata.generation", get(t, fresh, "metadata.generation"))
		}
		created := with(ok(t, s.Do("GET", item("DaemonSet", ns, "b9s")+"?export=true", "")), `{"metadata":{"name":"again"}}`)
		want(t, ok(t, s.Do("POST", collection("DaemonSet", ns), created)), "metadata.generation", "1")
	}},
	{"B10 §4.4-exact", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		create(t, s, "ConfigMap", ns, "generated", `{"metadata":{"generateName":"gen"}}`)
		got := ok(t, s.Do("GET", item("ConfigMap", ns, "generated")+"?export=true&exact=true", ""))
		want(t, got, "metadata.name", "generated", "metadata.namespace", ns, "metadata.uid", "", "metadata.resourceVersion", "")
		create(t, s, "Node", "", "b10", `{"status":{"phase":"Running"}}`)
		want(t, ok(t, s.Do("GET", item("Node", "", "b10")+"?export=true&exact=true", "")), "status.phase", "Running")
		want(t, ok(t, s.Do("GET", item("Node", "", "b10")+"?export=true", "")), "status.phase", "")
	}},
	{"B11 B12", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		made := create(t, s, "ConfigMap", ns, "m")
		path := item("ConfigMap", ns, "m")
		for _, query := range []string{"?exact=true", "?export=false&exact=true", "?export=0"} {
			if got := ok(t, s.Do("GET", path+query, "")); got != made {
				t.Errorf("%s: %s", query, got)
			}
		}
		expect(t, s.Do("GET", path+"?export=x", ""), 400, "BadRequest", "export")
	}},
	{"B13", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		for _, kind := range []string{"ClusterRole", "Role", "ClusterRoleBinding", "LegacyBinding"} {
			name := strings.ToLower("b13-" + kind)
			made := create(t, s, kind, ns, name)
			for _, query := range []string{"?export=true", "?export=true&exact=true", "?export=x"} {
				if got := ok(t, s.Do("GET", item(kind, ns, name)+query, "")); got != made {
					t.Errorf("%s %s: %s", kind, query, got)
				}
			}
		}
	}},
	{"B14", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		made := create(t, s, "Pod", ns, "m")
		ok(t, s.Do("GET", item("Pod", ns, "m")+"?export=true", ""))
		if now := ok(t, s.Do("GET", item("Pod", ns, "m"), "")); now != made {
			t.Errorf("now %s", now)
		}
		if seen := ok(t, s.Do("GET", item("Pod", ns, "m")+"/status?export=true", "")); seen != made {
			t.Errorf("the status is exported: %s", seen)
		}
	}},
}
