package apiserver_test

import (
	"regexp"
	"strings"
	"testing"

	"quorate/apiserver/internal/testserver"
)

func TestCreate(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	cms := namespace(t, s, "a")
	s.Do("POST", cms, configMap("taken"))
	check(t, s.Do("POST", "/api/v1/namespaces", `{"metadata":{"name":"going","finalizers":["x.io/hold"]}}`), want{code: 200})
	check(t, s.Do("DELETE", "/api/v1/namespaces/going", ""), want{code: 200})
	big := strings.Repeat("x", 3<<20)
	for _, tc := range []struct {
		row, method, path, body string
		headers                 []string
		want                    want
	}{
		{"A1 created", "POST", cms, configMap("a1"), nil, want{code: 200, body: []string{`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a1","namespace":"a"`}}},
		{"A2 namespace from the path", "POST", cms, `{"metadata":{"name":"a2"}}`, nil, want{code: 200, body: []string{`"namespace":"a"`}}},
		{"A3 namespaces differ", "POST", cms, `{"metadata":{"name":"x","namespace":"b"}}`, nil, want{400, "BadRequest", "the namespace of the provided object does not match the namespace sent on the request", nil}},
		{"A4 cluster-wide with namespace", "POST", "/api/v1/configmaps", `{"metadata":{"name":"a4","namespace":"a"}}`, nil, want{code: 200, body: []string{`"namespace":"a"`, `"selfLink":"/api/v1/namespaces/a/configmaps/a4"`}}},
		{"A5 cluster-wide without", "POST", "/api/v1/configmaps", `{"metadata":{"name":"a5"}}`, nil, want{code: 200, body: []string{`"namespace":"default"`}}},
		{"A7 namespace of a cluster-scoped kind", "POST", "/api/v1/nodes", `{"metadata":{"name":"a7","namespace":"a"}}`, nil, want{code: 200, body: []string{`"name":"a7","selfLink":"/api/v1/nodes/a7"`}}},
		{"A8 cluster-scoped kind under a namespace", "POST", "/api/v1/namespaces/a/nodes", `{}`, nil, want{404, "NotFound", "", nil}},
		{"A9 item path", "POST", cms + "/x", configMap("x"), nil, want{405, "MethodNotAllowed", "", nil}},
		{"A10 exists", "POST", cms, configMap("taken"), nil, want{409, "AlreadyExists", `configmaps "taken" already exists`, nil}},
		{"A10 exists and goes", "POST", "/api/v1/namespaces", `{"metadata":{"name":"going"}}`, nil, want{409, "AlreadyExists", `object is being deleted: namespaces "going" already exists`, nil}},
		{"A13 both names", "POST", cms, `{"metadata":{"name":"a13","generateName":"g-"}}`, nil, want{code: 200, body: []string{`"name":"a13","generateName":"g-"`}}},
		{"A14 no name", "POST", cms, `{"metadata":{}}`, nil, want{422, "Invalid", "name or generateName is required", []string{`"reason":"FieldValueRequired"`, `"field":"metadata.name"`}}},
		{"A15 bad name", "POST", cms, `{"metadata":{"name":"No"}}`, nil, want{422, "Invalid", `ConfigMap "No" is invalid: metadata.name: Invalid value: "No"`, nil}},
		{"A19 path segment names", "POST", "/apis/rbac.authorization.platform.io/v1beta1/clusterroles", `{"metadata":{"name":"system:x"},"rules":[]}`, nil, want{code: 200}},
		{"A29 version on create", "POST", cms, `{"metadata":{"name":"a29","resourceVersion":"7"}}`, nil, want{400, "BadRequest", "resourceVersion should not be set on objects to be created", nil}},
		{"A31 no such namespace", "POST", "/api/v1/namespaces/nope/configmaps", configMap("x"), nil, want{404, "NotFound", `namespaces "nope" not found`, []string{`"details":{"name":"nope","kind":"namespaces"}`}}},
		{"A32 namespace goes", "POST", "/api/v1/namespaces/going/configmaps", configMap("x"), nil, want{403, "Forbidden", `configmaps "x" is forbidden: unable to create new content in namespace going because it is being terminated`, []string{`"reason":"NamespaceTerminating"`, `"field":"metadata.namespace"`}}},
		{"A34 no kind", "POST", cms, `{"metadata":{"name":"a34"}}`, nil, want{code: 200}},
		{"A35 another kind", "POST", cms, `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"x"}}`, nil, want{400, "BadRequest", `Pod in version "v1" cannot be handled as a ConfigMap`, nil}},
		{"A36 another version", "POST", cms, `{"kind":"ConfigMap","apiVersion":"v2","metadata":{"name":"x"}}`, nil, want{400, "BadRequest", "does not match the expected API version (v1)", nil}},
		{"A37 empty body", "POST", cms, "", nil, want{400, "BadRequest", "the object provided is unrecognized", nil}},
		{"A38 malformed", "POST", cms, `{"metadata":`, nil, want{400, "BadRequest", "", nil}},
		{"A38 wrong type", "POST", cms, `{"metadata":{"name":"x"},"data":{"a":1}}`, nil, want{400, "BadRequest", "data", nil}},
		{"A39 trailing garbage", "POST", cms, configMap("x") + "{}", nil, want{400, "BadRequest", "", nil}},
		{"A41 charset", "POST", cms, configMap("a41"), []string{"Content-Type: application/json;charset=utf-8"}, want{code: 200}},
		{"A41 yaml", "POST", cms, "metadata:\n  name: a41y\ndata:\n  k: v\n", []string{"Content-Type: application/yaml"}, want{code: 200, body: []string{`"data":{"k":"v"}`}}},
		{"A39 second yaml document", "POST", cms, "metadata:\n  name: x\n---\na: b\n", []string{"Content-Type: application/yaml"}, want{400, "BadRequest", "", nil}},
		{"A42 sniffed json", "POST", cms, configMap("a42"), []string{"Content-Type: application/x-www-form-urlencoded"}, want{code: 200}},
		{"A42 sniffed yaml", "POST", cms, "metadata: {name: a42y}\n", []string{"Content-Type: text/plain"}, want{code: 200}},
		{"A42 unknown", "POST", cms, "!!", []string{"Content-Type: text/plain"}, want{415, "UnsupportedMediaType", "", nil}},
		{"B20 malformed protobuf", "POST", cms, "k8s\x00x", []string{"Content-Type: application/vnd.kubernetes.protobuf"}, want{400, "BadRequest", "couldn't read the protobuf envelope", nil}},
		{"A43 too large", "POST", cms, big + "x", nil, want{413, "RequestEntityTooLarge", "limit is 3145728", nil}},
		{"A44 object too large", "POST", "/apis/image.platform.io/v1/images", `{"metadata":{"name":"sha256:a44"},"containerImageReference":"a/b","containerImageManifest":"` + strings.Repeat("x", 1600<<10) + `"}`, nil, want{413, "RequestEntityTooLarge", "may not exceed 1572864 bytes", nil}},
		{"A46 unknown field warns", "POST", cms, `{"metadata":{"name":"a46"},"spec":{}}`, nil, want{code: 200}},
		{"A49 strict", "POST", cms + "?fieldValidation=Strict", `{"metadata":{"name":"x"},"spec":{},"data":{"k":"1","k":"2"}}`, nil, want{400, "BadRequest", `strict decoding error: unknown field "spec", duplicate field "data.k"`, nil}},
		{"A50 unknown validation", "POST", cms + "?fieldValidation=x", configMap("x"), nil, want{422, "Invalid", "", []string{`"group":"meta.k8s.io","kind":"CreateOptions"`, "FieldValueNotSupported"}}},
		{"A52 dry run", "POST", cms + "?dryRun=All&dryRun=All", configMap("a52"), nil, want{code: 200, body: []string{`"uid":"`}}},
		{"A52 dry run of a taken name", "POST", cms + "?dryRun=All", configMap("taken"), nil, want{409, "AlreadyExists", "", nil}},
		{"A53 dry run of something", "POST", cms + "?dryRun=x", configMap("x"), nil, want{422, "Invalid", "", []string{"FieldValueNotSupported"}}},
		{"A54 long manager", "POST", cms + "?fieldManager=" + strings.Repeat("m", 129), configMap("x"), nil, want{422, "Invalid", "", nil}},
		{"A56 unknown parameter", "POST", cms + "?what=ever", configMap("a56"), nil, want{code: 200}},
		{"A61 namespace before validation", "POST", "/api/v1/namespaces/nope/configmaps", `{"metadata":{"name":"No"}}`, nil, want{404, "NotFound", "", nil}},
		{"A61 accept before media type", "POST", cms, configMap("x"), []string{"Accept: text/html", "Content-Type: application/vnd.kubernetes.protobuf"}, want{406, "NotAcceptable", "", nil}},
		{"A61 options before decoding", "POST", cms + "?dryRun=x", `{`, nil, want{422, "Invalid", "", nil}},
		{"A61 decoding before the namespace", "POST", "/api/v1/namespaces/nope/configmaps", `{`, nil, want{400, "BadRequest", "", nil}},
		{"A61 validation before existence", "POST", cms, `{"metadata":{"name":"taken","labels":{"-":"x"}}}`, nil, want{422, "Invalid", "", nil}},
	} {
		t.Run(tc.row, func(t *testing.T) {
			t.Parallel()
			check(t, s.Do(tc.method, tc.path, tc.body, tc.headers...), tc.want)
		})
	}
}

func TestCreateMetadata(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	cms := namespace(t, s, "a")
	t.Run("A24-A28 the server's own fields", func(t *testing.T) {
		t.Parallel()
		got := s.Do("POST", cms, `{"metadata":{"name":"m","uid":"mine","selfLink":"/x","creationTimestamp":"2001-01-01T00:00:00Z",
			"deletionTimestamp":"2001-01-01T00:00:00Z","clusterName":"c","generation":7}}`)
		check(t, got, want{code: 200})
		for name, form := range map[string]string{
			"uid":               `^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`,
			"creationTimestamp": `^20[2-9]\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$`,
			"resourceVersion":   `^[1-9]\d*$`,
			"selfLink":          `^/api/v1/namespaces/a/configmaps/m$`,
			"deletionTimestamp": `^$`, "clusterName": `^$`, "generation": `^$`,
		} {
			if v := field(t, got.Body, "metadata."+name); !regexp.MustCompile(form).MatchString(v) {
				t.Errorf("%s is %q", name, v)
			}
		}
	})
	t.Run("A11 generated name", func(t *testing.T) {
		t.Parallel()
		got := s.Do("POST", cms, `{"metadata":{"generateName":"`+strings.Repeat("p", 70)+`"}}`)
		name := field(t, got.Body, "metadata.name")
		if !regexp.MustCompile(`^p{58}[bcdfghjklmnpqrstvwxz2456789]{5}$`).MatchString(name) {
			t.Errorf("name %q", name)
		}
	})
	t.Run("A48 warnings", func(t *testing.T) {
		t.Parallel()
		got := s.Do("POST", cms, `{"metadata":{"name":"w"},"foo":{}}`)
		if w := got.Header.Get("Warning"); w != `299 - "unknown field \"foo\""` {
			t.Errorf("Warning: %s", w)
		}
	})
	t.Run("A23 a warning for duplicate owners", func(t *testing.T) {
		t.Parallel()
		owner := `{"apiVersion":"v1","kind":"Pod","name":"p","uid":"u1"}`
		got := s.Do("POST", cms, `{"metadata":{"name":"owned","ownerReferences":[`+owner+`,`+owner+`]}}`)
		if w := got.Header.Get("Warning"); got.Code != 200 || !strings.Contains(w, "duplicate entries; only the first with uid u1") {
			t.Errorf("%d, Warning: %s", got.Code, w)
		}
	})
	t.Run("A52 a dry run leaves nothing", func(t *testing.T) {
		t.Parallel()
		got := s.Do("POST", cms+"?dryRun=All", configMap("dry"))
		if rv := field(t, got.Body, "metadata.resourceVersion"); rv != "" {
			t.Errorf("resourceVersion %q", rv)
		}
		check(t, s.Do("GET", cms+"/dry", ""), want{404, "NotFound", `configmaps "dry" not found`, nil})
	})
	t.Run("A43 body of unknown length", func(t *testing.T) {
		t.Parallel()
		req := s.Request("POST", cms, strings.Repeat("x", 4<<20))
		req.ContentLength = -1
		resp, err := s.Client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if resp.StatusCode != 413 {
			t.Errorf("code %d", resp.StatusCode)
		}
	})
}
