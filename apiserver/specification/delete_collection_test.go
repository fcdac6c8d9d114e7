package specification

import (
	"fmt"
	"testing"
	"time"

	"quorate/apiserver"
	"quorate/apiserver/internal/testserver"
)

// deleteCollectionRows prove deletes of collections (G30–G36) and the end of namespaces (G37–G42).
var deleteCollectionRows = []row{
	{"G30 §4.2-cluster-delete-collection", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		fill := func() {
			for _, name := range []string{"a", "b", "c", "d"} {
				a := s.Do("POST", collection("ConfigMap", ns), minimal("ConfigMap", ns, name, `{"metadata":{"labels":{"n":"`+name+`"}}}`))
				if a.Code != 200 && a.Code != 409 {
					t.Fatal(a.Body)
				}
			}
		}
		for query, left := range map[string]string{
			"?labelSelector=n+in+(a,c)":        "[b d]",
			"?fieldSelector=metadata.name%3Db": "[a c d]",
			"?labelSelector=n!%3Da&limit=2":    "[a d]",
			"?limit=1&resourceVersion=0":       "[b c d]",
			"":                                 "[]",
		} {
			fill()
			body := ok(t, s.Do("DELETE", collection("ConfigMap", ns)+query, ""))
			want(t, body, "kind", "Status", "status", "Success", "details", `{"kind":"configmaps"}`)
			if got := fmt.Sprint(names(t, ok(t, s.Do("GET", collection("ConfigMap", ns), "")))); got != left {
				t.Errorf("%q leaves %s, want %s", query, got, left)
			}
		}
		expect(t, s.Do("DELETE", collection("ConfigMap", ns)+"?labelSelector=(", ""), 400, "BadRequest")
		expect(t, s.Do("DELETE", collection("ConfigMap", ns)+"?timeoutSeconds=-1", ""), 400, "BadRequest")
	}},
	{"G31", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		create(t, s, "Pod", ns, "graceful", scheduled)
		create(t, s, "Pod", ns, "held", finalized)
		last := create(t, s, "Pod", ns, "plain")
		w := watch(t, s, watchPath("Pod", ns)+"?resourceVersion="+get(t, last, "metadata.resourceVersion"))
		ok(t, s.Do("DELETE", collection("Pod", ns), `{"gracePeriodSeconds":600}`))
		seen := map[string]string{}
		versions := map[uint64]bool{}
		for range 3 {
			event, object := w.next()
			seen[event] = object
			versions[version(t, object)] = true
		}
		want(t, seen["MODIFIED graceful"], "metadata.deletionGracePeriodSeconds", "600")
		want(t, seen["MODIFIED held"], "metadata.deletionGracePeriodSeconds", "0")
		if seen["DELETED plain"] == "" || len(versions) != 3 {
			t.Errorf("saw %v", seen)
		}
		ok(t, s.Do("DELETE", collection("Pod", ns)+"?dryRun=All&gracePeriodSeconds=0", ""))
		ok(t, s.Do("GET", item("Pod", ns, "graceful"), ""))
	}},
	{"G32", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		first := create(t, s, "ConfigMap", ns, "first")
		create(t, s, "ConfigMap", ns, "second")
		// The uid fits one of them: the other is refused, and what was done is done.
		a := s.Do("DELETE", collection("ConfigMap", ns), `{"preconditions":{"uid":"`+get(t, first, "metadata.uid")+`"}}`)
		expect(t, a, 409, "Conflict", `configmaps "second"`, "1 objects were deleted")
		if left := names(t, ok(t, s.Do("GET", collection("ConfigMap", ns), ""))); fmt.Sprint(left) != "[second]" {
			t.Errorf("left %v", left)
		}
	}},
	{"G33 G34", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		want(t, ok(t, s.Do("DELETE", collection("Role", ns), "")), "status", "Success", "details.group", "rbac.authorization.platform.io")
		create(t, s, "Role", ns, "r")
		want(t, ok(t, s.Do("DELETE", collection("Role", ns)+"?watch=true", "")), "status", "Success")
		expect(t, s.Do("GET", item("Role", ns, "r"), ""), 404, "NotFound")
	}},
	{"G35", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		for _, k := range catalog() {
			path := collection(k.kind, ns) + "?labelSelector=row%3Dnone"
			if k.kind == "Namespace" || k.kind == legacyForm {
				expect(t, s.Do("DELETE", path, ""), 405, "MethodNotAllowed")
				continue
			}
			ok(t, s.Do("DELETE", path, ""))
			if k.namespaced {
				expect(t, s.Do("DELETE", collection(k.kind, ""), ""), 405, "MethodNotAllowed")
			}
		}
	}},
	{"G36", func(t *testing.T, s *testserver.Server) {
		jane := "Authorization: Bearer " + s.IssueToken("jane")
		expect(t, s.Do("DELETE", collection("Node", ""), "", jane), 403, "Forbidden", `cannot deletecollection resource "nodes"`)
		expect(t, s.Do("DELETE", item("Node", "", "n"), "", jane), 403, "Forbidden", `cannot delete resource "nodes"`)
	}},
	{"G37 G40 G42", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		create(t, s, "ConfigMap", ns, "m", finalized)
		w := watch(t, s, watchPath("Namespace", "")+"/"+ns+"?resourceVersion=0")
		w.want("ADDED " + ns)
		want(t, ok(t, s.Do("DELETE", item("Namespace", "", ns), "")), "status", "Success", "details.kind", "namespaces")
		going := w.want("MODIFIED " + ns)
		want(t, going, "status.phase", "Terminating", "spec.finalizers", `["platform"]`)
		if get(t, going, "metadata.deletionTimestamp") == "" {
			t.Errorf("not going: %s", going)
		}
		ok(t, s.Do("DELETE", item("Namespace", "", ns), ""))
		if again := ok(t, s.Do("GET", item("Namespace", "", ns), "")); again != going {
			t.Errorf("G42: changed to %s", again)
		}
		expect(t, s.Do("POST", collection("ConfigMap", ns), minimal("ConfigMap", ns, "new")), 403, "Forbidden", "being terminated")
		s.Eventually("the content is going", func() bool {
			return get(t, s.Do("GET", item("ConfigMap", ns, "m"), "").Body, "metadata.deletionTimestamp") != ""
		})
		changed := ok(t, s.Do("PUT", item("ConfigMap", ns, "m"), with(ok(t, s.Do("GET", item("ConfigMap", ns, "m"), "")), label)))
		ok(t, s.Do("PATCH", item("ConfigMap", ns, "m"), `{"data":{"k":"w"}}`, "Content-Type: application/merge-patch+json"))
		ok(t, s.Do("DELETE", item("ConfigMap", ns, "m"), ""))
		ok(t, s.Do("PUT", item("ConfigMap", ns, "m"), with(changed, `{"metadata":{"finalizers":null,"resourceVersion":null}}`)))
		expect(t, s.Do("GET", item("ConfigMap", ns, "m"), ""), 404, "NotFound")
	}},
	{"G38", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		for _, k := range catalog() {
			if k.namespaced && k.kind != "Pod" {
				create(t, s, k.kind, ns, "x")
			}
		}
		create(t, s, "Pod", ns, "p", scheduled, `{"spec":{"terminationGracePeriodSeconds":1}}`)
		w := watch(t, s, watchPath("Namespace", "")+"/"+ns+"?resourceVersion=0")
		w.want("ADDED " + ns)
		ok(t, s.Do("DELETE", item("Namespace", "", ns), ""))
		w.want("MODIFIED "+ns, "DELETED "+ns)
		for _, k := range catalog() {
			if left := names(t, ok(t, s.Do("GET", collection(k.kind, ns), ""))); k.namespaced && len(left) > 0 {
				t.Errorf("%s: left %v", k.kind, left)
			}
		}
	}},
	{"G39", func(t *testing.T, s *testserver.Server) {
		made := ok(t, s.Do("POST", collection("Namespace", ""), `{"metadata":{"name":"g39"},"spec":{"finalizers":["x.io/mine"]}}`))
		w := watch(t, s, watchPath("Namespace", "")+"/g39?resourceVersion="+get(t, made, "metadata.resourceVersion"))
		ok(t, s.Do("DELETE", item("Namespace", "", "g39"), ""))
		w.want("MODIFIED g39")
		emptied := w.want("MODIFIED g39")
		want(t, emptied, "spec.finalizers", `["x.io/mine"]`, "status.phase", "Terminating")
		ok(t, s.Do("PUT", item("Namespace", "", "g39")+"/finalize", with(emptied, `{"spec":{"finalizers":[]}}`)))
		w.want("DELETED g39")
	}},
	{"G41", func(t *testing.T, s *testserver.Server) {
		for _, name := range []string{"default", "platform-system", "platform-public"} {
			expect(t, s.Do("DELETE", item("Namespace", "", name), ""), 403, "Forbidden", "this namespace may not be deleted")
		}
	}},
}

// expiryRows prove that events expire, which takes a while.
var expiryRows = []row{
	{"M17", func(t *testing.T, _ *testserver.Server) {
		const ttl = time.Second
		s := testserver.Start(t, func(cfg *apiserver.Config) { cfg.EventTTL = ttl })
		first := create(t, s, "Event", "default", "silent")
		create(t, s, "Event", "default", "repeated")
		create(t, s, "ConfigMap", "default", "stays")
		w := watch(t, s, watchPath("Event", "default")+"/silent?resourceVersion="+get(t, first, "metadata.resourceVersion"))
		n, written := 0, time.Now()
		s.Eventually("the event that is not repeated has expired", func() bool {
			n++
			count, sent := fmt.Sprintf(`{"count":%d}`, n), time.Now()
			a := s.Do("PATCH", item("Event", "default", "repeated"), count, "Content-Type: application/merge-patch+json")
			if a.Code == 404 && time.Since(written) > ttl { // a slow machine: it expired between two writes, as it should
				create(t, s, "Event", "default", "repeated")
			} else {
				ok(t, a)
			}
			written = sent
			return s.Do("GET", item("Event", "default", "silent"), "").Code == 404
		})
		w.want("DELETED silent")
		if a := s.Do("GET", item("Event", "default", "repeated"), ""); a.Code != 404 || time.Since(written) <= ttl {
			ok(t, a)
		}
		s.Eventually("the other has expired too", func() bool { return s.Do("GET", item("Event", "default", "repeated"), "").Code == 404 })
		ok(t, s.Do("GET", item("ConfigMap", "default", "stays"), ""))
	}},
}
