package reference

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"os"
	"testing"
)

// row is an input of the library's unit tests.
type row struct {
	Schema json.RawMessage `json:"schema"`
	Object json.RawMessage `json:"object"`
	Old    json.RawMessage `json:"old"`
	Root   bool            `json:"root"`
	Status bool            `json:"status"`
}

func rows(t *testing.T, name string) []row {
	t.Helper()
	f, err := os.Open("testdata/upstream/" + name + ".jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var out []row
	s := bufio.NewScanner(z)
	s.Buffer(nil, 16<<20)
	for s.Scan() {
		var r row
		if err := json.Unmarshal(s.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	if err := s.Err(); err != nil || len(out) == 0 {
		t.Fatalf("%s: %d rows, %v", name, len(out), err)
	}
	return out
}

func TestUpstreamTables(t *testing.T) {
	for _, name := range []string{"prune", "default", "listtype", "validate", "cel", "compile", "definition"} {
		t.Run(name, func(t *testing.T) {
			var c tally
			for _, r := range rows(t, name) {
				c.row(t, r, name == "definition")
			}
			c.log(t)
		})
	}
}

// row runs one row. Schemas that are not definitions are parts of one, and need not have types, so
// they are completed and become the schema of spec.
func (c *tally) row(t *testing.T, r row, definition bool) {
	t.Helper()
	if definition {
		c.compile(t, r.Schema, r.Status)
		return
	}
	var schema any
	if err := json.Unmarshal(r.Schema, &schema); err != nil {
		t.Fatal(err)
	}
	p := c.compile(t, encode(t, map[string]any{"type": "object", "properties": map[string]any{"spec": complete(schema)}}), false)
	if p == nil || len(r.Object) == 0 {
		return
	}
	var old []byte
	if len(r.Old) > 0 && string(r.Old) != "null" {
		old = wrap(r.Old)
	}
	c.object(t, p, wrap(r.Object), old)
}

// wrap returns an object with a spec.
func wrap(spec json.RawMessage) []byte {
	return []byte(`{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"a"},"spec":` + string(spec) + `}`)
}

func encode(t *testing.T, v any) []byte {
	t.Helper()
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// complete adds the types that a schema and its parts must have.
func complete(v any) any {
	schema, ok := v.(map[string]any)
	if !ok {
		return v
	}
	if properties, ok := schema["properties"].(map[string]any); ok {
		for name, p := range properties {
			properties[name] = complete(p)
		}
	}
	schema["items"], schema["additionalProperties"] = complete(schema["items"]), complete(schema["additionalProperties"])
	typ := "string"
	switch {
	case schema["additionalProperties"] != nil || schema["properties"] != nil || schema["x-kubernetes-embedded-resource"] != nil:
		typ = "object"
	case schema["items"] != nil || schema["x-kubernetes-list-type"] != nil:
		typ = "array"
	}
	if schema["type"] == nil && schema["x-kubernetes-int-or-string"] == nil && schema["x-kubernetes-preserve-unknown-fields"] == nil {
		schema["type"] = typ
	}
	if schema["type"] == "array" && schema["items"] == nil {
		schema["items"] = map[string]any{"x-kubernetes-preserve-unknown-fields": true}
	}
	for _, name := range []string{"items", "additionalProperties"} {
		if schema[name] == nil {
			delete(schema, name)
		}
	}
	return schema
}
