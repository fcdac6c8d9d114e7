package apiserver_test

import (
	"strings"
	"testing"

	"quorate/apiserver/internal/testserver"
)

// TestTrailingSlash: GETs of resources, discovery and the version ignore a slash at the end, as
// stock clients send it. Paths that a stock server compares whole, and writes, do not.
func TestTrailingSlash(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	for _, path := range []string{
		"/version/", "/apis/", "/api/", "/apis/apps/", "/apis/apps/v1/", "/api/v1/", "/api/v1/namespaces/",
		"/api/v1/namespaces/default/", "/api/v1/namespaces/?limit=1", "/oapi/", "/oapi/v1/",
	} {
		with, without := s.Do("GET", path, ""), s.Do("GET", strings.Replace(path, "/?", "?", 1), "")
		if !strings.Contains(path, "?") {
			without = s.Do("GET", strings.TrimSuffix(path, "/"), "")
		}
		if with.Code != 200 || with.Body != without.Body {
			t.Errorf("%s: %d %s, want %s", path, with.Code, with.Body, without.Body)
		}
	}
	for _, path := range []string{
		"/healthz/", "/livez/", "/readyz/", "/metrics/", "/openapi/v2/", "/openapi/v3/", "/api//", "/version//", "/apis/none/", "/apix/",
	} {
		if got := s.Do("GET", path, ""); got.Code != 404 {
			t.Errorf("GET %s: %d %s", path, got.Code, got.Body)
		}
	}
	collection := namespace(t, s, "slash") + "/"
	for _, method := range []string{"POST", "PUT", "PATCH", "DELETE"} {
		check(t, s.Do(method, collection, configMap("a")), want{404, "NotFound", "", nil})
	}
}

// TestDocumentTimeout: a timeout that is none is refused, also where nothing takes long.
func TestDocumentTimeout(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	for _, path := range []string{"/version", "/api", "/apis", "/apis/apps", "/apis/apps/v1", "/api/v1"} {
		check(t, s.Do("GET", path+"?timeout=invalid", ""), want{400, "BadRequest", "invalid timeout specified in the request URL: invalid is not a duration", nil})
		check(t, s.Do("GET", path+"?timeout=5s", ""), want{code: 200})
	}
}

// TestCreationCode: kinds of the specification answer creations with 200, all others with 201 (A1).
func TestCreationCode(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	configMaps := namespace(t, s, "codes")
	leases := "/apis/coordination.k8s.io/v1/namespaces/codes/leases"
	sets := "/namespaces/codes/statefulsets"
	const roles = "/apis/rbac.authorization.platform.io/v1beta1/namespaces/codes/roles"
	for _, tc := range []struct {
		name, method, path, body string
		code                     int
	}{
		{"specified", "POST", configMaps, configMap("a"), 200},
		{"specified group", "POST", "/apis/apps/v1beta2" + sets, statefulSet("a", "x"), 200},
		{"another version of it", "POST", "/apis/apps/v1" + sets, statefulSet("b", "x"), 201},
		{"extra", "POST", leases, `{"metadata":{"name":"a"}}`, 201},
		{"extra, dry run", "POST", leases + "?dryRun=All", `{"metadata":{"name":"b"}}`, 201},
		{"extra, as a table", "POST", leases, `{"metadata":{"name":"c"}}`, 201},
		{"extra by PUT", "PUT", leases + "/d", `{"metadata":{"name":"d"}}`, 201},
		{"role by PUT", "PUT", roles + "/d", `{"metadata":{"name":"d"},"rules":[]}`, 201},
		{"role replaced", "PUT", roles + "/d", `{"metadata":{"name":"d","labels":{"a":"b"}},"rules":[]}`, 200},
		{"extra patched", "PATCH", leases + "/d", `{"metadata":{"labels":{"a":"c"}}}`, 200},
		{"review", "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", `{"spec":{"nonResourceAttributes":{"path":"/x","verb":"get"}}}`, 201},
		{"extra deleted", "DELETE", leases + "/d", "", 200},
	} {
		header := "Content-Type: " + contentType(tc.method)
		if got := s.Do(tc.method, tc.path, tc.body, header); got.Code != tc.code {
			t.Errorf("%s: %d, want %d: %s", tc.name, got.Code, tc.code, got.Body)
		}
	}
}

// TestServiceConditions: conditions of a Service are kept as they are sent, as upstream does, which
// validates none of their fields.
func TestServiceConditions(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	namespace(t, s, "conditions")
	services := "/api/v1/namespaces/conditions/services"
	made := s.Do("POST", services, `{"metadata":{"name":"a"},"spec":{"ports":[{"port":80}]}}`)
	if made.Code/100 != 2 {
		t.Fatal(made)
	}
	for _, condition := range []string{`{"type":"Ready","status":"True"}`, `{}`, `{"type":"Ready","status":"maybe","observedGeneration":-1}`} {
		got := s.Do("PATCH", services+"/a/status", `{"status":{"conditions":[`+condition+`]}}`, "Content-Type: application/merge-patch+json")
		check(t, got, want{code: 200, body: []string{`"lastTransitionTime":null`}})
	}
}

// TestDroppedFields: fields that no kind has are counted, by what became of them.
func TestDroppedFields(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	collection := namespace(t, s, "dropped")
	for query, body := range map[string]string{
		"":                        `{"metadata":{"name":"a"},"none":1,"neither":2}`,
		"?fieldValidation=Ignore": `{"metadata":{"name":"b"},"none":1}`,
		"?fieldValidation=Strict": `{"metadata":{"name":"c"},"none":1,"data":{"k":"v"},"data":{}}`,
	} {
		s.Do("POST", collection+query, body)
	}
	s.Do("PATCH", collection+"/a", `{"none":1,"data":{"k":"v"}}`, "Content-Type: application/merge-patch+json")
	s.Do("PATCH", collection+"/a?fieldManager=m", `{"apiVersion":"v1","kind":"ConfigMap","data":{"l":"v"},"data":{"l":"w"}}`,
		"Content-Type: application/apply-patch+yaml")
	s.Do("DELETE", collection+"/none", `{"none":1}`)
	s.Do("DELETE", collection+"/none?fieldValidation=Ignore", `{"none":1}`)
	s.Do("DELETE", collection+"?fieldValidation=Strict", `{"none":1}`)
	metrics := s.Do("GET", "/metrics", "").Body
	for _, line := range []string{
		`quorate_apiserver_fields_dropped_total{kind="ConfigMap",validation="Warn"} 5`,
		`quorate_apiserver_fields_dropped_total{kind="ConfigMap",validation="Ignore"} 2`,
		`quorate_apiserver_fields_dropped_total{kind="ConfigMap",validation="Strict"} 3`,
	} {
		if !strings.Contains(metrics, line+"\n") {
			t.Errorf("the metrics lack %s", line)
		}
	}
}
