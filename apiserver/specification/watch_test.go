package specification

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"quorate/apiserver/internal/testserver"
)

// watching is a collection's path with `?watch=true` and more parameters.
func watching(path string, pairs ...string) string {
	return asked(path, append([]string{"watch", "true"}, pairs...)...)
}

// merged changes an object by a merge patch.
func merged(t *testing.T, s *testserver.Server, path, patch string) string {
	t.Helper()
	return ok(t, s.Do("PATCH", path, patch, "Content-Type: application/merge-patch+json"))
}

// watchRows prove streams of changes (D10–D36, D41–D48, §6).
var watchRows = []row{
	{"D10 Z8 §4.4-resourceVersion-1", func(t *testing.T, s *testserver.Server) {
		path, first := some(t, s, "a", "b")
		merged(t, s, path+"/a", `{"data":{"k":"new"}}`)
		ok(t, s.Do("DELETE", path+"/b", ""))
		w := watch(t, s, watching(path)) // this log begins with the cluster: all of it is history
		if a := w.want("ADDED a"); version(t, a) >= first {
			t.Errorf("version %d, want that of its creation: %s", version(t, a), a)
		}
		w.want("ADDED b", "MODIFIED a", "DELETED b")
	}},
	{"D11 D12", func(t *testing.T, s *testserver.Server) {
		path, _ := some(t, s, "b", "c", "a")
		now := merged(t, s, path+"/c", `{"data":{"k":"new"}}`)
		ok(t, s.Do("DELETE", path+"/b", ""))
		w := watch(t, s, watching(path, "resourceVersion", "0"))
		a, c := w.want("ADDED a"), w.want("ADDED c")
		if version(t, a) >= version(t, c) || version(t, c) != version(t, now) {
			t.Errorf("versions %d and %d, want them to be the objects' own", version(t, a), version(t, c))
		}
		ok(t, s.Do("POST", path, `{"metadata":{"name":"d"}}`))
		w.want("ADDED d")
	}},
	{"D14", func(t *testing.T, s *testserver.Server) {
		path, last := some(t, s, "a")
		w := watch(t, s, watching(path, "resourceVersion", text(last+3)))
		for i := range 6 {
			ok(t, s.Do("POST", path, fmt.Sprintf(`{"metadata":{"name":"n%d"}}`, i)))
		}
		if _, object := w.next(); version(t, object) <= last+3 {
			t.Errorf("%s after version %d", object, last+3)
		}
	}},
	{"D15 D16 D17 D18 §4.4-limit-6", func(t *testing.T, s *testserver.Server) {
		path, last := some(t, s, "a", "b", "c")
		a := s.Do("GET", watching(path, "resourceVersion", "x"), "")
		expectInvalid(t, a, "resourceVersion", "FieldValueInvalid")
		want(t, a.Body, "details.group", "meta.k8s.io", "details.kind", "ListOptions")
		watch(t, s, watching(path, "limit", "1", "resourceVersion", text(last-2))).want("ADDED b", "ADDED c")
		expect(t, s.Do("GET", watching(path, "continue", "x"), ""), 400, "BadRequest", "continue")
		for _, match := range []string{"Exact", "NotOlderThan"} {
			a := s.Do("GET", watching(path, "resourceVersion", "1", "resourceVersionMatch", match), "")
			expectInvalid(t, a, "resourceVersionMatch", "FieldValueForbidden")
		}
	}},
	{"D19 D20 D2", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		path := collection("Pod", ns)
		from := version(t, create(t, s, "Pod", ns, "p", labelled("l", "x")))
		create(t, s, "Pod", ns, "never", labelled("l", "z"))
		for _, label := range []string{"y", "x", "x", "y"} {
			merged(t, s, path+"/p", `{"metadata":{"labels":{"l":"`+label+`"},"annotations":{"n":"`+label+`"}}}`)
		}
		merged(t, s, path+"/p", `{"metadata":{"labels":{"l":"x"}}}`)
		ok(t, s.Do("DELETE", path+"/p?gracePeriodSeconds=0", ""))
		ok(t, s.Do("DELETE", path+"/never?gracePeriodSeconds=0", ""))
		w := watch(t, s, watching(path, "resourceVersion", text(from), "labelSelector", "l=x"))
		left := w.want("DELETED p")
		want(t, left, "metadata.labels.l", "x", "kind", "Pod", "apiVersion", "v1") // as it was, with the version of the change
		if version(t, left) <= from {
			t.Errorf("it left at %d", version(t, left))
		}
		back := w.want("ADDED p")
		again := w.want("DELETED p")
		if version(t, again) <= version(t, back) {
			t.Errorf("it left at %d", version(t, again))
		}
		back = w.want("ADDED p")
		gone := w.want("DELETED p")
		if version(t, gone) <= version(t, back) || get(t, gone, "metadata.labels.l") != "x" {
			t.Errorf("deleted: %s", gone)
		}
		w = watch(t, s, watching(path, "resourceVersion", text(from), "fieldSelector", "status.phase=Pending", "labelSelector", "l"))
		w.want("ADDED never", "MODIFIED p", "MODIFIED p", "MODIFIED p", "MODIFIED p", "DELETED p", "DELETED never")
	}},
	{"D21", func(t *testing.T, s *testserver.Server) {
		path, from := some(t, s)
		made := ok(t, s.Do("POST", path, `{"metadata":{"name":"f","finalizers":["x.io/a","x.io/b"]}}`))
		ok(t, s.Do("DELETE", path+"/f", ""))
		merged(t, s, path+"/f", `{"metadata":{"finalizers":["x.io/a"]}}`)
		merged(t, s, path+"/f", `{"metadata":{"finalizers":null}}`)
		ok(t, s.Do("POST", path, `{"metadata":{"name":"at-once"}}`))
		ok(t, s.Do("DELETE", path+"/at-once", ""))
		w := watch(t, s, watching(path, "resourceVersion", text(max(from, version(t, made)))))
		if marked := w.want("MODIFIED f"); get(t, marked, "metadata.deletionTimestamp") == "" {
			t.Errorf("not marked: %s", marked)
		}
		w.want("MODIFIED f", "DELETED f", "ADDED at-once", "DELETED at-once")
	}},
	{"D24", func(t *testing.T, s *testserver.Server) {
		path, from := some(t, s, "a", "b", "c", "d")
		ok(t, s.Do("DELETE", path, ""))
		w := watch(t, s, watching(path, "resourceVersion", text(from)))
		seen := map[string]bool{}
		for last := from; len(seen) < 4; {
			event, object := w.next()
			if version(t, object) <= last {
				t.Errorf("%s at %d, after %d", event, version(t, object), last)
			}
			last = version(t, object)
			seen[event] = true
		}
	}},
	{"D25 D28 D46", func(t *testing.T, s *testserver.Server) {
		path, last := some(t, s, "a")
		w := watch(t, s, watching(path, "resourceVersion", text(last), "timeoutSeconds", "1", "allowWatchBookmarks", "true"))
		mark := w.want("BOOKMARK")
		want(t, mark, "kind", "ConfigMap", "apiVersion", "v1")
		if version(t, mark) < last || len(object(mark)["metadata"].(map[string]any)) != 1 {
			t.Errorf("bookmark %s", mark)
		}
		w.want("BOOKMARK") // at the beginning one, and one at the end
		w.want("EOF")
		// Without the parameter nothing at all is sent.
		watch(t, s, watching(path, "resourceVersion", text(last), "timeoutSeconds", "1")).want("EOF")
	}},
	{"D26", func(t *testing.T, s *testserver.Server) {
		path, last := some(t, s, "a", "b")
		initial := []string{"sendInitialEvents", "true", "resourceVersionMatch", "NotOlderThan", "allowWatchBookmarks", "true"}
		for _, from := range []string{"", "0", text(last)} {
			w := watch(t, s, watching(path, append(initial, "resourceVersion", from)...))
			w.want("ADDED a", "ADDED b")
			end := w.want("BOOKMARK")
			want(t, end, `metadata.annotations.k8s\.io/initial-events-end`, "true")
			if version(t, end) < last {
				t.Errorf("%s before %d", end, last)
			}
			merged(t, s, path+"/a", `{"data":{"from":"x`+from+`"}}`)
			w.want("MODIFIED a")
		}
		future := watch(t, s, watching(path, append(initial, "resourceVersion", "999999999")...))
		want(t, future.want("ERROR"), "code", "504", "reason", "Timeout", "details.causes.0.reason", "ResourceVersionTooLarge")
		future.want("EOF")
		expectInvalid(t, s.Do("GET", watching(path, "sendInitialEvents", "true"), ""), "resourceVersionMatch", "FieldValueForbidden")
		none := watch(t, s, watching(path, "sendInitialEvents", "false", "resourceVersionMatch", "NotOlderThan"))
		merged(t, s, path+"/b", `{"data":{"k":"last"}}`)
		none.want("MODIFIED b")
	}},
	{"D29 D30", func(t *testing.T, s *testserver.Server) {
		path, last := some(t, s)
		endless := watch(t, s, watching(path, "resourceVersion", text(last)))
		watch(t, s, watching(path, "resourceVersion", text(last), "timeout", "100ms")).want("EOF")
		ok(t, s.Do("POST", path, `{"metadata":{"name":"later"}}`))
		endless.want("ADDED later")
	}},
	{"D31 D33 §6.2 §4.2-namespaced-watch-all §4.2-namespaced-watch-all-in-namespace §4.2-cluster-watch-all", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		for _, k := range catalog() {
			if k.kind == legacyForm {
				continue
			}
			name := nameFor(k.kind, "d31")
			before := text(version(t, create(t, s, k.kind, ns, name)) - 1)
			for _, path := range slices.Compact([]string{watchPath(k.kind, ns), watchPath(k.kind, "")}) {
				watch(t, s, asked(path, "resourceVersion", before, "watch", "false", "fieldSelector", "metadata.name="+name)).want("ADDED " + name)
			}
		}
		// One namespace, and the pods of one (D33).
		w := watch(t, s, "/api/v1/watch/namespaces/"+ns+"?resourceVersion=0")
		w.want("ADDED " + ns)
		watch(t, s, "/api/v1/watch/namespaces/"+ns+"/pods?resourceVersion=0").want("ADDED d31")
		for _, path := range []string{"/api/v1/watch/namespaces/" + ns + "/status", "/api/v1/watch/namespaces/" + ns + "/finalize"} {
			expect(t, s.Do("GET", path, ""), 404, "NotFound")
		}
	}},
	{"D32 §4.2-namespaced-watch-one §4.2-cluster-watch-one §4.4-name", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		for _, k := range catalog() {
			if k.kind == legacyForm || k.kind == "Namespace" {
				continue
			}
			name := nameFor(k.kind, "d32")
			w := watch(t, s, watchPath(k.kind, ns)+"/"+name+"?resourceVersion=0") // it need not exist
			create(t, s, k.kind, ns, nameFor(k.kind, "d32-other"))
			create(t, s, k.kind, ns, name)
			w.want("ADDED " + name)
			w.close()
		}
		one := watchPath("ConfigMap", ns) + "/d32"
		expect(t, s.Do("GET", asked(one, "fieldSelector", "metadata.name=other"), ""), 400, "BadRequest", "contradicts")
		watch(t, s, asked(one, "resourceVersion", "0", "fieldSelector", "metadata.name=d32")).want("ADDED d32")
	}},
	{"D34 D35 D36 Z9", func(t *testing.T, s *testserver.Server) {
		path, _ := some(t, s, "a")
		want(t, ok(t, s.Do("GET", path+"/a?watch=true", "")), "kind", "ConfigMap")
		watch(t, s, "/api/v1/namespaces/nowhere/pods?watch=true&timeoutSeconds=1").want("EOF")
		a := s.Do("GET", "/oapi/v1/clusterrolebindings?watch=true", "")
		expect(t, a, 405, "MethodNotAllowed", `watch is not supported on resources of kind "clusterrolebindings"`)
		expect(t, s.Do("GET", "/oapi/v1/watch/clusterrolebindings", ""), 404, "NotFound")
		watch(t, s, "/apis/rbac.authorization.platform.io/v1/clusterrolebindings?watch=true&timeoutSeconds=1&resourceVersion=999999999").want("EOF")
	}},
	{"D38", func(t *testing.T, s *testserver.Server) {
		path, last := some(t, s)
		slow := watch(t, s, watching(path, "resourceVersion", text(last))) // its client reads nothing for now
		quick := watch(t, s, watching(path, "resourceVersion", text(last)))
		big := strings.Repeat("x", 64<<10)
		for i := range 60 {
			name := fmt.Sprintf("n%02d", i)
			ok(t, s.Do("POST", path, `{"metadata":{"name":"`+name+`"},"data":{"k":"`+big+`"}}`))
			quick.want("ADDED " + name)
		}
		for i := range 60 {
			slow.want(fmt.Sprintf("ADDED n%02d", i))
		}
	}},
	{"D42", func(t *testing.T, s *testserver.Server) {
		path, _ := some(t, s)
		jane := "Authorization: Bearer " + s.IssueToken("jane")
		for _, watched := range []string{
			watching(path), watching(path, "sendInitialEvents", "true", "resourceVersionMatch", "NotOlderThan"),
			watchPath("ConfigMap", ""), watchPath("ConfigMap", "default") + "/x",
		} {
			expect(t, s.Do("GET", watched, "", jane), 403, "Forbidden", `cannot watch resource "configmaps"`)
		}
	}},
	{"D45 §6.3", func(t *testing.T, s *testserver.Server) {
		// An error after the start, here of a list that the stream begins with, is its last event.
		path, _ := some(t, s)
		w := watch(t, s, watching(path, "sendInitialEvents", "true", "resourceVersionMatch", "NotOlderThan", "resourceVersion", "888888888"))
		failed := w.want("ERROR")
		want(t, failed, "kind", "Status", "apiVersion", "v1", "status", "Failure", "code", "504")
		w.want("EOF")
	}},
	{"D47 D48", func(t *testing.T, s *testserver.Server) {
		path, _ := some(t, s, "x", "y")
		list := ok(t, s.Do("GET", asked(path, "limit", "500"), ""))
		w := watch(t, s, asked(path, "resourceVersion", get(t, list, "metadata.resourceVersion"), "watch", "true"),
			"Accept: application/json;as=Table;v=v1;g=meta.k8s.io,application/json")
		one := ok(t, s.Do("GET", asked(path, "fieldSelector", "metadata.name=x", "limit", "500", "resourceVersion", "0"), ""))
		sameNames(t, one, "x")
		waiting := watch(t, s, asked(path, "allowWatchBookmarks", "true", "fieldSelector", "metadata.name=x",
			"resourceVersion", get(t, one, "metadata.resourceVersion"), "timeoutSeconds", "313", "watch", "true"), "Accept: application/json")
		waiting.want("BOOKMARK")
		ok(t, s.Do("DELETE", path+"/y", ""))
		ok(t, s.Do("DELETE", path+"/x", ""))
		w.want("DELETED y", "DELETED x")
		waiting.want("DELETED x")
	}},
	{"§6.4", func(t *testing.T, s *testserver.Server) {
		// Nothing is called from here: there is no kind that would say what.
		for _, kind := range []string{"mutatingwebhookconfigurations", "validatingwebhookconfigurations"} {
			expect(t, s.Do("GET", "/apis/admissionregistration.platform.io/v1/"+kind, ""), http.StatusNotFound, "NotFound")
		}
	}},
	{"§7.4", func(t *testing.T, s *testserver.Server) {
		for path, code := range map[string]int{
			"/api/v1/namespaces/x/configmaps/y": 404, "/api/v1/configmaps?limit=x": 400, "/api/v1/configmaps?resourceVersionMatch=x": 422,
			"/api/v1/configmaps?continue=x": 410, "/api/v1/configmaps?resourceVersion=999999999&timeout=1ms": 504,
		} {
			a := s.Do("GET", path, "")
			want(t, a.Body, "kind", "Status", "status", "Failure", "code", fmt.Sprint(code))
			if a.Code != code || get(t, a.Body, "message") == "" || get(t, a.Body, "reason") == "" {
				t.Errorf("%s: %d %s", path, a.Code, a.Body)
			}
		}
	}},
}
