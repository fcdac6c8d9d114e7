package apiserver_test

import (
	"strings"
	"testing"

	"quorate/apiserver/internal/testserver"
)

// TestDefinitionAppliedAgain: a definition keeps its schemas in an order of its own. Writing what
// the client wrote before, in the client's order, changes neither version nor generation.
func TestDefinitionAppliedAgain(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	schema := func(size string) string {
		return `{"properties":{"spec":{"properties":{"size":{"minimum":` + size + `,"type":"integer"}},"type":"object"}},"type":"object"}`
	}
	definition := func(size string) string {
		return `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",` + definitionOf("widgets", "Widget", "Namespaced",
			`{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":`+schema(size)+`}}`)[1:]
	}
	path := definitions + "/widgets.shop.example.com"
	apply := func(body string) testserver.Answer {
		return s.Do("PATCH", path+"?fieldManager=m&force=true", body, applyPatch)
	}
	first := apply(definition("1"))
	check(t, first, want{code: 201, body: []string{`"generation":1`}})
	if strings.Contains(first.Body, `"size":{"minimum"`) {
		t.Fatalf("the schema is kept in the client's order, so nothing is tested: %s", first.Body)
	}
	awaitCondition(t, s, "widgets.shop.example.com", "Established", "True")
	version := func() string { return field(t, s.Do("GET", path, "").Body, "metadata.resourceVersion") }
	before := version()
	check(t, apply(definition("1")), want{code: 200, body: []string{`"generation":1`}})
	replace := strings.Replace(definition("1"), `"metadata":{`, `"metadata":{"resourceVersion":"`+before+`",`, 1)
	check(t, s.Do("PUT", path, replace), want{code: 200, body: []string{`"generation":1`}})
	if now := version(); now != before {
		t.Errorf("version %s after writes that change nothing, was %s", now, before)
	}
	check(t, apply(definition("2")), want{code: 200, body: []string{`"generation":2`, `"minimum":2`}})
}
