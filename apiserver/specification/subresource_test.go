package specification

import (
	"testing"

	"quorate/apiserver/internal/testserver"
)

// The media types of patches, as headers.
const (
	mergePatch     = "Content-Type: application/merge-patch+json"
	strategicPatch = "Content-Type: application/strategic-merge-patch+json"
	applyPatch     = "Content-Type: application/apply-patch+yaml"
)

// ownedBy is an owner reference.
func ownedBy(kind, name, uid string) string {
	return `{"apiVersion":"v1","kind":"` + kind + `","name":"` + name + `","uid":"` + uid + `"}`
}

// subresourceRows prove the subresources (§4.2, H, Z12).
var subresourceRows = []row{
	{"H1 §4.2-subresource-status-read §4.2-subresource-persistentvolume-status-read", func(t *testing.T, s *testserver.Server) {
		for _, kind := range []string{"Namespace", "Node", "PersistentVolume"} {
			create(t, s, kind, "", "h1")
			whole := ok(t, s.Do("GET", item(kind, "", "h1"), ""))
			if status := ok(t, s.Do("GET", item(kind, "", "h1")+"/status", "")); status != whole {
				t.Errorf("%s: %s, its status %s", kind, whole, status)
			}
		}
	}},
	{"H2 §4.2-subresource-status-replace", func(t *testing.T, s *testserver.Server) {
		made := create(t, s, "Node", "", "h2")
		path := item("Node", "", "h2") + "/status"
		put := ok(t, s.Do("PUT", path, with(made, label, `{"spec":{"unschedulable":true},"status":{"phase":"Running"}}`)))
		want(t, put, "status.phase", "Running", "spec.unschedulable", "", "metadata.labels.row", "changed")
		if now := ok(t, s.Do("GET", item("Node", "", "h2"), "")); now != put {
			t.Errorf("stored %s, answered %s", now, put)
		}
		expect(t, s.Do("PUT", path, made), 409, "Conflict", "the object has been modified")
		want(t, ok(t, s.Do("PUT", path, minimal("Node", "", "h2", `{"status":{"phase":"Pending"}}`))), "status.phase", "Pending")
		expect(t, s.Do("PUT", path, minimal("Node", "", "h2", `{"metadata":{"uid":"u"}}`)), 409, "Conflict", "UID in precondition: u")
		expect(t, s.Do("PUT", path, minimal("Node", "", "other")), 400, "BadRequest", "does not match the name on the URL (h2)")
		ns := namespace(t, s)
		owner := get(t, made, "metadata.uid")
		create(t, s, "Pod", ns, "h2", `{"metadata":{"ownerReferences":[`+ownedBy("Node", "h2", owner)+`]}}`)
		put = ok(t, s.Do("PUT", item("Pod", ns, "h2")+"/status", minimal("Pod", ns, "h2", `{"status":{"phase":"Failed"}}`)))
		want(t, put, "status.phase", "Failed", "metadata.ownerReferences.0.uid", owner)
	}},
	{"H3", func(t *testing.T, s *testserver.Server) {
		made := create(t, s, "PersistentVolume", "", "h3")
		path := item("PersistentVolume", "", "h3") + "/status"
		put := ok(t, s.Do("PUT", path, with(made, `{"spec":{"storageClassName":"x"},"status":{"phase":"Available"}}`)))
		want(t, put, "status.phase", "Available", "spec.storageClassName", "")
		want(t, ok(t, s.Do("PATCH", path, `{"status":{"phase":"Bound","reason":"r"}}`, mergePatch)), "status.phase", "Bound", "status.reason", "r")
	}},
	{"H4", func(t *testing.T, s *testserver.Server) {
		for _, kind := range []string{"Namespace", "Node", "PersistentVolume"} {
			path := item(kind, "", "h4") + "/status"
			missing := `"h4" not found`
			expect(t, s.Do("GET", path, ""), 404, "NotFound", missing)
			expect(t, s.Do("PUT", path, minimal(kind, "", "h4")), 404, "NotFound", missing)
			expect(t, s.Do("PATCH", path, `{}`, mergePatch), 404, "NotFound", missing)
		}
	}},
	{"H5 H10 Z12 §4.2-subresource-status-patch", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		for kind, status := range statuses() {
			made := create(t, s, kind, ns, "h5")
			path := item(kind, ns, "h5") + "/status"
			want(t, ok(t, s.Do("GET", path, "")), "metadata.uid", get(t, made, "metadata.uid"))
			put := ok(t, s.Do("PUT", path, with(made, status, `{"spec":{"finalizers":["x.io/a"],"minReadySeconds":9,"replicas":9}}`)))
			want(t, put, "spec", get(t, made, "spec"), "metadata.generation", get(t, made, "metadata.generation"))
			for name, text := range object(status)["status"].(map[string]any) {
				if got := get(t, put, "status."+name); got == "" {
					t.Errorf("%s: status.%s is not %v: %s", kind, name, text, put)
				}
			}
			patched := ok(t, s.Do("PATCH", path, with(status, label), strategicPatch))
			want(t, patched, "status", get(t, put, "status"), "metadata.labels.row", "changed",
				"metadata.generation", get(t, made, "metadata.generation"))
		}
	}},
	{"H6", func(t *testing.T, s *testserver.Server) {
		made := create(t, s, "Node", "", "h6", `{"status":{"phase":"Running"}}`)
		path := item("Node", "", "h6") + "/status"
		if put := ok(t, s.Do("PUT", path, with(made, `{"spec":{"unschedulable":true}}`))); put != made {
			t.Errorf("%s became %s", made, put)
		}
		if patched := ok(t, s.Do("PATCH", path, `{"status":{"phase":"Running"}}`, mergePatch)); patched != made {
			t.Errorf("%s became %s", made, patched)
		}
	}},
	{"H7 §4.2-subresource-namespace-finalize-replace", func(t *testing.T, s *testserver.Server) {
		made := create(t, s, "Namespace", "", "h7", `{"metadata":{"finalizers":["x.io/meta"]}}`)
		path := item("Namespace", "", "h7")
		finalizers := func(list string) string {
			return with(made, `{"metadata":{"resourceVersion":null},"status":{"phase":"Terminating"},"spec":{"finalizers":`+list+`}}`)
		}
		grown := ok(t, s.Do("PUT", path+"/finalize", finalizers(`["platform","x.io/a"]`)))
		want(t, grown, "kind", "Namespace", "spec.finalizers", `["platform","x.io/a"]`, "status.phase", "Active")
		ok(t, s.Do("DELETE", path, ""))
		w := watch(t, s, watchPath("Namespace", "")+"/h7?resourceVersion="+get(t, ok(t, s.Do("GET", path, "")), "metadata.resourceVersion"))
		ok(t, s.Do("PUT", path+"/finalize", finalizers(`[]`)))
		last := ok(t, s.Do("PUT", path, with(made, `{"metadata":{"resourceVersion":null,"finalizers":[]}}`)))
		for event, o := w.next(); event != "DELETED h7"; event, o = w.next() {
			if event != "MODIFIED h7" {
				t.Fatalf("%s: %s", event, o)
			}
		}
		want(t, last, "status.phase", "Terminating")
		expect(t, s.Do("GET", path, ""), 404, "NotFound")

		create(t, s, "Namespace", "", "h7", `{"spec":{"finalizers":["x.io/a"]}}`)
		ok(t, s.Do("DELETE", path, ""))
		want(t, ok(t, s.Do("PUT", path+"/finalize", minimal("Namespace", "", "h7"))), "metadata.name", "h7", "spec.finalizers", "")
		expect(t, s.Do("GET", path, ""), 404, "NotFound")
	}},
	{"H8", func(t *testing.T, s *testserver.Server) {
		made := create(t, s, "Namespace", "", "h8")
		path := item("Namespace", "", "h8") + "/finalize"
		ok(t, s.Do("PUT", path, with(made, `{"spec":{"finalizers":["platform","x.io/a"]}}`)))
		expect(t, s.Do("PUT", path, made), 409, "Conflict", "the object has been modified")
		expect(t, s.Do("PUT", path, minimal("Namespace", "", "other")), 400, "BadRequest", "does not match the name on the URL (h8)")
		expect(t, s.Do("PUT", item("Namespace", "", "nowhere")+"/finalize", minimal("Namespace", "", "nowhere")), 404, "NotFound")
	}},
	{"H9", func(t *testing.T, s *testserver.Server) {
		for _, method := range []string{"GET", "PATCH", "DELETE"} {
			expect(t, s.Do(method, item("Namespace", "", "default")+"/finalize", ""), 405, "MethodNotAllowed")
		}
	}},
	{"H11", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		create(t, s, "StatefulSet", ns, "m")
		path := item("StatefulSet", ns, "m") + "/scale"
		want(t, ok(t, s.Do("GET", path, "")), "kind", "Scale", "apiVersion", "autoscaling/v1", "spec", `{"replicas":1}`)
		merge := "Content-Type: application/merge-patch+json"
		want(t, ok(t, s.Do("PATCH", path, `{"spec":{"replicas":4}}`, merge)), "kind", "Scale", "spec", `{"replicas":4}`)
		want(t, ok(t, s.Do("GET", item("StatefulSet", ns, "m"), "")), "spec.replicas", "4", "metadata.generation", "2")
	}},
	{"H12", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		create(t, s, "Pod", ns, "m")
		for _, name := range []string{"log", "exec", "eviction", "binding", "proxy"} {
			expect(t, s.Do("GET", item("Pod", ns, "m")+"/"+name, ""), 404, "NotFound")
			expect(t, s.Do("POST", item("Pod", ns, "m")+"/"+name, `{}`), 404, "NotFound")
		}
	}},
	{"H13", func(t *testing.T, s *testserver.Server) {
		nobody := "Authorization: Bearer " + s.IssueToken("nobody")
		for _, tc := range []struct{ method, verb, kind, subresource string }{
			{"GET", "get", "Namespace", "status"}, {"PUT", "update", "Namespace", "status"}, {"PATCH", "patch", "Namespace", "status"},
			{"PUT", "update", "Namespace", "finalize"}, {"GET", "get", "Node", "status"}, {"PUT", "update", "Node", "status"},
			{"PATCH", "patch", "Node", "status"}, {"PATCH", "patch", "PersistentVolume", "status"},
		} {
			expect(t, s.Do(tc.method, item(tc.kind, "", "default")+"/"+tc.subresource, "", nobody), 403, "Forbidden",
				`User "nobody" cannot `+tc.verb+` resource "`+kindNamed(tc.kind).plural+"/"+tc.subresource+`" in API group ""`)
		}
	}},
	{"H14", func(t *testing.T, s *testserver.Server) {
		expect(t, s.Do("GET", watchPath("Namespace", "")+"/default/status", ""), 404, "NotFound")
		expect(t, s.Do("GET", watchPath("Node", "")+"/n/status", ""), 404, "NotFound")
	}},
	{"H15", func(t *testing.T, s *testserver.Server) {
		condition := func(kind, status string) string { return `{"type":"` + kind + `","status":"` + status + `"}` }
		create(t, s, "Node", "", "h15", `{"status":{"conditions":[`+condition("Ready", "True")+`,`+condition("DiskPressure", "False")+`]}}`)
		patched := ok(t, s.Do("PATCH", item("Node", "", "h15")+"/status", `{"status":{"conditions":[`+condition("Ready", "Unknown")+`]}}`, strategicPatch))
		want(t, patched, "status.conditions.0.type", "Ready", "status.conditions.0.status", "Unknown",
			"status.conditions.1.type", "DiskPressure", "status.conditions.1.status", "False")
	}},
	{"H16", func(t *testing.T, s *testserver.Server) {
		name := namespace(t, s)
		path := item("Namespace", "", name)
		phase := func(p string) testserver.Answer {
			return s.Do("PATCH", path+"/status", `{"status":{"phase":"`+p+`"}}`, mergePatch)
		}
		want(t, ok(t, phase("Active")), "status.phase", "Active")
		expectInvalid(t, phase("Terminating"), "status.phase", "FieldValueInvalid", "may only be 'Active' if `deletionTimestamp` is empty")
		expectInvalid(t, phase("Odd"), "status.phase", "FieldValueNotSupported")
		ok(t, s.Do("PUT", path+"/finalize", minimal("Namespace", "", name, `{"spec":{"finalizers":["x.io/hold"]}}`)))
		ok(t, s.Do("DELETE", path, ""))
		want(t, ok(t, phase("Terminating")), "status.phase", "Terminating")
		expectInvalid(t, phase("Active"), "status.phase", "FieldValueInvalid", "may only be 'Terminating' if `deletionTimestamp` is not empty")
		ok(t, s.Do("PUT", path+"/finalize", minimal("Namespace", "", name)))
	}},
}
