package specification

import (
	"strings"
	"testing"

	"quorate/apiserver/internal/testserver"
)

// jsonPatch is the third media type of patches, as a header.
const jsonPatch = "Content-Type: application/json-patch+json"

// unfit is the message of a patch that does not fit the object.
const unfit = "the server rejected our request due to an error in our request"

// patched changes an object by a patch of a media type and returns it as it is stored.
func patched(t *testing.T, s *testserver.Server, mediaType, path, patch string) string {
	t.Helper()
	body := ok(t, s.Do("PATCH", path, patch, mediaType))
	if now := ok(t, s.Do("GET", path, "")); now != body {
		t.Errorf("%s answers %s, stored is %s", patch, body, now)
	}
	return body
}

// unchanged expects that all these patches are refused, and that the object stays as it is.
func unchanged(t *testing.T, s *testserver.Server, mediaType, path string, code int, reason, text string, patches ...string) {
	t.Helper()
	before := ok(t, s.Do("GET", path, ""))
	for _, patch := range patches {
		expect(t, s.Do("PATCH", path, patch, mediaType), code, reason, text)
	}
	if now := ok(t, s.Do("GET", path, "")); now != before {
		t.Errorf("now it is %s", now)
	}
}

// twoContainers is a change that gives a pod the containers a and b.
const twoContainers = `{"metadata":{"labels":{"x":"1","y":"2"},"finalizers":["row.io/a","row.io/b"]},` +
	`"spec":{"containers":[{"name":"a","image":"i:1"},{"name":"b","image":"i:1","env":[{"name":"E","value":"1"}]}]}}`

// pod makes a pod of two containers and returns its path.
func pod(t *testing.T, s *testserver.Server) (path string) {
	t.Helper()
	ns := namespace(t, s)
	create(t, s, "Pod", ns, "p", twoContainers)
	return item("Pod", ns, "p")
}

// patchRows prove the three types of patches (§4.2, §4.3, F1–F24).
var patchRows = []row{
	{"F1 F42 §4.2-namespaced-patch", func(t *testing.T, s *testserver.Server) {
		cm := item("ConfigMap", namespace(t, s), "f1")
		ok(t, s.Do("POST", strings.TrimSuffix(cm, "/f1"), minimal("ConfigMap", "", "f1")))
		want(t, patched(t, s, jsonPatch, cm, `[{"op":"add","path":"/data/json","value":"1"}]`), "data.json", "1", "data.k", "v")
		want(t, patched(t, s, mergePatch, cm, `{"data":{"merge":"2","k":null}}`), "data.json", "1", "data.merge", "2", "data.k", "")
		want(t, patched(t, s, strategicPatch, cm, `{"data":{"$patch":"replace","strategic":"3"}}`), "data", `{"strategic":"3"}`)
	}},
	{"§4.2-cluster-patch", func(t *testing.T, s *testserver.Server) {
		for _, k := range catalog() {
			if k.namespaced {
				continue
			}
			create(t, s, k.kind, "", rowName(k.kind, "patched"))
			want(t, patched(t, s, mergePatch, item(k.kind, "", rowName(k.kind, "patched")), label), "metadata.labels.row", "changed")
		}
	}},
	{"F2", func(t *testing.T, s *testserver.Server) {
		path := pod(t, s)
		for _, mediaType := range []string{"", "application/json", "application/yaml", "text/plain", "application/apply-patch+cbor"} {
			unchanged(t, s, "Content-Type: "+mediaType, path, 415, "UnsupportedMediaType",
				"the body of the request was in an unknown format - accepted media types include: application/json-patch+json, "+
					"application/merge-patch+json, application/strategic-merge-patch+json, application/apply-patch+yaml", label)
		}
		want(t, patched(t, s, mergePatch+"; charset=utf-8", path, label), "metadata.labels.row", "changed")
	}},
	{"F3", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		for _, k := range catalog() {
			name := rowName(k.kind, "applied")
			a := s.Do("PATCH", item(k.kind, ns, name)+"?fieldManager=row", minimal(k.kind, ns, name, `{"metadata":{"labels":{"row":"applied"}}}`), applyPatch)
			if a.Code != 201 {
				t.Errorf("%s: code %d: %s", k.kind, a.Code, a.Body)
				continue
			}
			want(t, ok(t, s.Do("GET", item(k.kind, ns, name), "")), "metadata.name", name)
			if !strings.Contains(a.Body, `"managedFields":[{"manager":"row","operation":"Apply","apiVersion":"`+k.apiVersion()+`",`) {
				t.Errorf("%s: managed fields of %s", k.kind, a.Body)
			}
		}
	}},
	{"F4", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		one, body := item("ConfigMap", ns, "a"), minimal("ConfigMap", ns, "a")
		expectInvalid(t, s.Do("PATCH", one, body, applyPatch), "fieldManager", "FieldValueRequired", "is required for apply patch")
		a := s.Do("PATCH", one+"?fieldManager=m", body, applyPatch)
		if a.Code != 201 {
			t.Fatalf("code %d: %s", a.Code, a.Body)
		}
		other := minimal("ConfigMap", ns, "a", `{"data":{"k":"other"}}`)
		a = s.Do("PATCH", one+"?fieldManager=n", other, applyPatch)
		expect(t, a, 409, "Conflict")
		want(t, a.Body, "details.causes.0.reason", "FieldManagerConflict", "details.causes.0.field", ".data.k")
		want(t, ok(t, s.Do("PATCH", one+"?fieldManager=n&force=true", other, applyPatch)), "data.k", "other")
	}},
	{"F5", func(t *testing.T, s *testserver.Server) {
		path := pod(t, s)
		a := s.Do("PATCH", path+"?force=true", label, mergePatch)
		expectInvalid(t, a, "force", "FieldValueForbidden", "may not be specified for non-apply patch")
		want(t, a.Body, "details.group", "meta.k8s.io", "details.kind", "PatchOptions")
		expect(t, s.Do("PATCH", path+"?force=x", label, mergePatch), 400, "BadRequest", "force")
	}},
	{"F6", func(t *testing.T, s *testserver.Server) {
		path := pod(t, s)
		body := patched(t, s, jsonPatch, path, `[{"op":"test","path":"/spec/containers/0/name","value":"a"},
			{"op":"add","path":"/metadata/labels/z","value":"3"},{"op":"remove","path":"/metadata/labels/x"},
			{"op":"copy","from":"/metadata/labels/y","path":"/metadata/labels/w"},{"op":"move","from":"/metadata/labels/z","path":"/metadata/labels/v"},
			{"op":"replace","path":"/spec/containers/1/image","value":"i:2"}]`)
		want(t, body, "metadata.labels", `{"v":"3","w":"2","y":"2"}`, "spec.containers.1.image", "i:2")
	}},
	{"F7", func(t *testing.T, s *testserver.Server) {
		unchanged(t, s, jsonPatch, pod(t, s), 400, "BadRequest", "", `{}`, `null`, ``, `[`, `[{"op":"merge","path":"/a"}]`, `[{"op":"remove"}]`)
	}},
	{"F8", func(t *testing.T, s *testserver.Server) {
		unchanged(t, s, jsonPatch, pod(t, s), 422, "Invalid", unfit,
			`[{"op":"remove","path":"/metadata/labels"},{"op":"test","path":"/spec/containers/0/name","value":"b"}]`)
	}},
	{"F9", func(t *testing.T, s *testserver.Server) {
		path := pod(t, s)
		for _, place := range []string{"/spec/nothing", "/spec/containers/2", "spec", "/metadata/labels/~2", "/spec/nothing/more"} {
			unchanged(t, s, jsonPatch, path, 422, "Invalid", unfit,
				`[{"op":"remove","path":"`+place+`"}]`, `[{"op":"replace","path":"`+place+`","value":1}]`)
		}
	}},
	{"F10", func(t *testing.T, s *testserver.Server) {
		path := pod(t, s)
		body := patched(t, s, jsonPatch, path, `[{"op":"add","path":"/metadata/labels/x","value":"9"},
			{"op":"add","path":"/metadata/finalizers/-","value":"row.io/c"},{"op":"add","path":"/metadata/annotations","value":{}},
			{"op":"add","path":"/metadata/annotations/row.io~1t","value":"t"}]`)
		want(t, body, "metadata.labels.x", "9", "metadata.finalizers", `["row.io/a","row.io/b","row.io/c"]`, `metadata.annotations.row\.io/t`, "t")
		whole := patched(t, s, jsonPatch, path, `[{"op":"replace","path":"","value":`+with(body, `{"metadata":{"annotations":{"row.io/t":null,"all":"new"}}}`)+`}]`)
		want(t, whole, "metadata.annotations", `{"all":"new"}`)
	}},
	{"F11", func(t *testing.T, s *testserver.Server) {
		path := pod(t, s)
		operations := func(n int) string {
			return "[" + strings.TrimSuffix(strings.Repeat(`{"op":"test","path":"/kind","value":"Pod"},`, n), ",") + "]"
		}
		ok(t, s.Do("PATCH", path, operations(10_000), jsonPatch))
		unchanged(t, s, jsonPatch, path, 413, "RequestEntityTooLarge", "maximum operations in a JSON patch is 10000", operations(10_001))
	}},
	{"F12", func(t *testing.T, s *testserver.Server) {
		body := patched(t, s, mergePatch, pod(t, s), `{"metadata":{"labels":{"x":null,"z":"3","none":null},"finalizers":["row.io/z"]}}`)
		want(t, body, "metadata.labels", `{"y":"2","z":"3"}`, "metadata.finalizers", `["row.io/z"]`)
	}},
	{"F13", func(t *testing.T, s *testserver.Server) {
		path := pod(t, s)
		for _, mediaType := range []string{mergePatch, strategicPatch} {
			unchanged(t, s, mediaType, path, 400, "BadRequest", "", `[]`, `null`, `"x"`, ``, `{`, `{} {}`)
		}
	}},
	{"F14 F16", func(t *testing.T, s *testserver.Server) {
		path := pod(t, s)
		body := patched(t, s, strategicPatch, path, `{"metadata":{"labels":{"x":null,"z":"3"},"finalizers":["row.io/b","row.io/c"]},
			"spec":{"containers":[{"name":"b","image":"i:2"}]}}`)
		want(t, body, "metadata.labels", `{"y":"2","z":"3"}`, "metadata.finalizers", `["row.io/a","row.io/b","row.io/c"]`,
			"spec.containers.1.image", "i:2", "spec.containers.1.env.0.value", "1", "spec.containers.0.image", "i:1")
		body = patched(t, s, strategicPatch, path, `{"metadata":{"$setElementOrder/finalizers":["row.io/c","row.io/d","row.io/a"],"finalizers":["row.io/d"]}}`)
		want(t, body, "metadata.finalizers", `["row.io/b","row.io/c","row.io/d","row.io/a"]`)
	}},
	{"F15", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		create(t, s, "StatefulSet", ns, "f15", `{"spec":{"template":{"spec":{
			"containers":[{"name":"c","image":"i:1","args":["1"],"ports":[{"containerPort":80}],"env":[{"name":"A","value":"1"}],"volumeMounts":[{"name":"v","mountPath":"/v"}]}],
			"volumes":[{"name":"v","emptyDir":{}}],"hostAliases":[{"ip":"192.0.2.1","hostnames":["a"]}],"imagePullSecrets":[{"name":"s"}],
			"tolerations":[{"key":"k","operator":"Exists"}]}}}}`)
		body := patched(t, s, strategicPatch, item("StatefulSet", ns, "f15"), `{"spec":{"template":{"spec":{
			"containers":[{"name":"c","args":["2"],"ports":[{"containerPort":80,"name":"w"},{"containerPort":81}],"env":[{"name":"B","value":"2"}],"volumeMounts":[{"mountPath":"/v","readOnly":true}]}],
			"volumes":[{"name":"w","emptyDir":{}}],"hostAliases":[{"ip":"192.0.2.1","hostnames":["b"]}],"imagePullSecrets":[{"name":"r"}],
			"tolerations":[{"key":"l","operator":"Exists"}]}}}}`)
		const spec, c = "spec.template.spec.", "spec.template.spec.containers.0."
		want(t, body, c+"image", "i:1", c+"args", `["2"]`, c+"ports.0.name", "w", c+"ports.1.containerPort", "81", c+"env.0.name", "A", c+"env.1.name", "B",
			c+"volumeMounts.0.name", "v", c+"volumeMounts.0.readOnly", "true", spec+"volumes.0.name", "v", spec+"volumes.1.name", "w",
			spec+"hostAliases", `[{"hostnames":["b"],"ip":"192.0.2.1"}]`, spec+"imagePullSecrets", `[{"name":"s"},{"name":"r"}]`,
			spec+"tolerations.0.key", "l", spec+"tolerations.1", "")
	}},
	{"F17", func(t *testing.T, s *testserver.Server) {
		want(t, patched(t, s, strategicPatch, pod(t, s), `{"metadata":{"labels":{"$patch":"replace","z":"3"}}}`), "metadata.labels", `{"z":"3"}`)
	}},
	{"F18", func(t *testing.T, s *testserver.Server) {
		path := statefulSet(t, s)
		body := patched(t, s, strategicPatch, path, `{"metadata":{"labels":{"$patch":"delete"}},
			"spec":{"template":{"spec":{"containers":[{"name":"a","$patch":"delete"},{"name":"none","$patch":"delete"}]}}}}`)
		want(t, body, "metadata.labels", "", "spec.template.spec.containers.0.name", "b", "spec.template.spec.containers.1", "")
		want(t, patched(t, s, strategicPatch, path, `{"metadata":{"labels":{"$patch":"delete"}}}`), "metadata.labels", "")
	}},
	{"F19", func(t *testing.T, s *testserver.Server) {
		body := patched(t, s, strategicPatch, statefulSet(t, s), `{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"i:3"},{"$patch":"replace"}]}}}}`)
		want(t, body, "spec.template.spec.containers.0.name", "c", "spec.template.spec.containers.1", "")
	}},
	{"F20", func(t *testing.T, s *testserver.Server) {
		body := patched(t, s, strategicPatch, pod(t, s), `{"metadata":{"labels":{"$patch":"merge","z":"3"}},"spec":{"containers":[{"$patch":"merge","name":"a","image":"i:4"}]}}`)
		want(t, body, "metadata.labels", `{"x":"1","y":"2","z":"3"}`, "spec.containers.0.image", "i:4", "spec.containers.1.image", "i:1")
	}},
	{"F21", func(t *testing.T, s *testserver.Server) {
		path := pod(t, s)
		want(t, patched(t, s, strategicPatch, path, `{"metadata":{"$deleteFromPrimitiveList/finalizers":["row.io/a","row.io/none"]}}`),
			"metadata.finalizers", `["row.io/b"]`)
		unchanged(t, s, strategicPatch, path, 400, "BadRequest", "invalid patch format of primitive list", `{"metadata":{"$deleteFromPrimitiveList/finalizers":"row.io/b"}}`)
	}},
	{"F22", func(t *testing.T, s *testserver.Server) {
		path := statefulSet(t, s)
		order := func(first, second, items string) string {
			return `{"spec":{"template":{"spec":{"$setElementOrder/containers":[{"name":"` + first + `"},{"name":"` + second + `"}],"containers":[` + items + `]}}}}`
		}
		body := patched(t, s, strategicPatch, path, order("b", "a", `{"name":"a","image":"i:5"}`))
		want(t, body, "spec.template.spec.containers.0.name", "b", "spec.template.spec.containers.1.image", "i:5")
		unchanged(t, s, strategicPatch, path, 400, "BadRequest", "invalid patch format of setElementOrder list",
			order("a", "b", `{"name":"b"},{"name":"a"}`), order("a", "b", `{"name":"c","image":"i:1"}`))
	}},
	{"F23", func(t *testing.T, s *testserver.Server) {
		path := statefulSet(t, s)
		ok(t, s.Do("PATCH", path, `{"spec":{"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"partition":1}}}}`, mergePatch))
		keep := func(keys string) string {
			return `{"spec":{"updateStrategy":{"$retainKeys":` + keys + `,"type":"OnDelete"}}}`
		}
		unchanged(t, s, strategicPatch, path, 422, "Invalid", unfit, keep(`["rollingUpdate"]`))
		unchanged(t, s, strategicPatch, path, 400, "BadRequest", "invalid patch format of retainKeys", keep(`"type"`), keep(`[1]`))
		want(t, patched(t, s, strategicPatch, path, keep(`["type"]`)), "spec.updateStrategy", `{"type":"OnDelete"}`)
	}},
	{"F24", func(t *testing.T, s *testserver.Server) {
		unchanged(t, s, strategicPatch, pod(t, s), 422, "Invalid", unfit, `{"spec":{"containers":[{"image":"i:2"}]}}`, `{"spec":{"$patch":"remove"}}`,
			`{"spec":{"containers":["a"]}}`, `{"metadata":{"finalizers":[{}]}}`)
	}},
}

// statefulSet makes a StatefulSet whose pods have the containers a and b, and returns its path.
func statefulSet(t *testing.T, s *testserver.Server) (path string) {
	t.Helper()
	ns := namespace(t, s)
	create(t, s, "StatefulSet", ns, "s", `{"metadata":{"labels":{"x":"1"}},
		"spec":{"template":{"spec":{"containers":[{"name":"a","image":"i:1"},{"name":"b","image":"i:1"}]}}}}`)
	return item("StatefulSet", ns, "s")
}
