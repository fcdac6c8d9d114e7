package specification

import (
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"quorate/apiserver/internal/testserver"
	"quorate/apiserver/objects/schema"
)

// bodyRows prove the forms of request bodies (A41, A42) and of refusals (I32).
var bodyRows = []row{
	{"A41 §4.3-Content-Type", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		body := minimal("ConfigMap", ns, "m", `{"metadata":{"name":null,"generateName":"m-"}}`)
		yaml := "metadata: {generateName: m-}\ndata: {k: v}\n"
		for contentType, body := range map[string]string{
			"": body, "application/json": body, "application/json; charset=utf-8": body, asYAML: yaml,
			asPlatform: toProtobuf(t, "ConfigMap", body), asKubernetes: toProtobuf(t, "ConfigMap", body),
		} {
			made := ok(t, s.Do("POST", collection("ConfigMap", ns), body, "Content-Type: "+contentType))
			want(t, made, "data.k", "v")
			name := get(t, made, "metadata.name")
			put := with(made, `{"data":{"k":null,"l":"v"}}`)
			if contentType == asYAML {
				put = "metadata: {name: " + name + "}\ndata: {l: v}\n"
			}
			if strings.HasSuffix(contentType, "protobuf") {
				put = toProtobuf(t, "ConfigMap", put)
			}
			want(t, ok(t, s.Do("PUT", item("ConfigMap", ns, name), put, "Content-Type: "+contentType)), "data", `{"l":"v"}`)
		}
		expect(t, s.Do("POST", collection("ConfigMap", ns), body, "Content-Type: "+asPlatform), 400, "BadRequest", "prefix")
		expect(t, s.Do("POST", collection("ConfigMap", ns), toProtobuf(t, "Pod", minimal("Pod", ns, "p")), "Content-Type: "+asPlatform),
			400, "BadRequest", "Pod", "ConfigMap")
	}},
	{"A42 Z3 §4.3-consumes-any", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		for name, body := range map[string]string{
			"json": minimal("ConfigMap", ns, "json"), "yaml": "metadata: {name: yaml}\ndata: {k: v}\n",
			"protobuf": toProtobuf(t, "ConfigMap", minimal("ConfigMap", ns, "protobuf")),
		} {
			for _, contentType := range []string{"application/x-www-form-urlencoded", "text/plain", "application/octet-stream"} {
				header := "Content-Type: " + contentType
				path := item("ConfigMap", ns, name)
				want(t, ok(t, s.Do("POST", collection("ConfigMap", ns), body, header)), "metadata.name", name, "data.k", "v")
				want(t, ok(t, s.Do("PUT", path, body, header)), "data.k", "v")
				want(t, ok(t, s.Do("DELETE", path, `{"kind":"DeleteOptions","apiVersion":"v1"}`, header)), "status", "Success")
			}
		}
		expect(t, s.Do("POST", collection("ConfigMap", ns), "just words", "Content-Type: text/plain"), 415, "UnsupportedMediaType",
			"application/json, application/yaml, application/vnd.platform.protobuf")
	}},
	{"§4.3-consumes-patch", func(t *testing.T, s *testserver.Server) {
		path := item("ConfigMap", oneConfigMap(t, s), "m")
		for contentType, patch := range map[string]string{
			"application/json-patch+json":            `[{"op":"add","path":"/data/j","value":"1"}]`,
			"application/merge-patch+json":           `{"data":{"m":"1"}}`,
			"application/strategic-merge-patch+json": `{"data":{"s":"1"}}`,
		} {
			ok(t, s.Do("PATCH", path, patch, "Content-Type: "+contentType))
		}
		want(t, ok(t, s.Do("GET", path, "")), "data", `{"j":"1","k":"v","m":"1","s":"1"}`)
		for _, other := range []string{"application/json", "text/plain", asPlatform} {
			refusal(t, s.Do("PATCH", path, `{"data":{"m":"2"}}`, "Content-Type: "+other), 415, "UnsupportedMediaType")
		}
	}},
	{"I32", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		for path, code := range map[string]int{
			item("ConfigMap", ns, "nope"): 404, "/nothing/here": 404, collection("ConfigMap", ns) + "?watch=x": 400,
		} {
			a := s.Do("GET", path, "", "Accept: "+asPlatform)
			if ct := a.Header.Get("Content-Type"); a.Code != code || ct != asPlatform {
				t.Errorf("%s: code %d, %s: %q", path, a.Code, ct, a.Body)
			}
			want(t, statusOf(t, a.Body), "status", "Failure", "code", fmt.Sprint(code))
		}
		create(t, s, "ConfigMap", ns, "m")
		// Options in protobuf, as stock clients send them, and the Status of a success.
		options := string(schema.AppendEnvelope(nil, "v1", "DeleteOptions", []byte{0x08, 0x00})) // gracePeriodSeconds 0
		gone := s.Do("DELETE", item("ConfigMap", ns, "m"), options, "Accept: "+asKubernetes, "Content-Type: "+asKubernetes)
		want(t, statusOf(t, ok(t, gone)), "status", "Success", "details.name", "m")
		// Where protobuf is not produced at all, the refusal is JSON.
		expect(t, s.Do("GET", "/api", "", "Accept: "+asPlatform), 406, "NotAcceptable")
	}},
}

// streamRows prove the framing of watches (B8, D1-D7).
var streamRows = []row{
	{"D1 D2 D3 D4 B8", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		w := watch(t, s, collection("ConfigMap", ns)+"?watch=true&pretty=true&resourceVersion=0", "User-Agent: curl/8") // its header is there, though nothing happens
		made := create(t, s, "ConfigMap", ns, "m")
		if added := w.want("ADDED m"); added != made { // read line by line
			t.Errorf("got %s, want %s", added, made)
		}
		changed := ok(t, s.Do("PUT", item("ConfigMap", ns, "m"), with(made, `{"data":{"k":"w"}}`)))
		if modified := w.want("MODIFIED m"); modified != changed {
			t.Errorf("got %s, want %s", modified, changed)
		}
		ok(t, s.Do("DELETE", item("ConfigMap", ns, "m"), ""))
		want(t, w.want("DELETED m"), "kind", "ConfigMap", "apiVersion", "v1", "data.k", "w")
		marked := watch(t, s, collection("ConfigMap", ns)+"?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true")
		marked.want("BOOKMARK")
		ancient := watch(t, s, collection("ConfigMap", ns)+"?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=99999999")
		want(t, ancient.want("ERROR"), "kind", "Status", "status", "Failure")
		ancient.want("EOF")
	}},
	{"D5", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		path := collection("ConfigMap", ns) + "?watch=true&resourceVersion=0"
		for _, accept := range []string{asPlatform, asKubernetes + ";stream=watch"} {
			w := watch(t, s, path, "Accept: "+accept)
			made := create(t, s, "ConfigMap", ns, "m")
			word, body := frame(t, w)
			if got := fromProtobuf(t, kindNamed("ConfigMap"), body); word != "ADDED" || got != made {
				t.Errorf("%s %s, want %s", word, got, made)
			}
			ok(t, s.Do("DELETE", item("ConfigMap", ns, "m"), ""))
			word, body = frame(t, w)
			if got := fromProtobuf(t, kindNamed("ConfigMap"), body); word != "DELETED" || version(t, got) <= version(t, made) {
				t.Errorf("%s %s", word, got)
			}
		}
		marked := watch(t, s, collection("ConfigMap", ns)+"?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true", "Accept: "+asPlatform)
		word, body := frame(t, marked)
		mark := fromProtobuf(t, kindNamed("ConfigMap"), body)
		if want(t, mark, `metadata.annotations.k8s\.io/initial-events-end`, "true"); word != "BOOKMARK" || version(t, mark) == 0 {
			t.Errorf("%s %s", word, mark)
		}
		broken := watch(t, s, collection("ConfigMap", ns)+"?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=99999999", "Accept: "+asPlatform)
		if word, body = frame(t, broken); word != "ERROR" {
			t.Errorf("%s %q", word, body)
		}
		want(t, statusOf(t, body), "code", "504")
	}},
	{"D6 D7 §4.3-produces-stream", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		for accept, produced := range map[string]string{
			"":                              "application/json;stream=watch",
			"*/*":                           "application/json;stream=watch",
			"application/json":              "application/json;stream=watch",
			"application/json;stream=watch": "application/json;stream=watch",
			asPlatform:                      asPlatform + ";stream=watch",
			asPlatform + ";stream=watch":    asPlatform + ";stream=watch",
			asKubernetes + ";stream=watch,application/json": asKubernetes + ";stream=watch",
		} {
			for _, path := range []string{collection("ConfigMap", ns) + "?watch=true", watchPath("ConfigMap", ns), watchPath("ConfigMap", ns) + "/m"} {
				if got := watch(t, s, path, "Accept: "+accept).resp.Header.Get("Content-Type"); got != produced {
					t.Errorf("%s, Accept %q: %s", path, accept, got)
				}
			}
			// A list takes the same words, and answers with a document.
			a := s.Do("GET", collection("ConfigMap", ns), "", "Accept: "+accept)
			if got := a.Header.Get("Content-Type"); a.Code != 200 || got+";stream=watch" != produced {
				t.Errorf("list, Accept %q: %d, %s", accept, a.Code, got)
			}
		}
		a := s.Do("GET", collection("ConfigMap", ns)+"?watch=true", "", "Accept: "+asYAML)
		expect(t, a, http.StatusNotAcceptable, "NotAcceptable", "application/json;stream=watch")
	}},
}

// statusOf is the JSON of a Status that came in protobuf.
func statusOf(t *testing.T, body string) string {
	t.Helper()
	apiVersion, kind, raw, err := schema.CutEnvelope([]byte(body))
	if err != nil || apiVersion != "v1" || kind != "Status" {
		t.Fatalf("%s %s, %v: %q", apiVersion, kind, err, body)
	}
	c, err := schemas()
	if err != nil {
		t.Fatal(err)
	}
	v, _, err := c.Message("Status").DecodeProtobuf(raw)
	if err != nil {
		t.Fatal(err)
	}
	return string(v.AppendJSON(nil))
}

// frame reads one frame of a protobuf watch: its length, WatchEvent{1: type, 2: RawExtension{1:
// raw}}.
func frame(t *testing.T, w *stream) (word, object string) {
	t.Helper()
	var length [4]byte
	if _, err := io.ReadFull(w.lines, length[:]); err != nil {
		t.Fatal(err)
	}
	event := make([]byte, binary.BigEndian.Uint32(length[:]))
	if _, err := io.ReadFull(w.lines, event); err != nil {
		t.Fatal(err)
	}
	word, rest := member(t, event, 1)
	extension, rest := member(t, []byte(rest), 2)
	object, more := member(t, []byte(extension), 1)
	if rest != "" || more != "" {
		t.Errorf("more in the frame: %q, %q", rest, more)
	}
	return word, object
}

// member reads the field that comes first in a protobuf message.
func member(t *testing.T, message []byte, number protowire.Number) (value, rest string) {
	t.Helper()
	found, wire, n := protowire.ConsumeTag(message)
	if found != number || wire != protowire.BytesType {
		t.Fatalf("field %d, type %d: %q", found, wire, message)
	}
	text, size := protowire.ConsumeBytes(message[n:])
	if size < 0 {
		t.Fatal(protowire.ParseError(size))
	}
	return string(text), string(message[n+size:])
}
