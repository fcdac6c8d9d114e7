package apiserver_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"quorate/apiserver/internal/testserver"
)

// TestCustomResourceApply checks that server-side apply takes the ownership of fields from the
// schema of a custom kind: each item of a set or a map has an owner of its own, and a list without
// a type is owned as a whole. The subresources status and scale have managers of their own.
func TestCustomResourceApply(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	schema := `{"type":"object","properties":{
		"spec":{"type":"object","properties":{
			"size":{"type":"integer"},
			"parts":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}},
			"whole":{"type":"array","items":{"type":"string"}},
			"port":{"x-kubernetes-int-or-string":true},
			"ports":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name"],
				"items":{"type":"object","required":["name"],"properties":{"name":{"type":"string"},"number":{"type":"integer"}}}},
			"free":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}},
		"status":{"type":"object","properties":{"phase":{"type":"string"}}}}}`
	establish(t, s, widgetsName, definitionOf("widgets", "Widget", "Namespaced",
		`{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":`+schema+`},"subresources":{"status":{}}}`,
		`{"name":"v2","served":true,"storage":false,"schema":{"openAPIV3Schema":`+schema+`},"subresources":{"status":{}}}`))
	w := widgets + "/w"
	as := func(manager, spec, version string) testserver.Answer {
		body := `{"apiVersion":"shop.example.com/` + version + `","kind":"Widget","metadata":{"name":"w"},"spec":` + spec + `}`
		return s.Do("PATCH", "/apis/shop.example.com/"+version+"/namespaces/default/widgets/w"+by(manager), body, applyPatch)
	}

	a := as("one", `{"size":1,"parts":["a"],"port":"http","ports":[{"name":"x","number":1}],"free":{"k":{"l":[1]}}}`, "v1")
	check(t, a, want{code: 201})
	a = as("two", `{"parts":["b"],"ports":[{"name":"y","number":2}],"free":{"m":2}}`, "v1")
	check(t, a, want{code: 200, body: []string{
		`"parts":["a","b"]`, `"ports":[{"name":"x","number":1},{"name":"y","number":2}]`, `"free":{"k":{"l":[1]},"m":2}`,
	}})
	checkOwned(t, a.Body,
		`one Apply shop.example.com/v1 {"f:spec":{"f:free":{"f:k":{".":{},"f:l":{}}},"f:parts":{"v:\"a\"":{}},"f:port":{},`+
			`"f:ports":{"k:{\"name\":\"x\"}":{".":{},"f:name":{},"f:number":{}}},"f:size":{}}}`,
		`two Apply shop.example.com/v1 {"f:spec":{"f:free":{"f:m":{}},"f:parts":{"v:\"b\"":{}},`+
			`"f:ports":{"k:{\"name\":\"y\"}":{".":{},"f:name":{},"f:number":{}}}}}`)
	check(t, as("two", `{"size":2}`, "v1"), want{
		code: 409, reason: "Conflict", body: []string{`Apply failed with 1 conflict: conflict with \"one\": .spec.size`},
	})
	check(t, as("three", `{"whole":["a"]}`, "v1"), want{code: 200})
	check(t, as("two", `{"whole":["b"]}`, "v1"), want{code: 409, reason: "Conflict", body: []string{`.spec.whole`}})

	// Another version of the same objects: what a manager gives up there is gone.
	check(t, as("one", `{"size":1}`, "v2"), want{code: 200, body: []string{`"parts":["b"]`, `"apiVersion":"shop.example.com/v2"`}})

	status := `{"apiVersion":"shop.example.com/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"size":9},"status":{"phase":"Up"}}`
	a = s.Do("PATCH", w+"/status"+by("controller"), status, applyPatch)
	check(t, a, want{code: 200, body: []string{`"size":1`, `"phase":"Up"`}})
	found := false
	for _, m := range managers(t, a.Body) {
		found = found || m == `controller Apply shop.example.com/v1 status {"f:status":{"f:phase":{}}}`
	}
	if !found {
		t.Errorf("the status has no manager: %q", managers(t, a.Body))
	}
	// The main resource neither changes nor owns the status.
	body := `{"apiVersion":"shop.example.com/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"size":1},"status":{"phase":"Down"}}`
	check(t, s.Do("PATCH", w+byForce("one"), body, applyPatch), want{code: 200, body: []string{`"phase":"Up"`}})
	check(t, s.Do("PATCH", w+"/status"+by("controller"), status, applyPatch), want{code: 200})

	// A write keeps the warning of a deprecated version.
	check(t, patchAs(s, "json", definitions+"/"+widgetsName, `[{"op":"add","path":"/spec/versions/0/deprecated","value":true}]`), want{code: 200})
	for name, a := range map[string]testserver.Answer{"apply": as("one", `{"size":1}`, "v1"), "patch": patchAs(s, "merge", w, `{"spec":{"size":1}}`)} {
		if got := a.Header.Values("Warning"); !slices.Equal(got, []string{`299 - "shop.example.com/v1 Widget is deprecated"`}) {
			t.Errorf("%s: warnings %q", name, got)
		}
	}

	// The scale sets the replicas for its manager.
	establish(t, s, "gadgets.shop.example.com", definitionOf("gadgets", "Gadget", "Namespaced", widgetVersion("v1", `"served":true,"storage":true`, widgetSchema)))
	g := "/apis/shop.example.com/v1/namespaces/default/gadgets"
	check(t, s.Do("POST", g, `{"apiVersion":"shop.example.com/v1","kind":"Gadget","metadata":{"name":"g"},"spec":{"size":1}}`), want{code: 201})
	scale := `{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"g"},"spec":{"replicas":3}}`
	check(t, s.Do("PATCH", g+"/g/scale"+by("scaler"), scale, applyPatch), want{code: 200, body: []string{`"replicas":3`}})
	a = s.Do("GET", g+"/g", "")
	check(t, a, want{code: 200, body: []string{`"replicas":3`}})
	checkOwned(t, a.Body, `scaler Apply shop.example.com/v1 scale {"f:spec":{"f:replicas":{}}}`,
		`before-first-apply Update shop.example.com/v1 scale {"f:spec":{".":{},"f:color":{},"f:size":{}}}`)
}

// TestCustomResourceApplyUnknown: a field that the schema lacks below one that keeps unknown fields
// is dropped by an apply as it is by a create, and not in silence.
func TestCustomResourceApplyUnknown(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	establish(t, s, widgetsName, definitionOf("widgets", "Widget", "Namespaced", `{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":
		{"type":"object","properties":{"spec":{"type":"object","x-kubernetes-preserve-unknown-fields":true,"properties":{
			"known":{"type":"object","properties":{"a":{"type":"string"}}}}}}}}}`))
	body := widget("w", `{"free":1,"known":{"a":"x","b":"y"}}`)
	const problem = `unknown field "spec.known.b"`
	check(t, s.Do("POST", widgets+"?fieldValidation=Strict", body), want{400, "BadRequest", problem, nil})
	check(t, s.Do("PATCH", widgets+"/w"+by("m")+"&fieldValidation=Strict", body, applyPatch), want{400, "BadRequest", "error strict decoding YAML: " + problem, nil})
	got := s.Do("PATCH", widgets+"/w"+by("m"), body, applyPatch)
	check(t, got, want{code: 201, body: []string{`"spec":{"free":1,"known":{"a":"x"}}`}})
	if warnings := got.Header.Values("Warning"); !slices.Equal(warnings, []string{"299 - " + strconv.Quote(problem)}) {
		t.Errorf("warnings %q", warnings)
	}
	got = s.Do("PATCH", widgets+"/w"+by("m")+"&fieldValidation=Ignore", body, applyPatch)
	if check(t, got, want{code: 200}); len(got.Header.Values("Warning")) > 0 {
		t.Errorf("warnings %q", got.Header.Values("Warning"))
	}
}

// TestUnknownKeywords: a keyword that no schema has is an unknown field of its definition, whichever
// way the definition is written.
func TestUnknownKeywords(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	const problem = `unknown field "spec.versions[0].schema.openAPIV3Schema.properties.spec.maxlength"`
	body := definitionOf("widgets", "Widget", "Namespaced", `{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":
		{"type":"object","properties":{"spec":{"type":"object","maxlength":1}}}}}`)
	applied := strings.Replace(body, `{`, `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",`, 1)
	one := definitions + "/" + widgetsName
	add := `[{"op":"add","path":"/spec/versions/0/schema/openAPIV3Schema/properties/spec/maxlength","value":1}]`
	for _, tc := range []struct {
		name             string
		send             func(query string) testserver.Answer
		refusal, success int
	}{
		{"create", func(query string) testserver.Answer { return s.Do("POST", definitions+"?"+query, body) }, 400, 201},
		{"patch", func(query string) testserver.Answer {
			return s.Do("PATCH", one+"?"+query, add, "Content-Type: application/json-patch+json")
		}, 422, 200},
		{"apply", func(query string) testserver.Answer {
			return s.Do("PATCH", one+byForce("m")+"&"+query, applied, applyPatch)
		}, 400, 200},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := tc.send("fieldValidation=Strict"); got.Code != tc.refusal || !strings.Contains(got.Body, strings.ReplaceAll(problem, `"`, `\"`)) {
				t.Errorf("strict: %d %s", got.Code, got.Body)
			}
			got := tc.send("fieldValidation=Warn")
			check(t, got, want{code: tc.success})
			if warnings := got.Header.Values("Warning"); !slices.Equal(warnings, []string{"299 - " + strconv.Quote(problem)}) {
				t.Errorf("warnings %q", warnings)
			}
			if strings.Contains(got.Body, "maxlength") {
				t.Errorf("the keyword is stored: %s", got.Body)
			}
			if got = tc.send("fieldValidation=Ignore"); len(got.Header.Values("Warning")) > 0 {
				t.Errorf("ignored: %q", got.Header.Values("Warning"))
			}
		})
	}
}

// TestCustomResourceApplyVersions: managers that own fields in a version of another schema are no
// hindrance. An entry of a version that is gone is dropped.
func TestCustomResourceApplyVersions(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	version := func(name, storage, fields string) string {
		return `{"name":"` + name + `","served":true,"storage":` + storage + `,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":
			{"type":"object","properties":{` + fields + `}}}}}}`
	}
	establish(t, s, widgetsName, definitionOf("widgets", "Widget", "Namespaced",
		version("v1", "false", `"size":{"type":"integer"},"both":{"type":"string"},"mode":{"type":"string"},"shape":{"type":"string"}`),
		version("v2", "true", `"width":{"type":"integer"},"both":{"type":"string"},"mode":{"type":"integer"},"shape":{"type":"object","properties":{"sides":{"type":"integer"}}}`)))
	as := func(manager, version, spec string) testserver.Answer {
		t.Helper()
		body := strings.Replace(widget("w", spec), "/v1", "/"+version, 1)
		return s.Do("PATCH", "/apis/shop.example.com/"+version+"/namespaces/default/widgets/w"+byForce(manager), body, applyPatch)
	}
	check(t, as("one", "v1", `{"size":1,"both":"a"}`), want{code: 201})
	check(t, as("two", "v2", `{"width":2}`), want{code: 200, body: []string{`"both":"a"`, `"width":2`}})
	a := as("two", "v2", `{"width":3,"mode":1}`)
	check(t, a, want{code: 200, body: []string{`"both":"a"`, `"mode":1`, `"width":3`}})
	checkOwned(t, a.Body, `one Apply shop.example.com/v1 {"f:spec":{"f:both":{},"f:size":{}}}`, `two Apply shop.example.com/v2 {"f:spec":{"f:mode":{},"f:width":{}}}`)
	check(t, as("one", "v1", `{"both":"b"}`), want{code: 200, body: []string{`"both":"b"`}})
	check(t, as("one", "v2", `{"both":"c"}`), want{code: 200, body: []string{`"both":"c"`}})
	check(t, as("one", "v1", `{"both":"c"}`), want{code: 200})
	check(t, patchAs(s, "merge", widgetsV2+"/w?fieldManager=three", `{"spec":{"width":4}}`), want{code: 200, body: []string{`"width":4`}})
	check(t, as("two", "v1", `{"none":1}`), want{400, "BadRequest", ".spec.none: field not declared in schema", nil})

	// A field of another form in each version: an apply needs one that its types can describe.
	check(t, as("two", "v2", `{"width":5,"shape":{"sides":3}}`), want{code: 200, body: []string{`"shape":{"sides":3}`}})
	check(t, as("one", "v1", `{"both":"c"}`), want{code: 200})
	check(t, as("one", "v1", `{"both":"c","shape":"round"}`), want{code: 200})
	check(t, as("two", "v2", `{"width":6}`), want{400, "BadRequest", "the object does not have the form that its schema says: .spec.shape: expected map", nil})
	check(t, patchAs(s, "merge", widgetsV2+"/w?fieldManager=three", `{"metadata":{"labels":{"l":"v"}}}`), want{code: 200})
	check(t, patchAs(s, "merge", widgetsV2+"/w?fieldManager=three", `{"spec":{"shape":null}}`), want{code: 200})
	check(t, as("two", "v2", `{"width":5}`), want{code: 200})
	check(t, as("one", "v2", `{"both":"d"}`), want{code: 200})

	// The entry of a version that is not served stays; that of one that is gone does not.
	check(t, as("old", "v1", `{"size":5}`), want{code: 200})
	check(t, patchAs(s, "json", definitions+"/"+widgetsName, `[{"op":"replace","path":"/spec/versions/0/served","value":false}]`), want{code: 200})
	a = as("two", "v2", `{"width":5}`)
	check(t, a, want{code: 200})
	if have := managers(t, a.Body); !slices.Contains(have, `old Apply shop.example.com/v1 {"f:spec":{"f:size":{}}}`) {
		t.Errorf("managers %q", have)
	}
	check(t, patchAs(s, "json", definitions+"/"+widgetsName, `[{"op":"remove","path":"/spec/versions/0"}]`), want{code: 200})
	a = as("two", "v2", `{"width":6}`)
	check(t, a, want{code: 200, body: []string{`"both":"d"`, `"width":6`}})
	checkOwned(t, a.Body, `one Apply shop.example.com/v2 {"f:spec":{"f:both":{}}}`, `two Apply shop.example.com/v2 {"f:spec":{"f:width":{}}}`)
}
