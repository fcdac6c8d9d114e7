package protobuf_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// everyKeyword returns a schema with all fields that upstream's type has, also those that no
// definition may have.
func everyKeyword() *apiextensionsv1.JSONSchemaProps {
	text := func(s string) apiextensionsv1.JSON { return apiextensionsv1.JSON{Raw: []byte(s)} }
	raw := func(s string) *apiextensionsv1.JSON { return ptr(text(s)) }
	below := func(s string) apiextensionsv1.JSONSchemaProps { return apiextensionsv1.JSONSchemaProps{Type: s} }
	named := func(s string) map[string]apiextensionsv1.JSONSchemaProps {
		return map[string]apiextensionsv1.JSONSchemaProps{"b": below(s), "a": {}}
	}
	return &apiextensionsv1.JSONSchemaProps{
		ID: "id", Schema: "dialect", Ref: ptr(""), Description: "größe", Type: "object", Format: "int32", Title: "t",
		Default: raw(`{"a":[1,null,"x"]}`), Maximum: ptr(1e21), ExclusiveMaximum: true, Minimum: ptr(-1.5e-9), ExclusiveMinimum: true,
		MaxLength: ptr(int64(1 << 40)), MinLength: ptr(int64(0)), Pattern: "^a$", MaxItems: ptr(int64(3)), MinItems: ptr(int64(1)),
		UniqueItems: true, MultipleOf: ptr(0.0), Enum: []apiextensionsv1.JSON{text(`"a"`), text("1.50"), {}}, MaxProperties: ptr(int64(9)),
		MinProperties: ptr(int64(-1)), Required: []string{"b", "a"},
		Items: &apiextensionsv1.JSONSchemaPropsOrArray{JSONSchemas: []apiextensionsv1.JSONSchemaProps{below("string"), {}}},
		AllOf: []apiextensionsv1.JSONSchemaProps{below("a"), {Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: ptr(below("string"))}}},
		OneOf: []apiextensionsv1.JSONSchemaProps{below("b")}, AnyOf: []apiextensionsv1.JSONSchemaProps{{}}, Not: ptr(below("n")),
		Properties: named("p"), AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{}, PatternProperties: named("q"),
		Dependencies: apiextensionsv1.JSONSchemaDependencies{
			"names": {Property: []string{"x", "y"}}, "schema": {Schema: ptr(below("d"))}, "none": {},
		},
		AdditionalItems: &apiextensionsv1.JSONSchemaPropsOrBool{Allows: true, Schema: &apiextensionsv1.JSONSchemaProps{
			AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{Allows: true},
		}},
		Definitions:  apiextensionsv1.JSONSchemaDefinitions{"d": {}},
		ExternalDocs: &apiextensionsv1.ExternalDocumentation{Description: "d", URL: "https://example.com"}, Example: raw("7"), Nullable: true,
		XPreserveUnknownFields: ptr(false), XEmbeddedResource: true, XIntOrString: true, XListMapKeys: []string{"k", "l"}, XListType: ptr("map"),
		XMapType: ptr("atomic"), XValidations: apiextensionsv1.ValidationRules{
			{Rule: "self", Message: "m", MessageExpression: "e", Reason: ptr(apiextensionsv1.FieldValueInvalid), FieldPath: ".a", OptionalOldSelf: ptr(false)},
			{Rule: "true"},
		},
	}
}

// crds is where the definitions of widely used software are.
var crds = filepath.Join(tree, "objects", "structural", "testdata", "crds")

// TestStockSchemas: upstream's types write the schemas of widely used software as testdata/stock
// has them; that we write and read the same bytes is tested beside the codec.
func TestStockSchemas(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(crds, "*.json.gz"))
	if err != nil || len(paths) < 5 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".json.gz")
		t.Run(name, func(t *testing.T) {
			s := &apiextensionsv1.JSONSchemaProps{}
			if err := json.Unmarshal(unzipped(t, path), s); err != nil {
				t.Fatal(err)
			}
			raw, err := s.Marshal()
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(crds, name+".pb.gz")
			if *update {
				if err := os.WriteFile(file, zipped(t, raw), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if !bytes.Equal(raw, unzipped(t, file)) {
				t.Errorf("%s: upstream's types write something else", file)
			}
		})
	}
}

func zipped(t *testing.T, raw []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(raw); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func unzipped(t *testing.T, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	r, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
