package reference

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const objectsPerSchema = 60

// Objects that fit the schemas of well-known operators more or less, and changes of them.
func TestOperators(t *testing.T) {
	files, err := filepath.Glob("../testdata/crds/*.json.gz")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	var c tally
	for i, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			raw := readSchema(t, file)
			p := c.compile(t, raw, true)
			if p == nil {
				t.Fatal("refused")
			}
			var schema map[string]any
			if err := json.Unmarshal(raw, &schema); err != nil {
				t.Fatal(err)
			}
			g := generator{rand.New(rand.NewPCG(uint64(i), 15))}
			for range objectsPerSchema {
				object := g.root(schema)
				first := encode(t, object)
				c.object(t, p, first, nil)
				stored, err := p.our.Normalize(nil, first)
				if err != nil {
					t.Fatal(err)
				}
				c.object(t, p, encode(t, g.change(object, schema)), stored.Object)
			}
		})
	}
	c.log(t)
}

func readSchema(t *testing.T, file string) []byte {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// generator makes values for schemas. One in about thirty is of another type, or null, and one
// object in ten has an unknown field.
type generator struct {
	*rand.Rand
}

func (g generator) root(schema map[string]any) map[string]any {
	object := g.object(schema, 0)
	object["apiVersion"], object["kind"], object["metadata"] = "example.com/v1", "Thing", map[string]any{"name": "a"}
	return object
}

func (g generator) value(schema map[string]any, depth int) any {
	if g.IntN(30) == 0 {
		return []any{nil, true, 7, 2.5, "odd", []any{}, map[string]any{"odd": 1}}[g.IntN(7)]
	}
	if enum, ok := schema["enum"].([]any); ok && g.IntN(10) > 0 {
		return enum[g.IntN(len(enum))]
	}
	switch schema["type"] {
	case "object":
		return g.object(schema, depth)
	case "array":
		items := make([]any, g.IntN(4))
		for i := range items {
			items[i] = g.value(schema["items"].(map[string]any), depth+1)
		}
		return items
	case "integer":
		return []any{-1, 0, 1, 5, 80, 443, 65536, int64(1) << 40}[g.IntN(8)]
	case "number":
		return []any{-1, 0, 0.5, 1.0, 1e10}[g.IntN(5)]
	case "boolean":
		return g.IntN(2) == 0
	}
	if schema["x-kubernetes-int-or-string"] == true && g.IntN(2) == 0 {
		return g.IntN(100)
	}
	return []string{"a", "b", "", "example.com", "10.0.0.1", "1h", "5m0s", "100Mi", "/path", "https", "2020-01-02T03:04:05Z", "Ä" + strings.Repeat("x", 300)}[g.IntN(12)]
}

func (g generator) object(schema map[string]any, depth int) map[string]any {
	out := map[string]any{}
	required, _ := schema["required"].([]any)
	properties, _ := schema["properties"].(map[string]any)
	for _, name := range names(properties) {
		odds := 3
		if depth > 4 {
			odds = 12
		}
		if slices.Contains(required, any(name)) && g.IntN(20) > 0 || g.IntN(odds) == 0 || depth == 0 {
			out[name] = g.value(properties[name].(map[string]any), depth+1)
		}
	}
	if values, ok := schema["additionalProperties"].(map[string]any); ok {
		for i := range g.IntN(3) {
			out[fmt.Sprintf("key%d", i)] = g.value(values, depth+1)
		}
	}
	if g.IntN(10) == 0 {
		out["unknown"] = g.IntN(5)
	}
	return out
}

func names(m map[string]any) []string {
	out := make([]string, 0, len(m))
	for name := range m {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// change returns a copy of a value in which about one part in ten is another.
func (g generator) change(v any, schema map[string]any) any {
	if schema == nil {
		return v
	}
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		properties, _ := schema["properties"].(map[string]any)
		values, _ := schema["additionalProperties"].(map[string]any)
		for _, name := range names(v) {
			below, ok := properties[name].(map[string]any)
			if !ok {
				below = values
			}
			out[name] = g.change(v[name], below)
			if below != nil && name != "metadata" && g.IntN(15) == 0 {
				out[name] = g.value(below, 3)
			}
		}
		return out
	case []any:
		items, _ := schema["items"].(map[string]any)
		out := make([]any, len(v))
		for i := range v {
			out[i] = g.change(v[i], items)
		}
		if g.IntN(4) == 0 {
			slices.Reverse(out)
		}
		return out
	}
	return v
}
