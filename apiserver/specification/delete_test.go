package specification

import (
	"fmt"
	"testing"
	"time"

	"quorate/apiserver/internal/testserver"
)

// scheduled is a pod that is on a node, so that deleting it takes its grace period.
const scheduled = `{"spec":{"nodeName":"n1"}}`

// finalized keeps an object until somebody takes the finalizer off.
const finalized = `{"metadata":{"finalizers":["x.io/held"]}}`

// deleteRows prove deletes of one object (§3, G1–G20, G29).
var deleteRows = []row{
	{"G1 Z10 §4.2-namespaced-delete §4.2-cluster-delete", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		for _, k := range catalog() {
			name := nameFor(k.kind, "g1")
			uid := get(t, create(t, s, k.kind, ns, name), "metadata.uid")
			body := ok(t, s.Do("DELETE", item(k.kind, ns, name), ""))
			want(t, body, "kind", "Status", "apiVersion", "v1", "metadata", "{}", "status", "Success", "details.name", name,
				"details.group", k.group(), "details.kind", k.plural, "details.uid", uid)
			if k.kind != "Namespace" {
				expect(t, s.Do("GET", item(k.kind, ns, name), ""), 404, "NotFound")
			}
		}
	}},
	{"G2", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		for kind, change := range map[string]string{"Pod": scheduled, "ConfigMap": finalized} {
			uid := get(t, create(t, s, kind, ns, "g2", change), "metadata.uid")
			want(t, ok(t, s.Do("DELETE", item(kind, ns, "g2"), "")), "kind", "Status", "status", "Success", "details.uid", uid)
			if get(t, ok(t, s.Do("GET", item(kind, ns, "g2"), "")), "metadata.deletionTimestamp") == "" {
				t.Errorf("%s is not going", kind)
			}
		}
	}},
	{"G3", func(t *testing.T, s *testserver.Server) {
		expect(t, s.Do("DELETE", item("StatefulSet", "default", "none"), ""), 404, "NotFound",
			`statefulsets.apps "none" not found`, `"details":{"name":"none","group":"apps","kind":"statefulsets"}`)
	}},
	{"G4", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		for i, version := range []string{"", `"apiVersion":"v1",`, `"apiVersion":"meta.k8s.io/v1",`, `"apiVersion":"apps/v1beta2",`} {
			for j, kind := range []string{"", `"kind":"DeleteOptions",`} {
				name := fmt.Sprintf("g4-%d-%d", i, j)
				made := create(t, s, "DaemonSet", ns, name)
				body := fmt.Sprintf(`{%s%s"gracePeriodSeconds":0,"preconditions":{"uid":%q,"resourceVersion":%q},"propagationPolicy":"Background","dryRun":[]}`,
					version, kind, get(t, made, "metadata.uid"), get(t, made, "metadata.resourceVersion"))
				ok(t, s.Do("DELETE", item("DaemonSet", ns, name), body, "Content-Type: application/json"))
				expect(t, s.Do("GET", item("DaemonSet", ns, name), ""), 404, "NotFound")
			}
		}
	}},
	{"G5 §4.4-gracePeriodSeconds", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		grace := func(name, query, body string) string {
			create(t, s, "Pod", ns, name, scheduled)
			ok(t, s.Do("DELETE", item("Pod", ns, name)+query, body))
			return get(t, s.Do("GET", item("Pod", ns, name), "").Body, "metadata.deletionGracePeriodSeconds")
		}
		if got := grace("query", "?gracePeriodSeconds=70", ""); got != "70" {
			t.Errorf("of the query: %s", got)
		}
		if got := grace("both", "?gracePeriodSeconds=70", `{"gracePeriodSeconds":80}`); got != "80" {
			t.Errorf("of the body: %s", got)
		}
		if got := grace("filled", "?gracePeriodSeconds=70", `{"propagationPolicy":"Background"}`); got != "70" {
			t.Errorf("filled in by the query: %s", got)
		}
		ok(t, s.Do("DELETE", item("Pod", ns, "query")+"?dryRun=All&gracePeriodSeconds=0", ""))
		ok(t, s.Do("GET", item("Pod", ns, "query"), ""))
	}},
	{"G6", func(t *testing.T, s *testserver.Server) {
		path := item("ConfigMap", namespace(t, s), "x")
		expect(t, s.Do("DELETE", path, "{"), 400, "BadRequest")
		expect(t, s.Do("DELETE", path, `{"kind":"Pod","apiVersion":"v1"}`), 400, "BadRequest", "DeleteOptions")
		expect(t, s.Do("DELETE", path, `{"kind":"DeleteOptions","apiVersion":"other/v1"}`), 400, "BadRequest", "other/v1")
		expect(t, s.Do("DELETE", path, `{"gracePeriodSeconds":"soon"}`), 400, "BadRequest", "gracePeriodSeconds")
	}},
	{"G7", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		for i, header := range []string{"Accept: */*", "Content-Type: application/json", "Content-Type: text/plain", "Content-Type: not a type", "Content-Type: " + asKubernetes} {
			name := fmt.Sprint("g7-", i)
			create(t, s, "ConfigMap", ns, name)
			ok(t, s.Do("DELETE", item("ConfigMap", ns, name), "", header))
		}
	}},
	{"G8 Z18 §8-gracePeriodSeconds", func(t *testing.T, s *testserver.Server) {
		path := item("Pod", namespace(t, s), "x")
		for _, a := range []testserver.Answer{
			s.Do("DELETE", path+"?gracePeriodSeconds=-1", ""), s.Do("DELETE", path, `{"gracePeriodSeconds":-1}`),
		} {
			expectInvalid(t, a, "gracePeriodSeconds", "FieldValueInvalid")
			want(t, a.Body, "details.group", "meta.k8s.io", "details.kind", "DeleteOptions")
		}
		expect(t, s.Do("DELETE", path+"?gracePeriodSeconds=1.5", ""), 400, "BadRequest")
	}},
	{"G9 §3.1", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		create(t, s, "Pod", ns, "p", scheduled)
		ok(t, s.Do("DELETE", item("Pod", ns, "p")+"?gracePeriodSeconds=0", ""))
		expect(t, s.Do("GET", item("Pod", ns, "p"), ""), 404, "NotFound")
		create(t, s, "Pod", ns, "held", scheduled, finalized)
		ok(t, s.Do("DELETE", item("Pod", ns, "held"), `{"gracePeriodSeconds":0}`))
		want(t, ok(t, s.Do("GET", item("Pod", ns, "held"), "")), "metadata.deletionGracePeriodSeconds", "0")
	}},
	{"G10 §3.2", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		for name, change := range map[string]string{"30": `{}`, "70": `{"spec":{"terminationGracePeriodSeconds":70}}`} {
			create(t, s, "Pod", ns, "p"+name, scheduled, change)
			ok(t, s.Do("DELETE", item("Pod", ns, "p"+name), ""))
			want(t, ok(t, s.Do("GET", item("Pod", ns, "p"+name), "")), "metadata.deletionGracePeriodSeconds", name)
		}
	}},
	{"G11", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		create(t, s, "Pod", ns, "unscheduled")
		create(t, s, "Pod", ns, "succeeded", scheduled)
		create(t, s, "Pod", ns, "failed", scheduled)
		for name, phase := range map[string]string{"succeeded": "Succeeded", "failed": "Failed"} {
			pod := ok(t, s.Do("GET", item("Pod", ns, name), ""))
			ok(t, s.Do("PUT", item("Pod", ns, name)+"/status", with(pod, `{"status":{"phase":"`+phase+`"}}`)))
		}
		for _, name := range []string{"unscheduled", "succeeded", "failed"} {
			ok(t, s.Do("DELETE", item("Pod", ns, name)+"?gracePeriodSeconds=60", ""))
			expect(t, s.Do("GET", item("Pod", ns, name), ""), 404, "NotFound")
		}
	}},
	{"G12 G13 Z11 D21", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		create(t, s, "Pod", ns, "p", scheduled)
		w := watch(t, s, watchPath("Pod", ns)+"?resourceVersion=0")
		w.want("ADDED p")
		asked := time.Now().Truncate(time.Second)
		ok(t, s.Do("DELETE", item("Pod", ns, "p")+"?gracePeriodSeconds=2", ""))
		marked := w.want("MODIFIED p")
		want(t, marked, "metadata.deletionGracePeriodSeconds", "2")
		end, err := time.Parse(time.RFC3339, get(t, marked, "metadata.deletionTimestamp"))
		if err != nil || end.Before(asked.Add(2*time.Second)) || end.After(time.Now().Add(2*time.Second)) {
			t.Errorf("%v: asked at %v, ends at %v", err, asked, end)
		}
		w.want("DELETED p")
		if gone := time.Now(); gone.Before(end) {
			t.Errorf("gone at %v, before %v", gone, end)
		}
		create(t, s, "Pod", ns, "slow", scheduled)
		ok(t, s.Do("DELETE", item("Pod", ns, "slow")+"?gracePeriodSeconds=600", ""))
		ok(t, s.Do("PUT", item("Pod", ns, "slow"), with(ok(t, s.Do("GET", item("Pod", ns, "slow"), "")), label)))
		w.want("ADDED slow", "MODIFIED slow", "MODIFIED slow")
		create(t, s, "Pod", ns, "sooner", scheduled)
		ok(t, s.Do("DELETE", item("Pod", ns, "sooner"), ""))
		ok(t, s.Do("DELETE", item("Pod", ns, "sooner")+"?gracePeriodSeconds=0", ""))
		w.want("ADDED sooner", "MODIFIED sooner", "DELETED sooner")
	}},
	{"G14 G15", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		create(t, s, "Pod", ns, "p", scheduled, `{"spec":{"terminationGracePeriodSeconds":600}}`)
		remove := func(query string) string {
			ok(t, s.Do("DELETE", item("Pod", ns, "p")+query, ""))
			return ok(t, s.Do("GET", item("Pod", ns, "p"), ""))
		}
		first := remove("")
		for _, query := range []string{"", "?gracePeriodSeconds=600", "?gracePeriodSeconds=900"} {
			if again := remove(query); again != first {
				t.Errorf("%s changed it: %s", query, again)
			}
		}
		shorter := remove("?gracePeriodSeconds=300")
		want(t, shorter, "metadata.deletionGracePeriodSeconds", "300")
		if get(t, shorter, "metadata.deletionTimestamp") >= get(t, first, "metadata.deletionTimestamp") {
			t.Errorf("ends no sooner: %s", shorter)
		}
	}},
	{"G16", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		for _, kind := range []string{"ConfigMap", "StatefulSet", "Node", "Event"} {
			create(t, s, kind, ns, "g16")
			ok(t, s.Do("DELETE", item(kind, ns, "g16")+"?gracePeriodSeconds=100", ""))
			expect(t, s.Do("GET", item(kind, ns, "g16"), ""), 404, "NotFound")
		}
	}},
	{"G17 G18", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		made := create(t, s, "ConfigMap", ns, "m")
		uid, path := get(t, made, "metadata.uid"), item("ConfigMap", ns, "m")
		expect(t, s.Do("DELETE", path, `{"preconditions":{"uid":"a"}}`), 409, "Conflict",
			"the UID in the precondition (a) does not match the UID in record ("+uid+")")
		changed := ok(t, s.Do("PUT", path, with(made, label)))
		options := func(o string) string {
			return fmt.Sprintf(`{"preconditions":{"uid":%q,"resourceVersion":%q}}`, uid, get(t, o, "metadata.resourceVersion"))
		}
		expect(t, s.Do("DELETE", path, options(made)), 409, "Conflict", "the ResourceVersion in the precondition")
		ok(t, s.Do("DELETE", path, options(changed)))
	}},
	{"G19 G20", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		made := create(t, s, "StatefulSet", ns, "m", finalized)
		w := watch(t, s, watchPath("StatefulSet", ns)+"?resourceVersion="+get(t, made, "metadata.resourceVersion"))
		ok(t, s.Do("DELETE", item("StatefulSet", ns, "m"), ""))
		going := w.want("MODIFIED m")
		want(t, going, "metadata.deletionGracePeriodSeconds", "0", "metadata.generation", "2")
		ok(t, s.Do("DELETE", item("StatefulSet", ns, "m"), ""))
		if again := ok(t, s.Do("GET", item("StatefulSet", ns, "m"), "")); again != going {
			t.Errorf("G20: changed to %s", again)
		}
		ok(t, s.Do("PUT", item("StatefulSet", ns, "m"), with(going, `{"metadata":{"finalizers":null}}`)))
		w.want("DELETED m")
	}},
	{"G29", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		made := create(t, s, "ConfigMap", ns, "m")
		path := item("ConfigMap", ns, "m")
		for _, a := range []testserver.Answer{s.Do("DELETE", path+"?dryRun=All", ""), s.Do("DELETE", path, `{"dryRun":["All"]}`)} {
			want(t, ok(t, a), "status", "Success", "details.uid", get(t, made, "metadata.uid"))
		}
		if got := ok(t, s.Do("GET", path, "")); got != made {
			t.Errorf("changed to %s", got)
		}
		expectInvalid(t, s.Do("DELETE", path+"?dryRun=Some", ""), "dryRun", "FieldValueNotSupported")
		expect(t, s.Do("DELETE", path+"x?dryRun=All", ""), 404, "NotFound")
	}},
	{"G50", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		create(t, s, "PersistentVolume", "", "g50", `{"spec":{"claimRef":{"kind":"PersistentVolumeClaim","namespace":"`+ns+`","name":"c"}}}`)
		create(t, s, "Node", "", "g50")
		create(t, s, "Pod", ns, "p", `{"spec":{"nodeName":"g50"}}`)
		create(t, s, "ClusterRole", "", "g50")
		create(t, s, "ClusterRoleBinding", "", "g50", `{"roleRef":{"kind":"ClusterRole","name":"g50"}}`)
		create(t, s, "OAuthClient", "", "g50")
		for _, kind := range []string{"PersistentVolume", "Node", "ClusterRole", "OAuthClient"} {
			ok(t, s.Do("DELETE", item(kind, "", "g50"), ""))
			expect(t, s.Do("GET", item(kind, "", "g50"), ""), 404, "NotFound")
		}
		ok(t, s.Do("GET", item("Pod", ns, "p"), ""))
		ok(t, s.Do("GET", item("ClusterRoleBinding", "", "g50"), ""))
	}},
	{"G51", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		for _, kind := range []string{"Event", "Endpoints", "ConfigMap"} {
			path := item(kind, ns, "g51")
			uid := get(t, create(t, s, kind, ns, "g51", finalized), "metadata.uid")
			expect(t, s.Do("DELETE", path, `{"preconditions":{"uid":"other"}}`), 409, "Conflict")
			expect(t, s.Do("DELETE", path+"?propagationPolicy=x", ""), 422, "Invalid")
			want(t, ok(t, s.Do("DELETE", path, `{"gracePeriodSeconds":5}`)), "details.uid", uid)
			going := ok(t, s.Do("GET", path, ""))
			ok(t, s.Do("PUT", path, with(going, `{"metadata":{"finalizers":null}}`)))
			expect(t, s.Do("GET", path, ""), 404, "NotFound")
		}
	}},
	{"G52", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		create(t, s, "ConfigMap", ns, "m", finalized)
		path := item("ConfigMap", ns, "m")
		uid := get(t, ok(t, s.Do("DELETE", path, `{"propagationPolicy":"Background"}`)), "details.uid")
		want(t, ok(t, s.Do("GET", path, "")), "metadata.uid", uid)
		named := collection("ConfigMap", ns) + "?fieldSelector=metadata.name%3Dm"
		list := ok(t, s.Do("GET", named, ""))
		w := watch(t, s, named+"&watch=true&resourceVersion="+get(t, list, "metadata.resourceVersion"))
		ok(t, s.Do("PUT", path, with(ok(t, s.Do("GET", path, "")), `{"metadata":{"finalizers":null}}`)))
		want(t, w.want("DELETED m"), "metadata.uid", uid)
	}},
	{"G53", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		for _, name := range []string{"a", "b", "c"} {
			create(t, s, "ConfigMap", ns, name, `{"metadata":{"labels":{"n":"`+name+`"}}}`)
		}
		for _, name := range names(t, ok(t, s.Do("GET", collection("ConfigMap", ns)+"?labelSelector=n!%3Db&limit=500", ""))) {
			ok(t, s.Do("DELETE", item("ConfigMap", ns, name), `{"propagationPolicy":"Background"}`))
		}
		if left := names(t, ok(t, s.Do("GET", collection("ConfigMap", ns), ""))); fmt.Sprint(left) != "[b]" {
			t.Errorf("left: %v", left)
		}
	}},
}
