package apiserver_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"quorate/apiserver/internal/testserver"
)

const (
	definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	widgets     = "/apis/shop.example.com/v1/namespaces/default/widgets"
	widgetsName = "widgets.shop.example.com"
)

// widgetSchema is the schema of the kind Widget.
const widgetSchema = `{"type":"object","properties":{
	"spec":{"type":"object","required":["size"],"properties":{
		"size":{"type":"integer","minimum":1},
		"color":{"type":"string","default":"red"},
		"replicas":{"type":"integer"},
		"parts":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}}}},
	"status":{"type":"object","properties":{"phase":{"type":"string"},"replicas":{"type":"integer"},"selector":{"type":"string"}}}}}`

// widgetVersion returns a version of the kind Widget.
func widgetVersion(name, flags, schema string) string {
	return `{"name":"` + name + `",` + flags + `,"schema":{"openAPIV3Schema":` + schema + `},
		"subresources":{"status":{},"scale":{"specReplicasPath":".spec.replicas","statusReplicasPath":".status.replicas","labelSelectorPath":".status.selector"}},
		"selectableFields":[{"jsonPath":".spec.color"}],
		"additionalPrinterColumns":[{"name":"Size","type":"integer","jsonPath":".spec.size"},{"name":"Color","type":"string","jsonPath":".spec.color","priority":1}]}`
}

// definitionOf returns a CustomResourceDefinition of the group shop.example.com.
func definitionOf(plural, kind, scope string, versions ...string) string {
	return `{"metadata":{"name":"` + plural + `.shop.example.com"},"spec":{"group":"shop.example.com","scope":"` + scope + `",
		"names":{"plural":"` + plural + `","kind":"` + kind + `"},"versions":[` + strings.Join(versions, ",") + `]}}`
}

func widgetDefinition() string {
	return strings.Replace(definitionOf("widgets", "Widget", "Namespaced", widgetVersion("v1", `"served":true,"storage":true`, widgetSchema)),
		`"kind":"Widget"`, `"kind":"Widget","shortNames":["wd"],"categories":["all"]`, 1)
}

func widget(name, spec string) string {
	return `{"apiVersion":"shop.example.com/v1","kind":"Widget","metadata":{"name":"` + name + `"},"spec":` + spec + `}`
}

// establish creates a definition and waits until its status says that it is served.
func establish(t *testing.T, s *testserver.Server, name, definition string) {
	t.Helper()
	check(t, s.Do("POST", definitions, definition), want{code: 201})
	awaitCondition(t, s, name, "Established", "True")
}

// awaitCondition waits until a definition has a condition with a status, and returns its reason.
func awaitCondition(t *testing.T, s *testserver.Server, name, condition, status string) (reason string) {
	t.Helper()
	s.Eventually(name+" has the condition "+condition+" "+status, func() bool {
		got := s.Do("GET", definitions+"/"+name, "")
		if got.Code != http.StatusOK {
			return false
		}
		have, why := conditionOf(t, got.Body, condition)
		reason = why
		return have == status
	})
	return reason
}

// conditionOf returns the status and reason of a condition of a definition.
func conditionOf(t *testing.T, body, condition string) (status, reason string) {
	t.Helper()
	var definition struct {
		Status struct {
			Conditions []struct{ Type, Status, Reason string }
		}
	}
	if err := json.Unmarshal([]byte(body), &definition); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	for _, c := range definition.Status.Conditions {
		if c.Type == condition {
			return c.Status, c.Reason
		}
	}
	return "", ""
}

// patchAs sends a patch of a type: json, merge or strategic.
func patchAs(s *testserver.Server, kind, path, body string) testserver.Answer {
	media := map[string]string{
		"json": "application/json-patch+json", "merge": "application/merge-patch+json", "strategic": "application/strategic-merge-patch+json",
	}
	return s.Do("PATCH", path, body, "Content-Type: "+media[kind])
}

func TestCustomResource(t *testing.T) {
	s := testserver.Start(t, nil)
	got := s.Do("POST", definitions, widgetDefinition())
	check(t, got, want{code: 201, body: []string{`"listKind":"WidgetList"`, `"singular":"widget"`, `"storedVersions":["v1"]`, `"strategy":"None"`}})

	t.Run("objects are pruned and get defaults", func(t *testing.T) {
		got := s.Do("POST", widgets, widget("a", `{"size":1,"colour":"blue"}`))
		check(t, got, want{code: 201, body: []string{`"spec":{"color":"red","size":1}`, `"generation":1`}})
		if warnings := got.Header.Values("Warning"); !slices.Equal(warnings, []string{`299 - "unknown field \"spec.colour\""`}) {
			t.Errorf("warnings %q", warnings)
		}
		check(t, s.Do("POST", widgets+"?fieldValidation=Strict", widget("b", `{"size":1,"colour":"blue"}`)),
			want{code: 400, body: []string{`strict decoding error: unknown field \"spec.colour\"`}})
	})
	t.Run("objects are validated", func(t *testing.T) {
		check(t, s.Do("POST", widgets, widget("b", `{"size":0}`)),
			want{code: 422, reason: "Invalid", body: []string{`"field":"spec.size"`, "should be greater than or equal to 1"}})
		check(t, s.Do("POST", widgets, widget("b", `{}`)), want{code: 422, body: []string{`"reason":"FieldValueRequired"`, `"field":"spec.size"`}})
		check(t, s.Do("POST", widgets, widget("b", `{"size":1,"parts":["x","x"]}`)), want{code: 422, body: []string{`"field":"spec.parts[1]"`}})
	})
	t.Run("the status is a subresource, and the generation counts the rest", func(t *testing.T) {
		version := field(t, s.Do("GET", widgets+"/a", "").Body, "metadata.resourceVersion")
		replaced := strings.Replace(widget("a", `{"size":2}`), `"name":"a"`, `"name":"a","resourceVersion":"`+version+`"`, 1)
		replaced = strings.TrimSuffix(replaced, "}") + `,"status":{"phase":"x"}}`
		got := s.Do("PUT", widgets+"/a", replaced)
		check(t, got, want{code: 200, body: []string{`"generation":2`, `"size":2`}})
		if strings.Contains(got.Body, "phase") {
			t.Errorf("a write of the object has set the status: %s", got.Body)
		}
		got = patchAs(s, "merge", widgets+"/a/status", `{"spec":{"size":9},"status":{"phase":"y"},"metadata":{"labels":{"l":"v"}}}`)
		check(t, got, want{code: 200, body: []string{`"generation":2`, `"size":2`, `"status":{"phase":"y"}`}})
		if strings.Contains(got.Body, `"labels"`) {
			t.Errorf("a write of the status has set labels: %s", got.Body)
		}
		check(t, s.Do("PUT", widgets+"/a", widget("a", `{"size":2}`)),
			want{code: 422, body: []string{`"field":"metadata.resourceVersion"`, "must be specified for an update"}})
	})
	t.Run("patches", func(t *testing.T) {
		check(t, patchAs(s, "merge", widgets+"/a", `{"spec":{"color":"blue"}}`), want{code: 200, body: []string{`"color":"blue"`, `"generation":3`, `"phase":"y"`}})
		check(t, patchAs(s, "json", widgets+"/a", `[{"op":"replace","path":"/spec/size","value":7}]`), want{code: 200, body: []string{`"size":7`}})
		check(t, patchAs(s, "merge", widgets+"/a", `{"spec":{"size":0}}`), want{code: 422, body: []string{`"field":"spec.size"`}})
		check(t, patchAs(s, "strategic", widgets+"/a", `{"spec":{"size":1}}`), want{code: 415})
	})
	t.Run("scale", func(t *testing.T) {
		check(t, patchAs(s, "merge", widgets+"/a/status", `{"status":{"replicas":2,"selector":"app=a"}}`), want{code: 200})
		check(t, patchAs(s, "merge", widgets+"/a/scale", `{"spec":{"replicas":5}}`),
			want{code: 200, body: []string{`"kind":"Scale"`, `"spec":{"replicas":5}`, `"status":{"replicas":2,"selector":"app=a"}`}})
		check(t, s.Do("GET", widgets+"/a", ""), want{code: 200, body: []string{`"replicas":5`}})
	})
	t.Run("tables and field selectors", func(t *testing.T) {
		check(t, s.Do("POST", widgets, widget("b", `{"size":3}`)), want{code: 201})
		got := s.Do("GET", widgets+"?fieldSelector=spec.color%3Dred", "")
		check(t, got, want{code: 200})
		if names := itemNames(t, got.Body); !slices.Equal(names, []string{"b"}) {
			t.Errorf("selected %q", names)
		}
		check(t, s.Do("GET", widgets+"?fieldSelector=spec.size%3D3", ""), want{code: 400})
		check(t, s.Do("GET", widgets, "", "Accept: application/json;as=Table;v=v1;g=meta.k8s.io"),
			want{code: 200, body: []string{`"name":"Size","type":"integer"`, `"cells":["a",7,"blue"]`, `"cells":["b",3,"red"]`}})
	})
	t.Run("discovery and OpenAPI", func(t *testing.T) {
		check(t, s.Do("GET", "/apis/shop.example.com/v1", ""), want{code: 200, body: []string{
			`"name":"widgets"`, `"singularName":"widget"`, `"shortNames":["wd"]`, `"categories":["all"]`, `"name":"widgets/status"`, `"name":"widgets/scale"`}})
		check(t, s.Do("GET", "/openapi/v3/apis/shop.example.com/v1", ""), want{code: 200, body: []string{
			`"com.example.shop.v1.Widget"`, `"default":"red"`, `"x-kubernetes-group-version-kind"`}})
		check(t, s.Do("GET", "/openapi/v2", ""), want{code: 200, body: []string{`"com.example.shop.v1.Widget"`}})
	})
	t.Run("deleted with its instances", func(t *testing.T) {
		check(t, patchAs(s, "merge", widgets+"/b", `{"metadata":{"finalizers":["example.com/hold"]}}`), want{code: 200})
		check(t, s.Do("DELETE", definitions+"/"+widgetsName, ""), want{code: 200})
		if reason := awaitCondition(t, s, widgetsName, "Terminating", "True"); reason != "InstanceDeletionInProgress" {
			t.Errorf("reason %s", reason)
		}
		const refusal = `widgets.shop.example.com "c" is forbidden: create not allowed while custom resource definition is terminating`
		check(t, s.Do("POST", widgets, widget("c", `{"size":1}`)), want{403, "Forbidden", refusal, nil})
		check(t, s.Do("POST", widgets+"?dryRun=All", widget("c", `{"size":1}`)), want{403, "Forbidden", refusal, nil})
		check(t, s.Do("PATCH", widgets+"/c"+by("m"), widget("c", `{"size":1}`), applyPatch), want{403, "Forbidden", refusal, nil})
		check(t, s.Do("PATCH", widgets+"/b"+by("m"), widget("b", `{"size":4}`), applyPatch), want{code: 409, reason: "Conflict"})
		check(t, s.Do("PATCH", widgets+"/b"+byForce("m"), widget("b", `{"size":4}`), applyPatch), want{code: 200})
		check(t, s.Do("GET", "/apis/shop.example.com/v1", ""), want{code: 200, body: []string{
			`"kind":"Widget","verbs":["delete","deletecollection","get","list","patch","update","watch"],"shortNames"`}})
		s.Eventually("the object without finalizers is gone", func() bool { return s.Do("GET", widgets+"/a", "").Code == 404 })
		s.Eventually("the other object is being deleted", func() bool {
			return strings.Contains(s.Do("GET", widgets+"/b", "").Body, "deletionTimestamp")
		})
		check(t, patchAs(s, "merge", widgets+"/b", `{"metadata":{"finalizers":null}}`), want{code: 200})
		s.Eventually("the definition is gone", func() bool { return s.Do("GET", definitions+"/"+widgetsName, "").Code == 404 })
		check(t, s.Do("GET", widgets, ""), noRoute())
		if strings.Contains(stateOf(t, s), "shop.example.com") {
			t.Error("instances are left")
		}
	})
}

// TestCustomResourceScaleUnconditionally: a scale without a resourceVersion is written whatever the
// version of its object, which cannot be replaced in this way.
func TestCustomResourceScaleUnconditionally(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	establish(t, s, widgetsName, widgetDefinition())
	made := s.Do("POST", widgets, widget("a", `{"size":1}`))
	check(t, made, want{code: 201})
	scale := func(replicas int, version string) testserver.Answer {
		return s.Do("PUT", widgets+"/a/scale", fmt.Sprintf(
			`{"kind":"Scale","apiVersion":"autoscaling/v1","metadata":{"name":"a","resourceVersion":%q},"spec":{"replicas":%d}}`, version, replicas))
	}
	check(t, s.Do("PUT", widgets+"/a", widget("a", `{"size":2}`)), want{422, "Invalid", "must be specified for an update", nil})
	check(t, scale(2, ""), want{code: 200, body: []string{`"replicas":2`}})
	check(t, scale(3, field(t, made.Body, "metadata.resourceVersion")), want{code: 409, reason: "Conflict"})
	check(t, scale(3, "0"), want{422, "Invalid", "must be specified for an update", nil})
	answers := make(chan testserver.Answer)
	for i := range 8 {
		go func() { answers <- scale(10+i, "") }()
	}
	for range 8 {
		check(t, <-answers, want{code: 200})
	}
	check(t, s.Do("GET", widgets+"/a", ""), want{code: 200, body: []string{`"size":1`, `"replicas":1`}})
}

// TestCustomResourceReplicas: what one node has acknowledged, all nodes serve, with the next
// request, and the conditions follow.
func TestCustomResourceReplicas(t *testing.T) {
	nodes := testserver.StartReplicas(t, 3, nil)
	at := func(i int) *testserver.Server { return nodes[i%len(nodes)] }
	for i := range 6 {
		plural := fmt.Sprintf("things%c", 'a'+i)
		definition := definitionOf(plural, "Thing"+strings.ToUpper(string(rune('a'+i))), "Cluster",
			widgetVersion("v1", `"served":true,"storage":true`, widgetSchema))
		path := "/apis/shop.example.com/v1/" + plural
		object := strings.Replace(widget("x", `{"size":1}`), "Widget", "Thing"+strings.ToUpper(string(rune('a'+i))), 1)
		check(t, at(i).Do("POST", definitions, definition), want{code: 201})
		check(t, at(i+1).Do("POST", path, object), want{code: 201, body: []string{`"color":"red"`}})
		for _, s := range []*testserver.Server{at(i + 2), at(i), at(i + 1)} {
			check(t, s.Do("GET", path+"/x", ""), want{code: 200})
			check(t, s.Do("GET", "/apis", ""), want{code: 200, body: []string{`"shop.example.com/v1"`}})
			check(t, s.Do("GET", "/apis/shop.example.com/v1", ""), want{code: 200, body: []string{plural + "/status"}})
			check(t, s.Do("GET", "/openapi/v3/apis/shop.example.com/v1", ""), want{code: 200, body: []string{`"default":"red"`, "/" + plural}})
		}
		awaitCondition(t, at(i+1), plural+".shop.example.com", "Established", "True")
		check(t, at(i+2).Do("GET", path+"/x", ""), want{code: 200})
		check(t, at(i+1).Do("DELETE", definitions+"/"+plural+".shop.example.com", ""), want{code: 200})
		for _, s := range nodes {
			s.Eventually("the kind is gone", func() bool { return s.Do("GET", path, "").Code == 404 })
		}
	}
}

// TestCustomResourceVersions: all versions show the same objects, each by its schema, also those
// that were stored under a former schema.
func TestCustomResourceVersions(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	object := func(fields string) string {
		return `{"type":"object","properties":{"spec":{"type":"object","properties":{` + fields + `}}}}`
	}
	version := func(name, flags, fields string) string {
		return `{"name":"` + name + `",` + flags + `,"schema":{"openAPIV3Schema":` + object(fields) + `}}`
	}
	const stored, served, unserved = `"served":true,"storage":true`, `"served":true,"storage":false`, `"served":false,"storage":false`
	const a, b = `"a":{"type":"string"}`, `"b":{"type":"string","default":"new"}`
	establish(t, s, widgetsName, definitionOf("widgets", "Widget", "Namespaced",
		version("v1", stored, a), version("v2", served, a+","+b), version("v3", unserved, a), strings.Replace(version("v1alpha1", served, a), `"name"`, `"deprecated":true,"name"`, 1)))
	at := func(v string) string { return strings.Replace(widgets, "/v1/", "/"+v+"/", 1) }

	check(t, s.Do("POST", widgets, widget("x", `{"a":"1","b":"2"}`)), want{code: 201, body: []string{`"spec":{"a":"1"}`}})
	check(t, s.Do("GET", at("v2")+"/x", ""), want{code: 200, body: []string{`"apiVersion":"shop.example.com/v2"`, `"spec":{"a":"1","b":"new"}`}})
	check(t, s.Do("GET", at("v2"), ""), want{code: 200, body: []string{`"b":"new"`}})
	check(t, s.Do("GET", at("v3")+"/x", ""), noRoute())
	got := s.Do("GET", at("v1alpha1")+"/x", "")
	check(t, got, want{code: 200, body: []string{`"apiVersion":"shop.example.com/v1alpha1"`}})
	if warnings := got.Header.Values("Warning"); !slices.Equal(warnings, []string{`299 - "shop.example.com/v1alpha1 Widget is deprecated"`}) {
		t.Errorf("warnings %q", warnings)
	}

	// Another schema and another storage version.
	check(t, patchAs(s, "json", definitions+"/"+widgetsName, `[
		{"op":"replace","path":"/spec/versions/0/storage","value":false},
		{"op":"replace","path":"/spec/versions/1/storage","value":true},
		{"op":"replace","path":"/spec/versions/1/schema/openAPIV3Schema","value":`+object(`"c":{"type":"integer","default":7}`)+`}]`),
		want{code: 200, body: []string{`"storedVersions":["v1","v2"]`, `"generation":2`}})
	check(t, s.Do("GET", at("v2")+"/x", ""), want{code: 200, body: []string{`"spec":{"c":7}`}})
	check(t, s.Do("GET", widgets+"/x", ""), want{code: 200, body: []string{`"apiVersion":"shop.example.com/v1"`, `"spec":{"a":"1"}`}})
	check(t, patchAs(s, "merge", at("v2")+"/x", `{"spec":{"c":8}}`), want{code: 200, body: []string{`"spec":{"c":8}`}})
	check(t, s.Do("GET", at("v2")+"/x", ""), want{code: 200, body: []string{`"spec":{"c":8}`}})
	w := open(t, s, at("v2")+"?watch=true&resourceVersion=0")
	if event := w.want("ADDED x"); !strings.Contains(event, `"spec":{"c":8}`) {
		t.Errorf("watched %s", event)
	}
	check(t, patchAs(s, "json", definitions+"/"+widgetsName, `[{"op":"remove","path":"/spec/versions/0"}]`),
		want{code: 422, body: []string{`"field":"status.storedVersions[0]"`}})
}

// TestCustomResourceNames: a name belongs to the definition that has it first. One that does not
// get its names is not served until they are free.
func TestCustomResourceNames(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	version := widgetVersion("v1", `"served":true,"storage":true`, widgetSchema)
	establish(t, s, widgetsName, widgetDefinition())
	check(t, s.Do("POST", definitions, definitionOf("others", "Widget", "Namespaced", version)), want{code: 201})
	if reason := awaitCondition(t, s, "others.shop.example.com", "NamesAccepted", "False"); reason != "ListKindConflict" {
		t.Errorf("reason %s", reason)
	}
	awaitCondition(t, s, "others.shop.example.com", "Established", "False")
	others := strings.Replace(widgets, "widgets", "others", 1)
	check(t, s.Do("GET", others, ""), noRoute())
	check(t, s.Do("DELETE", definitions+"/"+widgetsName, ""), want{code: 200})
	awaitCondition(t, s, "others.shop.example.com", "Established", "True")
	check(t, s.Do("GET", others, ""), want{code: 200})

	t.Run("groups of the server", func(t *testing.T) {
		got := s.Do("POST", definitions, strings.NewReplacer("shop.example.com", "coordination.k8s.io", `"metadata":{`,
			`"metadata":{"annotations":{"api-approved.kubernetes.io":"unapproved"},`).Replace(definitionOf("widgets", "Widget", "Namespaced", version)))
		check(t, got, want{code: 422, body: []string{"the server itself serves the group coordination.k8s.io"}})
	})
	t.Run("groups of the community", func(t *testing.T) {
		check(t, s.Do("POST", definitions, strings.NewReplacer("shop.example.com", "shop.k8s.io", `"metadata":{`,
			`"metadata":{"annotations":{"api-approved.kubernetes.io":"unapproved, a test"},`).Replace(definitionOf("gadgets", "Gadget", "Namespaced", version))), want{code: 201})
		awaitCondition(t, s, "gadgets.shop.k8s.io", "Established", "True")
		if reason := awaitCondition(t, s, "gadgets.shop.k8s.io", "KubernetesAPIApprovalPolicyConformant", "False"); reason != "UnapprovedAnnotation" {
			t.Errorf("reason %s", reason)
		}
	})
	t.Run("ThirdPartyResources of the same plural", func(t *testing.T) {
		define(t, s, cronTabName)
		crontabs := func(kind, scope, version string) string {
			return strings.ReplaceAll(definitionOf("crontabs", kind, scope, version), "shop.example.com", "stable.example.com")
		}
		plain := strings.Replace(version, `"selectableFields"`, `"x-ignored"`, 1)
		for definition, why := range map[string]string{
			crontabs("CronTab", "Namespaced", version): "spec.versions must have no selectableFields",
			crontabs("CronTab", "Cluster", plain):      "spec.scope must be Namespaced",
			crontabs("Crontab", "Namespaced", plain):   "spec.names.kind must be CronTab",
			strings.Replace(crontabs("CronTab", "Namespaced", plain), `"scope"`, `"conversion":{"strategy":"Webhook","webhook":{
				"conversionReviewVersions":["v1"],"clientConfig":{"url":"https://127.0.0.1/x"}}},"scope"`, 1): "spec.conversion.strategy must be None",
		} {
			check(t, s.Do("POST", definitions, definition),
				want{code: 422, body: []string{"is that of the ThirdPartyResource " + cronTabName, "cannot be taken over: " + why}})
		}
		check(t, s.Do("POST", thirdParties, `{"metadata":{"name":"other.shop.example.com"},"versions":[{"name":"v1"}]}`),
			want{code: 422, body: []string{"is that of the CustomResourceDefinition others.shop.example.com"}})
	})
}

// TestCustomResourceRestart: the kinds are there when the server is ready, and what an ended leader
// left is done by the next: the status of a definition, and the deletion of its instances.
func TestCustomResourceRestart(t *testing.T) {
	dir := t.TempDir()
	store, stopStore := testserver.OpenStore(t, dir, true)
	s := testserver.StartOn(t, store, nil)
	establish(t, s, widgetsName, widgetDefinition())
	check(t, s.Do("POST", widgets, widget("a", `{"size":1}`)), want{code: 201})
	check(t, patchAs(s, "merge", widgets+"/a", `{"metadata":{"finalizers":["example.com/hold"]}}`), want{code: 200})
	check(t, s.Do("DELETE", definitions+"/"+widgetsName, ""), want{code: 200})
	s.Stop()
	stopStore()

	store, stopStore = testserver.OpenStore(t, dir, false)
	defer stopStore()
	s = testserver.StartOn(t, store, nil)
	defer s.Stop()
	check(t, s.Do("GET", widgets+"/a", ""), want{code: 200})
	awaitCondition(t, s, widgetsName, "Terminating", "True")
	check(t, patchAs(s, "merge", widgets+"/a", `{"metadata":{"finalizers":null}}`), want{code: 200})
	s.Eventually("the definition is gone", func() bool { return s.Do("GET", definitions+"/"+widgetsName, "").Code == 404 })
}
