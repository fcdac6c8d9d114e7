package specification

import (
	"fmt"
	"slices"
	"testing"

	"quorate/apiserver/internal/testserver"
)

const pending = `{"metadata":{"labels":{"l":"x"},"initializers":{"pending":[{"name":"a.b.c"},{"name":"d.e.f"}]}}}`

// initializerRows prove what is seen of objects that are not initialized (§2.1, A30, C44, D44).
var initializerRows = []row{
	{"A30 C44 §4.4-includeUninitialized", func(t *testing.T, s *testserver.Server) {
		for _, kind := range []string{"ConfigMap", "Pod", "Node", "LegacyBinding"} {
			ns := namespace(t, s)
			made := create(t, s, kind, ns, "a30", pending)
			want(t, made, "metadata.initializers.pending", `[{"name":"a.b.c"},{"name":"d.e.f"}]`)
			if got := ok(t, s.Do("GET", item(kind, ns, "a30"), "")); got != made {
				t.Errorf("%s: %s", kind, got)
			}
			for query, shown := range map[string]bool{
				"": false, "?resourceVersion=0": false, "?labelSelector=l%3Dx": false, "?fieldSelector=metadata.name%3Da30": false,
				"?includeUninitialized=false": false, "?includeUninitialized=true": true,
				"?includeUninitialized=1&labelSelector=l%3Dx": true, "?includeUninitialized=true&labelSelector=l%3Dy": false,
				"?includeUninitialized=true&fieldSelector=metadata.name%3Da30": true,
			} {
				list := names(t, ok(t, s.Do("GET", collection(kind, ns)+query, "")))
				if slices.Contains(list, "a30") != shown {
					t.Errorf("%s%s: %v", kind, query, list)
				}
			}
			ok(t, s.Do("PUT", item(kind, ns, "a30"), with(made, `{"metadata":{"initializers":null}}`)))
			if list := names(t, ok(t, s.Do("GET", collection(kind, ns), ""))); !slices.Contains(list, "a30") {
				t.Errorf("%s: %v", kind, list)
			}
		}
		expect(t, s.Do("GET", collection("Node", "")+"?includeUninitialized=x", ""), 400, "BadRequest", "includeUninitialized")
	}},
	{"D44", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		from := fmt.Sprintf("?watch=true&resourceVersion=%d", version(t, ok(t, s.Do("GET", collection("ConfigMap", ns), ""))))
		plain := watch(t, s, collection("ConfigMap", ns)+from)
		labelled := watch(t, s, collection("ConfigMap", ns)+from+"&labelSelector=l%3Dx")
		all := watch(t, s, collection("ConfigMap", ns)+from+"&includeUninitialized=true")
		path := item("ConfigMap", ns, "m")
		create(t, s, "ConfigMap", ns, "m", pending)
		ok(t, s.Do("PATCH", path, `{"metadata":{"initializers":{"pending":[{"name":"d.e.f"}]}}}`, mergePatch))
		ok(t, s.Do("PATCH", path, `{"metadata":{"initializers":{"pending":[]}}}`, mergePatch))
		ok(t, s.Do("PATCH", path, `{"data":{"k":"w"}}`, mergePatch))
		create(t, s, "ConfigMap", ns, "never", pending)
		ok(t, s.Do("DELETE", item("ConfigMap", ns, "never"), ""))
		create(t, s, "ConfigMap", ns, "failed", pending)
		failed := ok(t, s.Do("PATCH", item("ConfigMap", ns, "failed"),
			`{"metadata":{"initializers":{"result":{"status":"Failure","reason":"Forbidden","message":"no"}}}}`, mergePatch))
		want(t, failed, "metadata.initializers.result.message", "no")
		expect(t, s.Do("GET", item("ConfigMap", ns, "failed"), ""), 404, "NotFound")
		ok(t, s.Do("DELETE", path, ""))
		for _, w := range []*stream{plain, labelled} {
			want(t, w.want("ADDED m"), "metadata.initializers", "")
			w.want("MODIFIED m", "DELETED m")
		}
		all.want("ADDED m", "MODIFIED m", "MODIFIED m", "MODIFIED m", "ADDED never", "DELETED never", "ADDED failed", "DELETED failed", "DELETED m")
		replayed := watch(t, s, collection("ConfigMap", ns)+from)
		replayed.want("ADDED m", "MODIFIED m", "DELETED m")
	}},
}
