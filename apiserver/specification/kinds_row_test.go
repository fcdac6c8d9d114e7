package specification

import (
	"slices"
	"testing"

	"quorate/apiserver/internal/testserver"
)

// kindRows prove what every kind of the catalog has in common.
var kindRows = []row{
	{"§1.1", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		for _, k := range catalog() {
			name := "one"
			if k.kind == "ThirdPartyResource" {
				name = "one.example.com"
			}
			made := create(t, s, k.kind, ns, name)
			want(t, made, "kind", k.realKind(), "apiVersion", k.apiVersion(), "metadata.name", name)
			ok(t, s.Do("DELETE", item(k.kind, ns, name), ""))
		}
	}},
	{"§2", func(t *testing.T, s *testserver.Server) {
		for _, k := range catalog() {
			list := ok(t, s.Do("GET", collection(k.kind, ""), ""))
			want(t, list, "kind", k.realKind()+"List", "apiVersion", k.apiVersion())
			if _, isObject := value(t, list, "metadata").(map[string]any); !isObject {
				t.Errorf("no metadata: %s", list)
			}
		}
	}},
	{"Z16", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		for _, k := range catalog() {
			t.Run(k.kind, func(t *testing.T) { everyOperation(t, s, k, ns) })
		}
	}},
}

// everyOperation does all of §4.2 with one object of a kind.
func everyOperation(t *testing.T, s *testserver.Server, k kindOf, ns string) {
	name := rowName(k.kind, "z16")
	all, one, watched := collection(k.kind, ns), item(k.kind, ns, name), watchPath(k.kind, ns)
	from := "?resourceVersion=" + get(t, ok(t, s.Do("GET", all, "")), "metadata.resourceVersion")
	o := ok(t, s.Do("POST", all, minimal(k.kind, ns, name)))
	ok(t, s.Do("PUT", one, with(o, `{"metadata":{"labels":{"a":"b"}}}`)))
	ok(t, s.Do("PATCH", one, `{"metadata":{"labels":{"a":"c"}}}`, "Content-Type: application/merge-patch+json"))
	want(t, ok(t, s.Do("GET", one, "")), "metadata.labels.a", "c")
	if list := ok(t, s.Do("GET", collection(k.kind, "")+"?labelSelector=a%3Dc", "")); !slices.Contains(names(t, list), name) {
		t.Errorf("no %s in %s", name, list)
	}
	ok(t, s.Do("DELETE", one, ""))
	if k.kind == "LegacyBinding" { // Z9: neither watches nor a deletion of the collection
		return
	}
	for _, path := range []string{all + from + "&watch=true", watched + from, watched + "/" + name + from, watchPath(k.kind, "") + from} {
		w := watch(t, s, path+"&fieldSelector=metadata.name%3D"+name)
		if w.want("ADDED "+name, "MODIFIED "+name, "MODIFIED "+name); k.kind == "Namespace" {
			w.want("MODIFIED " + name) // it goes in two steps
		}
		w.want("DELETED " + name)
		w.close()
	}
	if k.kind == "Namespace" { // G35
		return
	}
	if k.namespaced {
		ok(t, s.Do("POST", collection(k.kind, ""), minimal(k.kind, ns, name)))
	} else {
		create(t, s, k.kind, ns, name)
	}
	want(t, ok(t, s.Do("DELETE", all+"?fieldSelector=metadata.name%3D"+name, "")), "kind", "Status", "status", "Success")
	expect(t, s.Do("GET", one, ""), 404, "NotFound")
}
