package apiserver_test

import (
	"net/url"
	"strings"
	"testing"

	"quorate/apiserver/internal/testserver"
	"quorate/apiserver/rest/parameter"
)

// TestParameters: a verb reads no parameter that package parameter does not declare for it. It
// would panic, which is answered with 500.
func TestParameters(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	collection := namespace(t, s, "parameters")
	const deployment = "/apis/apps/v1/namespaces/parameters/deployments/d"
	check(t, s.Do("POST", collection, configMap("a")), want{code: 200})
	for _, tc := range []struct{ method, path, body string }{
		{"GET", collection, ""},
		{"GET", collection + "/a", ""},
		{"GET", "/api/v1/namespaces/parameters/services/a", ""}, // can be exported
		{"GET", "/api/v1/watch/namespaces/parameters/configmaps", ""},
		{"GET", "/api/v1/watch/namespaces/parameters/configmaps/a", ""},
		{"POST", collection, configMap("a")},
		{"PUT", collection + "/a", configMap("a")},
		{"PATCH", collection + "/a", `{}`},
		{"DELETE", collection + "/a", ""},
		{"DELETE", collection, ""},
		{"GET", deployment + "/scale", ""},
		{"PUT", deployment + "/scale", `{}`},
		{"PATCH", deployment + "/scale", `{}`},
		{"PATCH", deployment + "/status", `{}`},
		{"POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", `{}`},
		{"GET", "/apis", ""}, {"GET", "/api/v1", ""}, {"GET", "/version", ""}, {"GET", "/none", ""},
		{"GET", "/openapi/v2", ""}, {"GET", "/openapi/v3", ""}, {"GET", "/readyz", ""}, {"GET", "/healthz/ping", ""},
	} {
		for _, query := range queries() {
			answer := s.Do(tc.method, tc.path+"?"+query, tc.body, "Content-Type: "+contentType(tc.method))
			if answer.Code == 500 {
				t.Errorf("%s %s?%s: %s", tc.method, tc.path, query, answer.Body)
			}
		}
	}
}

func contentType(method string) string {
	if method == "PATCH" {
		return "application/merge-patch+json"
	}
	return "application/json"
}

// queries returns a query with each parameter, one with all, and one with all that a watch takes
// together. Streams end soon.
func queries() []string {
	all := url.Values{}
	var queries []string
	for _, d := range parameter.All() {
		value := map[parameter.Type]string{parameter.Boolean: "true", parameter.Integer: "1", parameter.Count: "1", parameter.Duration: "1ms"}[d.Type]
		if d.Values != nil {
			value = d.Values[0]
		}
		all.Set(d.Name, value)
		queries = append(queries, url.Values{d.Name: {value}, "timeout": {"1ms"}}.Encode())
	}
	queries = append(queries, all.Encode())
	all.Del("continue")
	all.Set("resourceVersionMatch", "NotOlderThan")
	queries = append(queries, all.Encode())
	return append(queries, strings.ReplaceAll(all.Encode(), "watch=true", "watch=false"))
}
