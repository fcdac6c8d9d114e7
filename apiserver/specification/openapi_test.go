package specification

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	openapi2 "github.com/google/gnostic-models/openapiv2"
	openapi3 "github.com/google/gnostic-models/openapiv3"
	"google.golang.org/protobuf/proto"

	"quorate/apiserver/internal/testserver"
)

// What stock clients send for documents in protobuf, and what they are answered with.
const (
	askOpenAPI2 = "Accept: application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
	askOpenAPI3 = "Accept: application/com.github.proto-openapi.spec.v3@v1.0+protobuf"
	isOpenAPI2  = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
	isOpenAPI3  = "application/com.github.proto-openapi.spec.v3.v1.0+protobuf"
)

// openAPI3: L15–L17, L39: the index, at whose addresses documents are that never change, and what
// clients read of them.
func openAPI3(t *testing.T, s *testserver.Server) {
	index := ok(t, s.Do("GET", "/openapi/v3", ""))
	for _, k := range catalog() {
		path := strings.TrimPrefix(k.prefix, "/")
		url := get(t, index, "paths."+strings.ReplaceAll(path, ".", `\.`)+".serverRelativeURL")
		if !strings.HasPrefix(url, "/openapi/v3/"+path+"?hash=") {
			t.Fatalf("%s: %q", path, url)
		}
		a := s.Do("GET", url, "")
		want(t, ok(t, a), "openapi", "3.0.0")
		if a.Header.Get("Cache-Control") != "public, immutable" || a.Header.Get("Expires") == "" {
			t.Errorf("%s: %v", url, a.Header)
		}
		checkOpenAPI(t, a.Body, k)
		if plain := s.Do("GET", "/openapi/v3"+k.prefix, ""); ok(t, plain) != a.Body || plain.Header.Get("Expires") != "" {
			t.Errorf("%s without a hash: %v", path, plain.Header)
		}
		stays := s.NewClient()
		stays.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		if old, err := s.Try(stays, "GET", "/openapi/v3"+k.prefix+"?hash=OLD", ""); err != nil || old.Code != 301 || old.Header.Get("Location") != url {
			t.Errorf("%s with an old hash: %v %d %v", path, err, old.Code, old.Header)
		}
		binary := s.Do("GET", url, "", askOpenAPI3)
		document := &openapi3.Document{}
		if err := proto.Unmarshal([]byte(ok(t, binary)), document); err != nil || document.GetOpenapi() != "3.0.0" ||
			binary.Header.Get("Content-Type") != isOpenAPI3 {
			t.Errorf("%s in protobuf: %v, %v", path, err, binary.Header)
		}
	}
	expect(t, s.Do("GET", "/openapi/v3/apis/none/v1", ""), 404, "NotFound")
	expect(t, s.Do("GET", "/openapi/v3/api/v1", "", "Accept: text/html"), 406, "NotAcceptable", isOpenAPI3)
}

// openAPI2: L18: one document of everything.
func openAPI2(t *testing.T, s *testserver.Server) {
	for _, accept := range []string{"Accept: ", "Accept: */*", "Accept: application/json"} {
		a := s.Do("GET", "/openapi/v2", "", accept)
		if want(t, ok(t, a), "swagger", "2.0"); a.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %v", accept, a.Header)
		}
	}
	packed := s.Do("GET", "/openapi/v2", "", "Accept-Encoding: gzip")
	if packed.Header.Get("Content-Encoding") != "gzip" || strings.Join(packed.Header.Values("Vary"), ", ") != "Accept, Accept-Encoding" {
		t.Errorf("compressed: %v", packed.Header)
	}
	for _, accept := range []string{askOpenAPI2, "Accept: " + isOpenAPI2} {
		a := s.Do("GET", "/openapi/v2", "", accept)
		document := &openapi2.Document{}
		if err := proto.Unmarshal([]byte(ok(t, a)), document); err != nil || document.GetSwagger() != "2.0" || a.Header.Get("Content-Type") != isOpenAPI2 {
			t.Errorf("%s: %v, %v", accept, err, a.Header)
		}
		if again := s.Do("GET", "/openapi/v2", "", accept, "If-None-Match: "+a.Header.Get("Etag")); again.Code != 304 {
			t.Errorf("%s again: %d", accept, again.Code)
		}
	}
	expect(t, s.Do("GET", "/openapi/v2", "", askOpenAPI3), 406, "NotAcceptable", isOpenAPI2)
}

// checkOpenAPI: what clients read of a kind's document (L16).
func checkOpenAPI(t *testing.T, document string, k kindOf) {
	t.Helper()
	path := k.prefix + "/" + k.plural + "/{name}"
	if k.namespaced {
		path = k.prefix + "/namespaces/{namespace}/" + k.plural + "/{name}"
	}
	version := k.prefix[strings.LastIndex(k.prefix, "/")+1:]
	patch := get(t, document, "paths."+strings.ReplaceAll(path, ".", `\.`)+".patch")
	const gvk = "x-kubernetes-group-version-kind"
	want(t, patch, "x-kubernetes-action", "patch", gvk+".group", k.group(), gvk+".version", version, gvk+".kind", k.realKind())
	var parameters []string
	for i := 0; value(t, patch, fmt.Sprintf("parameters.%d", i)) != nil; i++ {
		at := fmt.Sprintf("parameters.%d.", i)
		parameters = append(parameters, get(t, patch, at+"in")+" "+get(t, patch, at+"name"))
	}
	if !slices.Contains(parameters, "query fieldValidation") || !slices.Contains(parameters, "query dryRun") {
		t.Errorf("%s: parameters %q", path, parameters)
	}
	components, isObject := value(t, document, "components.schemas").(map[string]any)
	if !isObject {
		t.Fatalf("no schemas: %.200s", document)
	}
	named := fmt.Sprintf("[map[group:%s kind:%s version:%s]]", k.group(), k.realKind(), version)
	for _, component := range components {
		component, isObject := component.(map[string]any)
		if !isObject || fmt.Sprint(component[gvk]) != named {
			continue
		}
		text, err := json.Marshal(component)
		if err != nil {
			t.Fatal(err)
		}
		want(t, string(text), "type", "object", "properties.kind.type", "string")
		if meta := get(t, string(text), "properties.metadata.allOf.0.$ref"); components[strings.TrimPrefix(meta, "#/components/schemas/")] == nil {
			t.Errorf("%s: metadata is %q", k.kind, meta)
		}
		return
	}
	t.Errorf("%s: no component is %s", k.kind, named)
}
