package schema

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quorate/apiserver/limit"
)

// definitions returns the kind of CustomResourceDefinitions.
func definitions(t testing.TB, c *Catalog) *Kind {
	t.Helper()
	k := c.Kind("/apis/apiextensions.k8s.io/v1", "customresourcedefinitions")
	if k == nil {
		t.Fatal("there are no definitions")
	}
	return k
}

// definitionOf returns the protobuf of a definition with a schema.
func definitionOf(schema string) []byte {
	return []byte(sized(2, sized(7, sized(4, sized(1, schema)))))
}

func schemaIn(o *Object) *Value {
	return o.root.Lookup("spec", "versions").At(0).Lookup("schema", "openAPIV3Schema")
}

func unzip(t *testing.T, path string) []byte {
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

// TestStockSchemas: schemas have the protobuf that upstream's types write, in both directions. The
// files ending in .pb.gz are those types' encoding of the files ending in .json.gz, and
// stock/jsonschemaprops has every field (see chaos/clients/protobuf).
func TestStockSchemas(t *testing.T) {
	k := definitions(t, engine(t))
	cases := map[string][2][]byte{}
	paths, err := filepath.Glob(filepath.Join("..", "structural", "testdata", "crds", "*.json.gz"))
	if err != nil || len(paths) < 5 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		cases[filepath.Base(path)] = [2][]byte{unzip(t, path), unzip(t, strings.TrimSuffix(path, ".json.gz")+".pb.gz")}
	}
	raw, err := os.ReadFile(filepath.Join("testdata", "stock", "jsonschemaprops.pb"))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := os.ReadFile(filepath.Join("testdata", "stock", "jsonschemaprops.json"))
	if err != nil {
		t.Fatal(err)
	}
	cases["every field"] = [2][]byte{plain, raw}
	for name, files := range cases {
		t.Run(name, func(t *testing.T) {
			fromProtobuf, problems, err := k.DecodeProtobuf(definitionOf(string(files[1])))
			if err != nil || len(problems.List()) > 0 {
				t.Fatal(err, problems.List())
			}
			fromJSON, _, err := k.Decode([]byte(`{"spec":{"versions":[{"schema":{"openAPIV3Schema":` + string(files[0]) + `}}]}}`))
			if err != nil {
				t.Fatal(err)
			}
			if err := fromJSON.root.CheckTrees(); err != nil {
				t.Error(err)
			}
			stored := fromJSON.Encode().Value // in the order of the file
			if err := schemaIn(fromJSON).CanonicalizeTree(); err != nil {
				t.Fatal(err)
			}
			if got, want := schemaIn(fromProtobuf).Str(), schemaIn(fromJSON).Str(); got != want {
				t.Errorf("from protobuf %s\nfrom JSON     %s", got, want)
			}
			if name == "every field" && schemaIn(fromProtobuf).Str()+"\n" != string(files[0]) {
				t.Errorf("got  %s\nwant %s", schemaIn(fromProtobuf).Str(), files[0])
			}
			enveloped, err := k.AppendProtobufEnvelope(nil, stored)
			if err != nil || !bytes.Contains(enveloped, []byte(sized(1, string(files[1])))) {
				t.Errorf("the stored definition is encoded otherwise (%v)", err)
			}
			for form, o := range map[string]*Object{"protobuf": fromProtobuf, "JSON": fromJSON} {
				if got := o.AppendProtobuf(nil); !bytes.Contains(got, []byte(sized(1, string(files[1])))) {
					t.Errorf("from %s it is encoded otherwise", form)
				} else if len(got) != o.ProtobufSize() {
					t.Errorf("from %s: %d bytes, sized as %d", form, len(got), o.ProtobufSize())
				}
			}
		})
	}
}

// nested returns a message with a field in which it is itself, many times.
func nested(times int, wrap func(string) string) string {
	inner := ""
	for range times {
		inner = wrap(inner)
	}
	return inner
}

// TestHostileSchemas: schemas in protobuf are refused where they are too deep, too large, or not
// what they should be.
func TestHostileSchemas(t *testing.T) {
	k := definitions(t, engine(t))
	not := func(s string) string { return sized(28, s) }
	allOf := func(s string) string { return sized(25, s) }
	property := func(s string) string { return sized(29, sized(1, "p")+sized(2, s)) }
	const path = "spec.versions[0].schema.openAPIV3Schema"
	for name, tc := range map[string]struct {
		schema, want, path string
		limit              limit.Name
	}{
		"not within not":        {nested(10_000, not), "exceeded max depth", "", limit.Nesting},
		"allOf within allOf":    {nested(10_000, allOf), "exceeded max depth", "", limit.Nesting},
		"properties":            {nested(10_000, property), "exceeded max depth", "", limit.Nesting},
		"a deep default":        {nested(50, property) + sized(8, sized(1, strings.Repeat("[", 250)+strings.Repeat("]", 250))), "max depth", "", ""},
		"too many messages":     {strings.Repeat(allOf(""), maxSlots/44+1), "too many messages", "", limit.Fields},
		"a number for a text":   {varint(4, 1), "wrong wire type 0 for field 4", path + ".description", ""},
		"a text for a number":   {sized(13, "x"), "wrong wire type 2 for field 13", path + ".maxLength", ""},
		"a text for a double":   {sized(9, "12345678"), "wrong wire type 2 for field 9", path + ".maximum", ""},
		"a number for a schema": {sized(30, varint(2, 1)), "wrong wire type 0 for field 2", path + ".additionalProperties", ""},
		"not a number":          {fixed64(9, math.Float64bits(math.NaN())), "no number in JSON", path + ".maximum", ""},
		"no JSON":               {sized(8, sized(1, "{")), "json parse error", path + ".default", ""},
		"no JSON in an enum":    {sized(20, sized(1, "1")) + sized(20, sized(1, "nul")), "json parse error", path + ".enum[1]", ""},
		"no UTF-8":              {sized(29, sized(1, "\xff")), "invalid UTF-8", path + ".properties", ""},
		"cut":                   {"\xea\x01\x05\x0a", "unexpected end of data", path + ".properties", ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := k.DecodeProtobuf(definitionOf(tc.schema))
			var refused *DecodeError
			if !errors.As(err, &refused) {
				t.Fatalf("got %v", err)
			}
			if !strings.Contains(refused.Message, tc.want) || tc.path != "" && refused.Path != tc.path || tc.limit != "" && refused.Limit != tc.limit {
				t.Errorf("got %.300q at %.300q, limit %q", refused.Message, refused.Path, refused.Limit)
			}
		})
	}
	t.Run("the deepest", func(t *testing.T) {
		o, _, err := k.DecodeProtobuf(definitionOf(nested(90, property)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := k.AppendProtobufEnvelope(nil, o.Encode().Value); err != nil {
			t.Error(err)
		}
	})
}

// TestUnknownFieldsOfSchemas: fields that upstream's type lacks are problems wherever they are.
func TestUnknownFieldsOfSchemas(t *testing.T) {
	k := definitions(t, engine(t))
	const at = `unknown field "spec.versions[0].schema.openAPIV3Schema`
	for schema, want := range map[string]string{
		sized(99, "x"): at + `.<number 99>"`,
		sized(29, sized(1, "a")+sized(2, varint(98, 1))):            at + `.properties.a.<number 98>"`,
		sized(24, sized(2, "")+sized(2, sized(97, "x"))):            at + `.items[1].<number 97>"`,
		sized(30, sized(2, sized(44, sized(1, "r")+sized(9, "x")))): at + `.additionalProperties.x-kubernetes-validations[0].<number 9>"`,
		sized(30, sized(7, "x")):                                    at + `.additionalProperties.<number 7>"`,
	} {
		_, problems, err := k.DecodeProtobuf(definitionOf(schema))
		if got := problems.List(); err != nil || len(got) != 1 || got[0] != want {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
}

// TestCheckTrees: texts that are no schemas in protobuf are refused before they are stored; numbers
// may be written in any form.
func TestCheckTrees(t *testing.T) {
	k := definitions(t, engine(t))
	for text, want := range map[string]string{
		`{"maxLength":5.0,"minItems":1e2,"maximum":1e3,"properties":{}}`: `{"maximum":1000,"maxLength":5,"minItems":100}`,
		`{"type":"object","description":"","items":{},"default":null}`:   `{"type":"object","items":{}}`,
		`{"additionalProperties":false,"x-kubernetes-list-type":""}`:     `{"additionalProperties":false,"x-kubernetes-list-type":""}`,
		`{"maxLength":5.5}`:           "",
		`{"maxLength":1e300}`:         "",
		`{"externalDocs":"x"}`:        "",
		`{"items":true}`:              "",
		`{"additionalProperties":[]}`: "",
		`[]`:                          "",
		`{"allOf":[` + strings.Repeat("{},", maxSlots/44+1) + `{}]}`: "",
	} {
		o, _, err := k.Decode([]byte(`{"spec":{"versions":[{"schema":{"openAPIV3Schema":` + text + `}}]}}`))
		if err != nil {
			t.Fatal(err)
		}
		if err := o.root.CheckTrees(); (err == nil) != (want != "") {
			t.Errorf("%.80s: %v", text, err)
		}
		_, err = k.AppendProtobufEnvelope(nil, o.Encode().Value)
		if (err == nil) != (want != "") {
			t.Errorf("%.80s: encoded with %v", text, err)
		}
		if want == "" {
			continue
		}
		if err := schemaIn(o).CanonicalizeTree(); err != nil || schemaIn(o).Str() != want {
			t.Errorf("got %s, %v, want %s", schemaIn(o).Str(), err, want)
		}
	}
	many := `{"schema":{"openAPIV3Schema":{"allOf":[` + strings.Repeat("{},", maxSlots/44/2) + `{}]}}}`
	o, _, err := k.Decode([]byte(`{"spec":{"versions":[` + many + `,` + many + `]}}`))
	if err != nil {
		t.Fatal(err)
	}
	if err := o.root.CheckTrees(); err == nil {
		t.Error("two schemas of half the size are together too large for protobuf")
	}
}

func TestUnionsAreChecked(t *testing.T) {
	for name, tc := range map[string]struct{ from, to, want string }{
		"scalar":  {"fields:", "union: true\n    fields:", "is not a boolean, a list or a message"},
		"no text": {"{type: WidgetSpec, proto: 2}", "{type: WidgetSpec, proto: 2, protoMessage: WidgetSpec}", "protoMessage: WidgetSpec is not rawExtension"},
		"unknown": {"{type: WidgetSpec, proto: 2}", "{type: rawExtension, proto: 2, protoMessage: Gadget}", `there is no message "Gadget"`},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := load(small(t, strings.Replace(widget, tc.from, tc.to, 1)), nil); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestAppendFloat(t *testing.T) {
	for f, want := range map[float64]string{
		0: "0", 1: "1", -2.5: "-2.5", 1e6: "1000000", 2147483647: "2147483647", 1e20: "100000000000000000000", 1e21: "1e+21",
		1e-6: "0.000001", 1e-7: "1e-7", 1.5e-9: "1.5e-9", 1e-10: "1e-10", -1e-7: "-1e-7", math.MaxFloat64: "1.7976931348623157e+308",
	} {
		if got := string(appendFloat([]byte("x"), f)); got != "x"+want {
			t.Errorf("got %s, want x%s", got, want)
		}
	}
}
