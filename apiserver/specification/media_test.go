package specification

import (
	"compress/gzip"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"quorate/apiserver/internal/testserver"
	"quorate/apiserver/kinds"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/validation"
)

const (
	asPlatform   = "application/vnd.platform.protobuf"
	asKubernetes = "application/vnd.kubernetes.protobuf"
	asYAML       = "application/yaml"
	asTable      = "application/json;as=Table;v=v1;g=meta.k8s.io"
	asPartial    = "application/json;v=v1;g=meta.k8s.io;as=PartialObjectMetadata" // or, of lists, with List behind it
)

// mediaRows prove the forms of answers and bodies (B6-B8, B15-B23, B30-B37, A41, A42).
var mediaRows = []row{
	{"B6 §4.4-pretty", func(t *testing.T, s *testserver.Server) {
		path := item("ConfigMap", oneConfigMap(t, s), "m")
		for _, asked := range []string{"true", "1"} {
			if body := ok(t, s.Do("GET", path+"?pretty="+asked, "")); !isPretty(body) || parse(t, body) == nil {
				t.Errorf("pretty=%s: %q", asked, body)
			}
		}
		if body := ok(t, s.Do("GET", path+"?pretty=false", "")); strings.Contains(body, "\n") {
			t.Errorf("pretty=false: %q", body)
		}
		for _, p := range []string{path + "x", collection("ConfigMap", "default")} {
			if body := s.Do("GET", p+"?pretty=true", "").Body; !isPretty(body) {
				t.Errorf("%s: %q", p, body)
			}
		}
	}},
	{"B7", func(t *testing.T, s *testserver.Server) {
		path := item("ConfigMap", oneConfigMap(t, s), "m")
		for agent, pretty := range map[string]bool{"curl/8.5": true, "Wget/1.2": true, "Mozilla/5.0 (X11)": true, "kubectl/v1.8": false} {
			if body := ok(t, s.Do("GET", path, "", "User-Agent: "+agent)); isPretty(body) != pretty {
				t.Errorf("%s: %q", agent, body)
			}
		}
		if body := ok(t, s.Do("GET", path+"?pretty=false", "", "User-Agent: curl/8.5")); isPretty(body) {
			t.Errorf("pretty=false: %q", body)
		}
	}},
	{"B15 B16 §4.3-Accept", func(t *testing.T, s *testserver.Server) {
		path := item("ConfigMap", oneConfigMap(t, s), "m")
		for _, accept := range []string{"", "*/*", "application/*", "application/json", "application/json;charset=utf-8"} {
			a := s.Do("GET", path, "", "Accept: "+accept)
			if body := ok(t, a); a.Header.Get("Content-Type") != "application/json" || parse(t, body) == nil {
				t.Errorf("%q: %s, %s", accept, a.Header.Get("Content-Type"), body)
			}
		}
	}},
	{"B17", func(t *testing.T, s *testserver.Server) {
		ns := oneConfigMap(t, s)
		path := item("ConfigMap", ns, "m")
		a := s.Do("GET", path, "", "Accept: "+asYAML)
		if a.Header.Get("Content-Type") != asYAML || fromYAML(t, ok(t, a)) != ok(t, s.Do("GET", path, "")) {
			t.Errorf("%s: %s", a.Header.Get("Content-Type"), a.Body)
		}
		list := fromYAML(t, ok(t, s.Do("GET", collection("ConfigMap", ns), "", "Accept: "+asYAML)))
		want(t, list, "kind", "ConfigMapList", "apiVersion", "v1", "metadata.selfLink", collection("ConfigMap", ns),
			"items.0.metadata.name", "m", "items.1", "")
	}},
	{"B18 B20", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		for _, k := range catalog() {
			name := nameFor(k.kind, "b18")
			create(t, s, k.kind, ns, name)
			a := s.Do("GET", item(k.kind, ns, name), "", "Accept: "+asPlatform)
			body := ok(t, a)
			if ct := a.Header.Get("Content-Type"); ct != asPlatform || !strings.HasPrefix(body, "k8s\x00\x0a") {
				t.Errorf("%s: %s, %q", k.kind, ct, body)
			}
			if got, want := fromProtobuf(t, k, body), ok(t, s.Do("GET", item(k.kind, ns, name), "")); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		}
	}},
	{"B20", func(t *testing.T, s *testserver.Server) {
		// The definitions that clients of protobuf are made from.
		a := s.Do("GET", "/openapi/proto", "")
		for _, text := range []string{`syntax = "proto2";`, "message ConfigMap {", "message ConfigMapList {", "message Unknown {"} {
			if !strings.Contains(ok(t, a), text) {
				t.Errorf("no %q", text)
			}
		}
		if ct := a.Header.Get("Content-Type"); ct != "text/plain; charset=utf-8" {
			t.Errorf("Content-Type %s", ct)
		}
		refusal(t, s.Do("GET", "/openapi/proto", "", "Authorization: "), http.StatusUnauthorized, "Unauthorized")
		if !strings.Contains(ok(t, s.Do("GET", "/", "")), `"/openapi/proto"`) {
			t.Error("the index of paths lacks /openapi/proto")
		}
	}},
	{"§4.3-produces", func(t *testing.T, s *testserver.Server) {
		ns := oneConfigMap(t, s)
		// Every operation but watch: create, read, list, replace, delete, and a refusal.
		for _, accept := range []string{"application/json", asYAML, asPlatform, asKubernetes} {
			for _, a := range []testserver.Answer{
				s.Do("POST", collection("ConfigMap", ns), minimal("ConfigMap", ns, "n"), "Accept: "+accept),
				s.Do("GET", item("ConfigMap", ns, "n"), "", "Accept: "+accept),
				s.Do("GET", collection("ConfigMap", ns), "", "Accept: "+accept),
				s.Do("GET", collection("ConfigMap", ""), "", "Accept: "+accept),
				s.Do("PUT", item("ConfigMap", ns, "n"), minimal("ConfigMap", ns, "n"), "Accept: "+accept),
				s.Do("PATCH", item("ConfigMap", ns, "n"), `{"data":{"x":"y"}}`, "Accept: "+accept, "Content-Type: application/merge-patch+json"),
				s.Do("DELETE", item("ConfigMap", ns, "n"), "", "Accept: "+accept),
			} {
				if ct := a.Header.Get("Content-Type"); a.Code != 200 || ct != accept || a.Body == "" {
					t.Errorf("%s: code %d, Content-Type %s, %d bytes", accept, a.Code, ct, len(a.Body))
				}
			}
		}
	}},
	{"B19 Z5", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		a := s.Do("POST", collection("ConfigMap", ns), toProtobuf(t, "ConfigMap", minimal("ConfigMap", ns, "m")),
			"Content-Type: "+asKubernetes, "Accept: "+asKubernetes+",application/json")
		if ct := a.Header.Get("Content-Type"); ct != asKubernetes {
			t.Errorf("Content-Type %s", ct)
		}
		want(t, fromProtobuf(t, kindNamed("ConfigMap"), ok(t, a)), "metadata.name", "m")
		expect(t, s.Do("POST", collection("ConfigMap", ns), "k8s\x00x", "Content-Type: "+asKubernetes), 400, "BadRequest",
			"couldn't read the protobuf envelope")
		// What has no protobuf form falls to the next type.
		if a := s.Do("GET", "/api", "", "Accept: "+asKubernetes+",application/json"); a.Header.Get("Content-Type") != "application/json" {
			t.Errorf("/api: %d, %v", a.Code, a.Header)
		}
	}},
	{"B21", func(t *testing.T, s *testserver.Server) {
		ok(t, s.Do("POST", collection("ThirdPartyResource", ""), minimal("ThirdPartyResource", "", "media-type.b21.example.com")))
		const path = "/apis/b21.example.com/v1/namespaces/default/mediatypes"
		body := `{"kind":"MediaType","apiVersion":"b21.example.com/v1","metadata":{"name":"m"}}`
		ok(t, s.Do("POST", path, body))
		for _, p := range []string{path, path + "/m", path + "?watch=true"} {
			expect(t, s.Do("GET", p, "", "Accept: "+asPlatform), 406, "NotAcceptable", "only the following media types are accepted: application/json")
		}
		if a := s.Do("GET", path+"/m", "", "Accept: "+asKubernetes+",application/json"); a.Header.Get("Content-Type") != "application/json" {
			t.Errorf("code %d, %v", a.Code, a.Header)
		}
		sent := string(schema.AppendEnvelope(nil, "b21.example.com/v1", "MediaType", nil))
		refusal(t, s.Do("POST", path, sent, "Content-Type: "+asPlatform), 415, "UnsupportedMediaType")
	}},
	{"B22", func(t *testing.T, s *testserver.Server) {
		path := item("ConfigMap", oneConfigMap(t, s), "m")
		for accept, want := range map[string]string{
			"application/json;q=0.1,application/yaml;q=0.9":                         asYAML,
			"application/yaml,application/json":                                     asYAML,
			"image/png,application/vnd.platform.protobuf;q=0.2,*/*;q=0.1":           asPlatform,
			"application/json;q=0,*/*":                                              asYAML,
			"application/vnd.platform.protobuf;stream=watch, application/json;q=.5": asPlatform,
		} {
			if got := s.Do("GET", path, "", "Accept: "+accept); got.Code != 200 || got.Header.Get("Content-Type") != want {
				t.Errorf("%s: %d, %s", accept, got.Code, got.Header.Get("Content-Type"))
			}
		}
	}},
	{"B23", func(t *testing.T, s *testserver.Server) {
		a := s.Do("GET", item("ConfigMap", oneConfigMap(t, s), "m"), "", "Accept: text/html")
		expect(t, a, 406, "NotAcceptable",
			"only the following media types are accepted: application/json, application/yaml, application/vnd.platform.protobuf")
		if ct := a.Header.Get("Content-Type"); ct != "application/json" {
			t.Errorf("Content-Type %s", ct)
		}
	}},
	{"B30", func(t *testing.T, s *testserver.Server) {
		ns := oneConfigMap(t, s)
		body := ok(t, s.Do("GET", collection("ConfigMap", ns), "", "Accept: "+strings.Replace(asTable, "v=v1", "v=v9", 1)+",application/json"))
		if found := names(t, body); get(t, body, "kind") != "ConfigMapList" || !slices.Equal(found, []string{"m"}) {
			t.Errorf("found %v", found)
		}
	}},
	{"B32", func(t *testing.T, s *testserver.Server) {
		ns := oneConfigMap(t, s)
		one, all := item("ConfigMap", ns, "m"), collection("ConfigMap", ns)
		expect(t, s.Do("GET", one, "", "Accept: application/json;as=Pie;v=v9;g=x.io"), 406,
			"NotAcceptable", "only the following media types are accepted when converting to x.io/v9, Kind=Pie")
		expect(t, s.Do("GET", one, "", "Accept: "+strings.Replace(asTable, "v=v1", "v=v2", 1)), 406, "NotAcceptable", "meta.k8s.io/v2, Kind=Table")
		expect(t, s.Do("GET", one, "", "Accept: "+asPlatform+";as=Table;v=v1;g=meta.k8s.io"), 406, "NotAcceptable", "application/json, application/yaml")
		for path, as := range map[string]string{one: "List", all: "", all + "?watch=true": "List"} { // of each the other one
			expect(t, s.Do("GET", path, "", "Accept: "+asPartial+as), 406, "NotAcceptable", "Kind=PartialObjectMetadata"+as)
		}
		expect(t, s.Do("GET", all+"?watch=true", "", "Accept: "+asYAML+";as=Table;v=v1;g=meta.k8s.io"), 406, "NotAcceptable", "application/json;stream=watch")
	}},
	{"B33", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		long := `{"data":{"a":"` + strings.Repeat("long ", 40<<10) + `"}}`
		plain := create(t, s, "ConfigMap", ns, "long", long)
		for _, path := range []string{item("ConfigMap", ns, "long"), collection("ConfigMap", ns)} {
			a := s.Do("GET", path, "", "Accept-Encoding: gzip")
			if a.Header.Get("Content-Encoding") != "gzip" || a.Header.Get("Vary") != "Accept-Encoding" || len(a.Body) > len(plain)/2 {
				t.Fatalf("%v, %d bytes", a.Header, len(a.Body))
			}
			if unpacked, want := gunzip(t, ok(t, a)), ok(t, s.Do("GET", path, "")); unpacked != want {
				t.Errorf("%d bytes unpacked, %d plain", len(unpacked), len(want))
			}
			if a := s.Do("GET", path, "", "Accept-Encoding: gzip;q=0, *"); a.Header.Get("Content-Encoding") != "" || len(ok(t, a)) < len(plain) {
				t.Errorf("gzip with quality 0: %v", a.Header)
			}
		}
		create(t, s, "ConfigMap", ns, "short")
		if a := s.Do("GET", item("ConfigMap", ns, "short"), "", "Accept-Encoding: gzip"); a.Header.Get("Content-Encoding") != "" {
			t.Errorf("a short answer: %v", a.Header)
		}
		w := watch(t, s, collection("ConfigMap", ns)+"?watch=true&resourceVersion=0", "Accept-Encoding: gzip")
		if w.resp.Header.Get("Content-Encoding") != "" {
			t.Errorf("a watch: %v", w.resp.Header)
		}
		w.want("ADDED long", "ADDED short")
	}},
	{"B34", func(t *testing.T, s *testserver.Server) {
		ns := oneConfigMap(t, s)
		for _, path := range []string{item("ConfigMap", ns, "m"), collection("ConfigMap", ns)} {
			if a := s.Do("HEAD", path, ""); a.Code != 405 {
				t.Errorf("%s: code %d", path, a.Code)
			}
		}
		if allow := s.Do("HEAD", item("ConfigMap", ns, "m"), "").Header.Get("Allow"); allow != "DELETE, GET, PATCH, PUT" {
			t.Errorf("Allow: %s", allow)
		}
	}},
	{"B35", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		create(t, s, "ClusterRole", "", "system:b35")
		want(t, ok(t, s.Do("GET", collection("ClusterRole", "")+"/system%3Ab35", "")), "metadata.name", "system:b35")
		expect(t, s.Do("GET", item("ConfigMap", ns, "a%2Fb"), ""), 404, "NotFound", `configmaps "a/b" not found`)
		expect(t, s.Do("GET", item("ConfigMap", ns, "%2e%2e"), ""), 404, "NotFound")
		expect(t, s.Do("GET", collection("ConfigMap", "%2e%2e"), ""), 404, "NotFound", "could not find the requested resource")
		expect(t, s.Do("POST", collection("ConfigMap", ns)+"/", minimal("ConfigMap", ns, "m")), 404, "NotFound")
		expect(t, s.Do("GET", item("ConfigMap", ns, "m"), ""), 404, "NotFound", `configmaps "m" not found`)
	}},
	{"B36", func(t *testing.T, s *testserver.Server) {
		ns := oneConfigMap(t, s)
		for _, path := range []string{item("ConfigMap", ns, "m"), collection("ConfigMap", ns), item("ConfigMap", ns, "x")} {
			a := s.Do("GET", path, "")
			if a.Header.Get("Content-Type") == "" || a.Header.Get("Cache-Control") != "no-cache, private" || a.Header.Get("Audit-Id") == "" {
				t.Errorf("%s: %v", path, a.Header)
			}
			if noSniff := a.Header.Get("X-Content-Type-Options") == "nosniff"; noSniff != (a.Code != 200) {
				t.Errorf("%s: %v", path, a.Header)
			}
		}
	}},
	{"B37 §4.3-Connection", func(t *testing.T, s *testserver.Server) {
		req := s.Request("GET", item("ConfigMap", oneConfigMap(t, s), "m"), "")
		req.Close = true // says Connection: close
		resp, err := s.NewHTTP1Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if body, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != 200 || !resp.Close || len(body) == 0 {
			t.Errorf("code %d, closes %v, %v", resp.StatusCode, resp.Close, err)
		}
	}},
	{"§4.3-Authorization", func(t *testing.T, s *testserver.Server) {
		path := item("ConfigMap", oneConfigMap(t, s), "m")
		ok(t, s.Do("GET", path, "", "Authorization: Bearer "+s.Token))
		refusal(t, s.Do("GET", path, "", "Authorization: "), http.StatusUnauthorized, "Unauthorized")
	}},
}

// oneConfigMap makes a namespace with the ConfigMap m in it.
func oneConfigMap(t *testing.T, s *testserver.Server) (ns string) {
	t.Helper()
	ns = namespace(t, s)
	create(t, s, "ConfigMap", ns, "m")
	return ns
}

func isPretty(body string) bool {
	return strings.HasPrefix(body, "{\n  \"kind\": ") && strings.HasSuffix(body, "\n}\n")
}

func fromYAML(t *testing.T, text string) string {
	t.Helper()
	body, err := schema.YAMLToJSON([]byte(text), 1<<20)
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return string(body)
}

// schemas are the kinds and messages as the server has them.
var schemas = sync.OnceValues(func() (*schema.Catalog, error) { return schema.Load(kinds.Files, validation.Hooks()) })

// compiled is the kind of a row's kind, as the server has it.
func compiled(t *testing.T, k kindOf) *schema.Kind {
	t.Helper()
	c, err := schemas()
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(c.Kinds(), func(known *schema.Kind) bool {
		return known.Kind == k.realKind() && known.Prefix == k.prefix
	})
	if i < 0 {
		t.Fatalf("no kind %s", k.kind)
	}
	return c.Kinds()[i]
}

// fromProtobuf is the JSON of an object that came in protobuf.
func fromProtobuf(t *testing.T, k kindOf, body string) string {
	t.Helper()
	kind := compiled(t, k)
	apiVersion, name, raw, err := schema.CutEnvelope([]byte(body))
	if err != nil {
		t.Fatalf("%s: %v: %q", k.kind, err, body)
	}
	if apiVersion != kind.APIVersion || name != kind.Kind {
		t.Errorf("the envelope says %s %s", apiVersion, name)
	}
	o, _, err := kind.DecodeProtobuf(raw)
	if err != nil {
		t.Fatalf("%s: %v", k.kind, err)
	}
	return string(o.AppendJSON(nil))
}

// toProtobuf is a JSON body in protobuf.
func toProtobuf(t *testing.T, kind, body string) string {
	t.Helper()
	k := compiled(t, kindNamed(kind))
	o, _, err := k.Decode([]byte(body))
	if err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return string(schema.AppendEnvelope(nil, k.APIVersion, k.Kind, o.AppendProtobuf(nil)))
}

func gunzip(t *testing.T, packed string) string {
	t.Helper()
	r, err := gzip.NewReader(strings.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
