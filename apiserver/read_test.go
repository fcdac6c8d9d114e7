package apiserver_test

import (
	"compress/gzip"
	"io"
	"strings"
	"testing"

	"quorate/apiserver/internal/testserver"
)

func TestRead(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	cms := namespace(t, s, "a")
	check(t, s.Do("POST", cms, configMap("m")), want{code: 200})
	for _, tc := range []struct {
		row, method, path string
		headers           []string
		want              want
	}{
		{"B1 item", "GET", cms + "/m", nil, want{code: 200, body: []string{`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"m"`}}},
		{"B2 missing", "GET", cms + "/x", nil, want{404, "NotFound", `configmaps "x" not found`, []string{`"details":{"name":"x","kind":"configmaps"}`}}},
		{"B2 missing namespace", "GET", "/api/v1/namespaces/nope/configmaps/x", nil, want{404, "NotFound", `configmaps "x" not found`, nil}},
		{"B2 group in the message", "GET", "/apis/apps/v1beta2/namespaces/a/daemonsets/x", nil, want{404, "NotFound", `daemonsets.apps "x" not found`, []string{`"group":"apps"`}}},
		{"B4 unknown plural", "GET", "/api/v1/nope", nil, want{404, "NotFound", "the server could not find the requested resource", nil}},
		{"B5 cached", "GET", cms + "/m?resourceVersion=0", nil, want{code: 200}},
		{"B5 at least", "GET", cms + "/m?resourceVersion=1", nil, want{code: 200}},
		{"C28 not a version", "GET", cms + "/m?resourceVersion=x", nil, want{400, "BadRequest", "invalid resource version", nil}},
		{"C33 in the future", "GET", cms + "/m?resourceVersion=99999999", nil, want{504, "Timeout", "Too large resource version: 99999999, current: ", []string{`"reason":"ResourceVersionTooLarge","message":"Too large resource version"`, `"retryAfterSeconds":1`}}},
		{"B6 pretty", "GET", cms + "/m?pretty=true", nil, want{code: 200, body: []string{"{\n  \"kind\": \"ConfigMap\",\n"}}},
		{"B7 a person looks", "GET", cms + "/m", []string{"User-Agent: curl/8"}, want{code: 200, body: []string{"{\n  \"kind\""}}},
		{"B7 pretty=false wins", "GET", cms + "/m?pretty=false", []string{"User-Agent: curl/8"}, want{code: 200, body: []string{`{"kind"`}}},
		{"B12 export unparsable", "GET", cms + "/m?export=x", nil, want{400, "BadRequest", "", nil}},
		{"B11 exact alone", "GET", cms + "/m?exact=true", nil, want{code: 200}},
		{"B15 anything", "GET", cms + "/m", []string{"Accept: */*"}, want{code: 200}},
		{"B17 yaml", "GET", cms + "/m", []string{"Accept: application/yaml"}, want{code: 200, body: []string{"kind: ConfigMap\napiVersion: v1\nmetadata:\n"}}},
		{"B22 order of quality", "GET", cms + "/m", []string{"Accept: application/json;q=0.1,application/yaml;q=0.9"}, want{code: 200, body: []string{"kind: ConfigMap\n"}}},
		{"B22 what can't be served is passed over", "GET", cms + "/m", []string{"Accept: application/json;as=Pie;v=v1;g=meta.k8s.io,text/csv,application/json"}, want{code: 200, body: []string{`{"kind":"ConfigMap"`}}},
		{"B23 nothing acceptable", "GET", cms + "/m", []string{"Accept: text/html"}, want{406, "NotAcceptable", "only the following media types are accepted: application/json, application/yaml, application/vnd.platform.protobuf", nil}},
		{"B35 encoded segment", "GET", "/apis/rbac.authorization.platform.io/v1beta1/clusterroles/system%3Ax", nil, want{404, "NotFound", `"system:x" not found`, nil}},
		{"B35 encoded slash stays in its segment", "GET", cms + "/a%2Fb", nil, want{404, "NotFound", `configmaps "a/b" not found`, nil}},
		{"B35 dots", "GET", "/api/v1/namespaces/%2e%2e/configmaps", nil, want{404, "NotFound", "could not find the requested resource", nil}},
		{"B35 trailing slash", "GET", cms + "/", nil, want{404, "NotFound", "", nil}},
		{"D34 watch on an item", "GET", cms + "/m?watch=true", nil, want{code: 200, body: []string{`{"kind":"ConfigMap"`}}},
		{"E31 PUT to a collection", "PUT", cms, nil, want{405, "MethodNotAllowed", "", nil}},
		{"H12 unknown subresource", "GET", "/api/v1/namespaces/a/pods/p/log", nil, want{404, "NotFound", "", nil}},
		{"A57 boolean unparsable", "GET", cms + "?watch=x", nil, want{400, "BadRequest", "watch", nil}},
	} {
		t.Run(tc.row, func(t *testing.T) {
			t.Parallel()
			check(t, s.Do(tc.method, tc.path, "", tc.headers...), tc.want)
		})
	}
	t.Run("B34 HEAD, I5 Allow", func(t *testing.T) {
		t.Parallel()
		got := s.Do("HEAD", cms+"/m", "")
		if allow := got.Header.Get("Allow"); got.Code != 405 || allow != "DELETE, GET, PATCH, PUT" {
			t.Errorf("code %d, Allow %q", got.Code, allow)
		}
	})
	t.Run("B36 headers", func(t *testing.T) {
		t.Parallel()
		h := s.Do("GET", cms+"/m", "").Header
		if h.Get("Content-Type") != "application/json" || h.Get("Cache-Control") != "no-cache, private" || h.Get("Audit-Id") == "" {
			t.Errorf("%v", h)
		}
	})
	t.Run("B37 HTTP/1.1 and close", func(t *testing.T) {
		t.Parallel()
		client := s.NewHTTP1Client()
		got, err := s.Try(client, "GET", cms+"/m", "", "Connection: close")
		if err != nil {
			t.Fatal(err)
		}
		check(t, got, want{code: 200})
	})
}

func TestList(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	cms, other := namespace(t, s, "a"), namespace(t, s, "b")
	var last string
	for _, o := range []struct{ path, name, label string }{{cms, "one", "x"}, {cms, "two", "y"}, {other, "three", "x"}} {
		got := s.Do("POST", o.path, `{"metadata":{"name":"`+o.name+`","labels":{"l":"`+o.label+`"}}}`)
		check(t, got, want{code: 200})
		last = field(t, got.Body, "metadata.resourceVersion")
	}
	for _, tc := range []struct {
		row, path string
		headers   []string
		want      want
		names     string
	}{
		{"C1 envelope", cms, nil, want{code: 200, body: []string{`{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"selfLink":"/api/v1/namespaces/a/configmaps","resourceVersion":"`}}, "one,two"},
		{"C2 items without kind", cms, nil, want{code: 200, body: []string{`"items":[{"metadata":{"name":"one"`}}, "one,two"},
		{"C3 C47 all namespaces in order", "/api/v1/configmaps", nil, want{code: 200}, "one,two,three"},
		{"B3 no such namespace", "/api/v1/namespaces/nope/configmaps", nil, want{code: 200, body: []string{`"items":[]`}}, ""},
		{"C5 labels", "/api/v1/configmaps?labelSelector=l%3Dx", nil, want{code: 200}, "one,three"},
		{"C9 field", "/api/v1/configmaps?fieldSelector=metadata.name%3Dtwo", nil, want{code: 200}, "two"},
		{"C9 field in a namespace", cms + "?fieldSelector=metadata.name%3Dtwo", nil, want{code: 200}, "two"},
		{"C48 namespace by field", "/api/v1/configmaps?fieldSelector=metadata.namespace%3Db", nil, want{code: 200}, "three"},
		{"C7 bad labels", cms + "?labelSelector=a%3Db%3Dc", nil, want{400, "BadRequest", "unable to parse requirement", nil}, ""},
		{"C10 bad field", cms + "?fieldSelector=a.b%3Dc", nil, want{400, "BadRequest", "field label not supported: a.b", nil}, ""},
		{"C21 cached", cms + "?resourceVersion=0", nil, want{code: 200}, "one,two"},
		{"C22 at least", cms + "?resourceVersion=" + last, nil, want{code: 200}, "one,two"},
		{"C24 not older", cms + "?resourceVersionMatch=NotOlderThan&resourceVersion=" + last, nil, want{code: 200}, "one,two"},
		{"C25 exactly now", cms + "?resourceVersionMatch=Exact&resourceVersion=" + last, nil, want{code: 200}, "one,two"},
		{"C26 exactly then", cms + "?resourceVersionMatch=Exact&resourceVersion=1", nil, want{410, "Expired", "The resourceVersion for the provided list is too old", nil}, ""},
		{"C27 match alone", cms + "?resourceVersionMatch=Exact", nil, want{422, "Invalid", "", []string{`"kind":"ListOptions"`, "FieldValueForbidden"}}, ""},
		{"C27 unknown match", cms + "?resourceVersionMatch=x&resourceVersion=1", nil, want{422, "Invalid", "", []string{"FieldValueNotSupported"}}, ""},
		{"C27 exact zero", cms + "?resourceVersionMatch=Exact&resourceVersion=0", nil, want{422, "Invalid", "", []string{"FieldValueForbidden"}}, ""},
		{"C29 limit", cms + "?limit=1", nil, want{code: 200, body: []string{`"remainingItemCount":1`, `"continue":"`}}, "one"},
		{"C30 bad limit", cms + "?limit=-1", nil, want{400, "BadRequest", "limit", nil}, ""},
		{"C38 continue", cms + "?continue=x", nil, want{410, "Expired", "ResourceExpired", nil}, ""},
		{"C39 continue and version", cms + "?continue=x&resourceVersion=5", nil, want{400, "BadRequest", "specifying resource version is not allowed when using continue", nil}, ""},
		{"C43 bad timeout", cms + "?timeoutSeconds=x", nil, want{400, "BadRequest", "timeoutSeconds", nil}, ""},
		{"C45 watch=false", cms + "?watch=false", nil, want{code: 200}, "one,two"},
		{"C46 initial events", cms + "?sendInitialEvents=true", nil, want{422, "Invalid", "", []string{"FieldValueForbidden"}}, ""},
		{"B6 pretty", cms + "?pretty=1", nil, want{code: 200, body: []string{"  \"items\": [\n    {\n      \"metadata\": {\n        \"name\": \"one\""}}, "one,two"},
		{"B17 yaml", cms, []string{"Accept: application/yaml"}, want{code: 200, body: []string{"apiVersion: v1\nitems:\n- metadata:\n    name: one\n", "\nkind: ConfigMapList\nmetadata:\n  selfLink: /api/v1/namespaces/a/configmaps\n"}}, ""},
	} {
		t.Run(tc.row, func(t *testing.T) {
			t.Parallel()
			got := s.Do("GET", tc.path, "", tc.headers...)
			check(t, got, tc.want)
			if tc.names == "" {
				return
			}
			if names := strings.Join(itemNames(t, got.Body), ","); names != tc.names {
				t.Errorf("got %s, want %s", names, tc.names)
			}
		})
	}
}

func TestGzip(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	cms := namespace(t, s, "a")
	small := s.Do("GET", cms, "", "Accept-Encoding: gzip")
	if small.Header.Get("Content-Encoding") != "" {
		t.Error("B33: a small body is compressed")
	}
	for _, name := range []string{"one", "two", "three"} {
		check(t, s.Do("POST", cms, `{"metadata":{"name":"`+name+`"},"data":{"k":"`+strings.Repeat("x", 100<<10)+`"}}`), want{code: 200})
	}
	plain := s.Do("GET", cms, "")
	packed := s.Do("GET", cms, "", "Accept-Encoding: gzip")
	if packed.Header.Get("Content-Encoding") != "gzip" || packed.Header.Get("Vary") != "Accept-Encoding" {
		t.Fatalf("B33: %v", packed.Header)
	}
	r, err := gzip.NewReader(strings.NewReader(packed.Body))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if string(body) != plain.Body {
		t.Error("B33: another body when compressed")
	}
}
