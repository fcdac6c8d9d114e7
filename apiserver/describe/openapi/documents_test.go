package openapi

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"quorate/apiserver/kinds"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/validation"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func loadCatalog(t testing.TB) *schema.Catalog {
	t.Helper()
	catalog, err := schema.Load(kinds.Files, validation.Hooks())
	if err != nil {
		t.Fatal(err)
	}
	return catalog
}

func staticDocuments(t testing.TB) *Documents {
	t.Helper()
	catalog := loadCatalog(t)
	d, err := New(Config{Kinds: catalog.Kinds(), Catalog: catalog})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// textOf returns a document in JSON.
func textOf(t testing.TB, d *document) []byte {
	t.Helper()
	made, err := d.json()
	if err != nil {
		t.Fatal(err)
	}
	text, err := made.packed.Text()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// definitions returns kinds as ThirdPartyResources define them.
func definitions(t *testing.T, catalog *schema.Catalog, group string, names ...string) []*schema.Kind {
	t.Helper()
	var all []*schema.Kind
	for _, name := range names {
		made, err := catalog.Schemaless(schema.Definition{
			Kind: name, Group: group, Plural: strings.ToLower(name) + "s", Versions: []string{"v1"}, Resource: name,
		})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, made...)
	}
	return all
}

// TestWith checks that adding and removing kinds changes their documents only (K5, K13).
func TestWith(t *testing.T) {
	t.Parallel()
	catalog := loadCatalog(t)
	static, err := New(Config{Kinds: catalog.Kinds(), Catalog: catalog})
	if err != nil {
		t.Fatal(err)
	}
	first, other := definitions(t, catalog, "x.example.com", "Some"), definitions(t, catalog, "y.example.com", "Other")
	one := static.With(first)
	two := one.With(slices.Concat(first, other))
	const prefix = "/apis/x.example.com/v1"
	if static.versions[prefix] != nil || one.versions[prefix] == nil || one.versions[prefix] != two.versions[prefix] {
		t.Errorf("%s: not there, or made again", prefix)
	}
	for name, pick := range map[string]func(d *Documents) *document{
		"index": func(d *Documents) *document { return d.index }, "whole": func(d *Documents) *document { return d.whole },
	} {
		if before, after := string(textOf(t, pick(one))), string(textOf(t, pick(two))); strings.Contains(before, "y.example.com") ||
			!strings.Contains(after, "y.example.com") || !strings.Contains(after, "x.example.com") || !strings.Contains(after, "api/v1") {
			t.Errorf("%s: %.500s", name, after)
		}
	}
	if paths := two.Paths(); !slices.Contains(paths, "/openapi/v3"+prefix) || !slices.Contains(paths, "/openapi/v3/api/v1") {
		t.Errorf("paths %v", paths)
	}
	if back := two.With(nil); string(textOf(t, back.index)) != string(textOf(t, static.index)) {
		t.Error("what is gone is still told of")
	}
}

// TestKindsNamedLikeOthers checks kinds that are named like the lists of other kinds, or like
// shared messages.
func TestKindsNamedLikeOthers(t *testing.T) {
	t.Parallel()
	catalog := loadCatalog(t)
	static, err := New(Config{Kinds: catalog.Kinds(), Catalog: catalog})
	if err != nil {
		t.Fatal(err)
	}
	for _, names := range [][]string{{"Foo", "FooList", "ObjectMeta"}, {"ObjectMeta", "FooList", "Foo"}} {
		d := static.With(definitions(t, catalog, "x.example.com", names...))
		var document struct {
			Paths      map[string]map[string]json.RawMessage
			Components struct {
				Schemas map[string]struct {
					GVK        []map[string]string `json:"x-kubernetes-group-version-kind"`
					Properties map[string]any
				}
			}
		}
		if err := json.Unmarshal(textOf(t, d.versions["/apis/x.example.com/v1"]), &document); err != nil {
			t.Fatal(err)
		}
		objects := map[string]int{}
		for _, component := range document.Components.Schemas {
			for _, gvk := range component.GVK {
				if component.Properties["items"] == nil {
					objects[gvk["kind"]]++
				}
			}
		}
		if !maps.Equal(objects, map[string]int{"Foo": 1, "FooList": 1, "ObjectMeta": 1}) {
			t.Errorf("%v: components of %v", names, objects)
		}
		ids := map[string]string{}
		for path, item := range document.Paths {
			for method, text := range item {
				var operation struct{ OperationID string }
				if method == "parameters" {
					continue
				}
				if err := json.Unmarshal(text, &operation); err != nil || ids[operation.OperationID] != "" {
					t.Errorf("%s %s: %v, id %s of %s", method, path, err, operation.OperationID, ids[operation.OperationID])
				}
				ids[operation.OperationID] = method + " " + path
			}
		}
	}
}

// TestDeterminism checks that all nodes make the same documents, so that an address from one node
// is valid on all (L15).
func TestDeterminism(t *testing.T) {
	t.Parallel()
	one, other := staticDocuments(t), staticDocuments(t)
	if string(textOf(t, one.index)) != string(textOf(t, other.index)) || string(textOf(t, one.whole)) != string(textOf(t, other.whole)) {
		t.Error("documents differ")
	}
}

// BenchmarkMake measures the first request for each document.
func BenchmarkMake(b *testing.B) {
	catalog := loadCatalog(b)
	for _, run := range []struct {
		name string
		make func(d *Documents) (*made, error)
	}{
		{"v2/json", func(d *Documents) (*made, error) { return d.whole.json() }},
		{"v2/protobuf", func(d *Documents) (*made, error) { return d.whole.protobuf() }},
		{"v3/index", func(d *Documents) (*made, error) { return d.index.json() }},
		{"v3/core/protobuf", func(d *Documents) (*made, error) { return d.versions["/api/v1"].protobuf() }},
	} {
		b.Run(run.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				d, err := New(Config{Kinds: catalog.Kinds(), Catalog: catalog})
				if err != nil {
					b.Fatal(err)
				}
				made, err := run.make(d)
				if err != nil {
					b.Fatal(err)
				}
				text, err := made.packed.Text()
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(len(text)), "bytes")
			}
		})
	}
}
