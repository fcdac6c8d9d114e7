package apiserver_test

import (
	"fmt"
	"strings"
	"testing"

	"quorate/apiserver/internal/testserver"
)

// customWatch is a watch of custom resources, with what each event of it must and must not contain.
type customWatch struct {
	*stream
	name, has, lacks string
}

// expect reads the next event, which must be about an object of this name.
func (w *customWatch) expect(event string) {
	w.t.Helper()
	got, object := w.next()
	if got != event || !strings.Contains(object, w.has) || w.lacks != "" && strings.Contains(object, w.lacks) {
		w.t.Errorf("the watch of %s got %s %s, want %s with %s and without %q", w.name, got, object, event, w.has, w.lacks)
	}
}

// TestCustomResourceWatches mixes watches of one kind on one connection: two versions whose schemas
// differ, a field selector, and partial metadata. It checks that each watch receives events in its
// own form, that all of them end when the schema changes, because they would continue to drop
// fields that only the new schema has, and that a resumed watch receives later changes by the new
// schema.
func TestCustomResourceWatches(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	object := func(fields string) string {
		return `{"type":"object","properties":{"spec":{"type":"object","properties":{` + fields + `}}}}`
	}
	const a, b = `"a":{"type":"string","default":"one"}`, `"b":{"type":"string","default":"two"}`
	establish(t, s, widgetsName, definitionOf("widgets", "Widget", "Namespaced",
		`{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":`+object(a)+`},"selectableFields":[{"jsonPath":".spec.a"}]}`,
		`{"name":"v2","served":true,"storage":false,"schema":{"openAPIV3Schema":`+object(a+","+b)+`}}`))
	v2 := strings.Replace(widgets, "/v1/", "/v2/", 1)
	const partial = "Accept: application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
	var all []*customWatch
	for range 3 { // of each form several, so that streams share what they may
		all = append(all,
			&customWatch{open(t, s, widgets+"?watch=true&resourceVersion=0"), "v1", `"spec":{"a":"`, `"b":`},
			&customWatch{open(t, s, v2+"?watch=true&resourceVersion=0"), "v2", `"b":"two"`, "shop.example.com/v1"},
			&customWatch{open(t, s, widgets+"?watch=true&resourceVersion=0", partial), "metadata", `"kind":"PartialObjectMetadata"`, `"spec"`})
	}
	odd := &customWatch{open(t, s, widgets+"?watch=true&resourceVersion=0&fieldSelector=spec.a%3Dodd"), "odd", `"spec":{"a":"odd"}`, `"b":`}
	var last string
	for i := range 20 {
		name, value := fmt.Sprint("w", i), []string{"even", "odd"}[i%2]
		got := s.Do("POST", widgets, widget(name, `{"a":"`+value+`"}`))
		check(t, got, want{code: 201})
		last = version(t, got.Body)
		for _, w := range all {
			w.expect("ADDED " + name)
		}
		if value == "odd" {
			odd.expect("ADDED " + name)
		}
	}

	check(t, patchAs(s, "json", definitions+"/"+widgetsName,
		`[{"op":"add","path":"/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/c","value":{"type":"string"}}]`), want{code: 200})
	check(t, patchAs(s, "merge", widgets+"/w1", `{"spec":{"c":"new"}}`), want{code: 200, body: []string{`"c":"new"`}})
	for _, w := range append(all, odd) {
		if event, object := w.next(); event != "EOF" {
			t.Errorf("after a change of the schema the watch of %s got %s %s", w.name, event, object)
		}
	}
	resumed := &customWatch{open(t, s, widgets+"?watch=true&resourceVersion="+last), "the new schema", `"c":"new"`, ""}
	resumed.expect("MODIFIED w1")
}
