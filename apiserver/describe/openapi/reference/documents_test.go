package reference

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quorate/apiserver/internal/testserver"
)

// documents are the documents of a server, as a client reads them.
type documents struct {
	index    map[string]string // addresses, by path
	version3 map[string][]byte // in JSON, by path
	version2 []byte
	server   *testserver.Server
	kinds    map[string]component // by apiVersion and kind
}

// component is the position of a kind's schema in the version 3 documents.
type component struct{ path, name string }

// crontab defines a kind without a schema.
const crontab = `{"apiVersion":"extensions/v1beta1","kind":"ThirdPartyResource",
	"metadata":{"name":"cron-tab.stable.example.com"},"versions":[{"name":"v1"}]}`

// fetch reads all documents of a server.
func fetch(t *testing.T) *documents {
	t.Helper()
	s := testserver.Start(t, nil)
	if a := s.Do("POST", "/apis/extensions/v1beta1/thirdpartyresources", crontab); a.Code != 200 {
		t.Fatal(a.Body)
	}
	d := &documents{index: map[string]string{}, version3: map[string][]byte{}, server: s, kinds: map[string]component{}}
	var index struct {
		Paths map[string]struct{ ServerRelativeURL string }
	}
	decode(t, []byte(d.get(t, "/openapi/v3", "application/json")), &index)
	for path, entry := range index.Paths {
		d.index[path] = entry.ServerRelativeURL
		d.version3[path] = []byte(d.get(t, entry.ServerRelativeURL, "application/json"))
		d.addKinds(t, path)
	}
	for _, path := range []string{"api/v1", "apis/apps/v1beta2", "apis/authorization.k8s.io/v1", "oapi/v1", "apis/stable.example.com/v1"} {
		if d.version3[path] == nil {
			t.Fatalf("no document of %s", path)
		}
	}
	d.version2 = []byte(d.get(t, "/openapi/v2", "application/json"))
	return d
}

func (d *documents) get(t *testing.T, path, accept string) string {
	t.Helper()
	a := d.server.Do("GET", path, "", "Accept: "+accept)
	if a.Code != 200 {
		t.Fatalf("%s as %s: %d %s", path, accept, a.Code, a.Body)
	}
	return a.Body
}

func decode(t *testing.T, text []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%v: %.200s", err, text)
	}
}

// TestDocuments validates the documents of a server.
func TestDocuments(t *testing.T) {
	d := fetch(t)
	for path, text := range d.version3 {
		t.Run("v3/"+path, func(t *testing.T) {
			t.Run("valid", func(t *testing.T) { valid3(t, text) })
			t.Run("references", func(t *testing.T) { references(t, text, "#/components/schemas/", "components", "schemas") })
			t.Run("protobuf", func(t *testing.T) { sameInProtobuf3(t, d, path) })
		})
	}
	t.Run("v2", func(t *testing.T) {
		t.Run("valid", func(t *testing.T) { valid2(t, d.version2) })
		t.Run("references", func(t *testing.T) { references(t, d.version2, "#/definitions/", "definitions") })
		t.Run("protobuf", func(t *testing.T) { sameInProtobuf2(t, d) })
	})
	judges := judgesOf(t, d)
	t.Run("objects", func(t *testing.T) { objects(t, judges) })
	t.Run("mistakes", func(t *testing.T) { mistakes(t, judges) })
	t.Run("patches", func(t *testing.T) { patches(t, d) })
}

// references checks that every reference resolves, and that every component is a kind or is
// referred to.
func references(t *testing.T, text []byte, prefix string, at ...string) {
	t.Helper()
	var document map[string]any
	decode(t, text, &document)
	components := document
	for _, name := range at {
		components, _ = components[name].(map[string]any)
	}
	used := map[string]bool{}
	collect(document, func(reference string) {
		name, ok := strings.CutPrefix(reference, prefix)
		if used[name] = true; !ok || components[name] == nil {
			t.Errorf("%s is not there", reference)
		}
	})
	for name := range components {
		if !used[name] {
			t.Errorf("nothing refers to %s", name)
		}
	}
}

// collect calls found with each reference in a document.
func collect(value any, found func(reference string)) {
	switch value := value.(type) {
	case map[string]any:
		if reference, ok := value["$ref"].(string); ok {
			found(reference)
		}
		for _, member := range value {
			collect(member, found)
		}
	case []any:
		for _, item := range value {
			collect(item, found)
		}
	}
}

// addKinds records the components of the kinds in a document.
func (d *documents) addKinds(t *testing.T, path string) {
	t.Helper()
	var document struct {
		Components struct {
			Schemas map[string]struct {
				GVK []map[string]string `json:"x-kubernetes-group-version-kind"`
			}
		}
	}
	decode(t, d.version3[path], &document)
	for name, schema := range document.Components.Schemas {
		for _, gvk := range schema.GVK {
			d.kinds[kindName(gvk["group"], gvk["version"], gvk["kind"])] = component{path, name}
		}
	}
}

// kindName returns the name of a kind, such as "apps/v1beta2 DaemonSet".
func kindName(group, version, kind string) string {
	return strings.TrimPrefix(group+"/"+version, "/") + " " + kind
}

// example is an object of a kind.
type example struct {
	file string
	kind string
	text []byte
}

// object decodes the example without loss of precision in integers.
func (e *example) object(t *testing.T) any {
	t.Helper()
	var object any
	decoder := json.NewDecoder(bytes.NewReader(e.text))
	decoder.UseNumber()
	if err := decoder.Decode(&object); err != nil {
		t.Fatalf("%s: %v", e, err)
	}
	return numbers(object)
}

// numbers converts numbers to integers where possible.
func numbers(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			value[name] = numbers(member)
		}
	case []any:
		for i, item := range value {
			value[i] = numbers(item)
		}
	case json.Number:
		if n, err := value.Int64(); err == nil {
			return n
		}
		n, _ := value.Float64()
		return n
	}
	return value
}

// examples returns the golden objects of package schema: in stored form and as served, and with
// every field.
func examples(t *testing.T) []example {
	t.Helper()
	var all []example
	for _, pattern := range []string{"golden/*.json", "golden/full/*.json"} {
		files, err := filepath.Glob("../../../objects/schema/testdata/" + pattern)
		if err != nil || len(files) < 20 {
			t.Fatal(pattern, len(files), err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var object struct{ APIVersion, Kind string }
			decode(t, text, &object)
			name := strings.TrimSuffix(filepath.Base(file), ".json")
			if strings.Contains(pattern, "full") {
				name = "full/" + name
			}
			all = append(all, example{file: name, kind: object.APIVersion + " " + object.Kind, text: text})
		}
	}
	return all
}

func (e *example) String() string { return e.file + ", a " + e.kind }
