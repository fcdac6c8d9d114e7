package apiserver_test

import (
	"fmt"
	"strings"
	"testing"

	"quorate/apiserver/internal/testserver"
	"quorate/apiserver/rest/route"
)

// TestRefusalsAreCounted: each request that reaches a bound counts once, under the bound's name.
func TestRefusalsAreCounted(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	const (
		configMaps = "/api/v1/namespaces/default/configmaps"
		pods       = "/api/v1/namespaces/default/pods"
		json       = "Content-Type: application/json"
		yaml       = "Content-Type: application/yaml"
		jsonPatch  = "Content-Type: application/json-patch+json"
		mergePatch = "Content-Type: application/merge-patch+json"
	)
	configMap := func(rest string) string {
		return `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},` + rest + `}`
	}
	deep := strings.Repeat("[", 300) + strings.Repeat("]", 300)
	big := strings.Repeat("x", 1<<20)
	check(t, s.Do("POST", configMaps, configMap(`"data":{"a":"`+big+`"}`), json), want{code: 200})
	establish(t, s, widgetsName, strings.Replace(widgetDefinition(), `"replicas":{"type":"integer"},
		"parts"`, `"sizes":{"type":"array","maxItems":1000,"items":{"type":"integer"},"x-kubernetes-validations":[
			{"rule":"self.all(x, self.all(y, x + y > 0))"}]},
		"kinds":{"type":"array","items":{"type":"string","enum":["`+strings.Join(numbers(2000), `","`)+`"]}},
		"parts"`, 1))
	gadget := func(schema string) string {
		return definitionOf("gadgets", "Gadget", "Namespaced", `{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{
			"type":"object","properties":{"spec":`+schema+`}}}}`)
	}
	for _, tc := range []struct {
		name, method, path, body, header string
		code                             int
		limit                            string
	}{
		{"token", "GET", "/version", "", "Authorization: Bearer " + strings.Repeat("x", 9<<10), 401, "token-size"},
		{"body", "POST", configMaps, strings.Repeat(" ", 3<<20+1), json, 413, "body-size"},
		{"review", "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", strings.Repeat(" ", 256<<10+1), json, 413, "body-size"},
		{"object", "POST", pods, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"containers":[{"name":"a","image":"a","args":["` +
			big + `","` + big + `"]}]}}`, json, 413, "object-size"},
		{"terms", "GET", configMaps + "?labelSelector=a+in+(" + strings.Repeat("b,", 500) + "b)", "", json, 400, "selector-terms"},
		{"continue", "GET", configMaps + "?limit=1&continue=" + strings.Repeat("a", 1100), "", json, 410, "continue-size"},
		{"nesting", "POST", configMaps, configMap(`"x":` + deep), json, 400, "nesting"},
		{"nesting of YAML", "POST", configMaps, "x: " + deep, yaml, 400, "nesting"},
		{"nesting of a patch", "PATCH", configMaps + "/a", `{"x":` + deep + `}`, mergePatch, 400, "nesting"},
		{"fields", "POST", pods, `{"apiVersion":"v1","kind":"Pod","spec":{"containers":[` + strings.Repeat("{},", 900_000) + "{}]}}", json, 400, "fields"},
		{"nodes of YAML", "POST", configMaps, "x: [" + strings.Repeat("a,", 1<<20) + "]", yaml, 400, "yaml-nodes"},
		{"expansion of YAML", "POST", configMaps, "a: &a " + big + "\nb: [" + strings.Repeat("*a ,", 4) + "]", yaml, 400, "yaml-expansion"},
		{"more parameters", "GET", configMaps + "?" + strings.Repeat("a&", 1000), "", json, 400, "query-parameters"},
		{"operations", "PATCH", configMaps + "/a", "[" + strings.Repeat(`{"op":"test","path":"/a"},`, 10_000) + `{"op":"test","path":"/a"}]`, jsonPatch, 413, "patch-operations"},
		{"copies", "PATCH", configMaps + "/a", `[{"op":"copy","from":"/data","path":"/b"},{"op":"copy","from":"/data","path":"/c"},` +
			`{"op":"copy","from":"/data","path":"/d"},{"op":"copy","from":"/data","path":"/e"}]`, jsonPatch, 413, "patch-copied"},
		{"causes", "POST", pods, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"b"},"spec":{"containers":[` +
			strings.Repeat("{},", 1000) + "{}]}}", json, 422, "causes"},
		{"causes of a custom resource", "POST", widgets, widget("b", `{"size":1,"kinds":["`+strings.Repeat(`","`, 1000)+`"]}`), json, 422, "causes"},
		{"schema", "POST", definitions, gadget(`{"type":"object","description":"` + big + `"}`), json, 422, "schema-size"},
		{"rules", "POST", definitions, gadget(`{"type":"string","x-kubernetes-validations":[` +
			strings.Repeat(`{"rule":"true"},`, 1000) + `{"rule":"true"}]}`), json, 422, "schema-rules"},
		{"cost of a rule", "POST", definitions, gadget(`{"type":"array","items":{"type":"string"},"x-kubernetes-validations":[
			{"rule":"self.all(x, self.all(y, x != y))"}]}`), json, 422, "schema-cost"},
		{"pattern", "POST", definitions, gadget(`{"type":"string","pattern":"(abcdefghijklmnopqrstuvwxyz){1000}"}`), json, 422, "schema-patterns"},
		{"steps", "POST", widgets, widget("b", `{"size":1,"kinds":["`+strings.Repeat(`x","`, 20_000)+`"]}`), json, 422, "validation-steps"},
		{"evaluation", "POST", widgets, widget("b", `{"size":1,"sizes":[`+strings.Repeat("1,", 999)+`1]}`), json, 422, "rule-cost"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			series := fmt.Sprintf("quorate_apiserver_limit_hits_total{limit=%q}", tc.limit)
			before := metricOf(t, s, series)
			a := s.Do(tc.method, tc.path, tc.body, tc.header)
			if a.Code != tc.code {
				t.Errorf("%d %.300s, want %d", a.Code, a.Body, tc.code)
			}
			if n := metricOf(t, s, series) - before; n != 1 {
				t.Errorf("%s counts %v, want 1", tc.limit, n)
			}
		})
	}
}

// TestParametersUpToTheBound: a query that has as many parameters as it may is served.
func TestParametersUpToTheBound(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	query := strings.Repeat("a&", route.MaxParameters-1) + "limit=-1"
	check(t, s.Do("GET", "/api/v1/configmaps?"+query, ""), want{400, "BadRequest", "", []string{"limit"}})
}

func numbers(n int) []string {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = fmt.Sprint(i)
	}
	return texts
}

// TestLongHeaderOverHTTP1: a header of HTTP/1 beyond the bound is refused and counted, as over
// HTTP/2 (TestLimits in package h2). One far beyond it is refused by net/http.
func TestLongHeaderOverHTTP1(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	client := s.NewHTTP1Client()
	const series = `quorate_apiserver_limit_hits_total{limit="header-size"}`
	for _, tc := range []struct {
		bytes, code int
		counted     float64
	}{
		{60 << 10, 200, 0}, {65 << 10, 431, 1}, {300 << 10, 431, 0},
	} {
		before := metricOf(t, s, series)
		a, err := s.Try(client, "GET", "/version", "", "X-Long: "+strings.Repeat("x", tc.bytes))
		if err != nil || a.Code != tc.code {
			t.Errorf("%d bytes: %d, %v, want %d", tc.bytes, a.Code, err, tc.code)
		}
		if n := metricOf(t, s, series) - before; n != tc.counted {
			t.Errorf("%d bytes count %v, want %v", tc.bytes, n, tc.counted)
		}
	}
}
