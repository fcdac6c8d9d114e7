package reference

import (
	"flag"
	"math/rand/v2"
	"testing"
)

var schemas = flag.Int("schemas", 1500, "random schemas to compare")

// Random schemas, most of them with junctors, and objects for those that both sides accept.
func TestRandomSchemas(t *testing.T) {
	var c tally
	for i := range *schemas {
		g := generator{rand.New(rand.NewPCG(uint64(i), 16))}
		schema := map[string]any{"type": "object", "properties": map[string]any{"spec": g.schema(0)}}
		p := c.compile(t, encode(t, schema), g.IntN(4) == 0)
		if t.Failed() {
			t.Fatalf("schema %d", i)
		}
		if p == nil {
			continue
		}
		for range 6 {
			object := g.root(schema)
			first := encode(t, object)
			c.object(t, p, first, nil)
			stored, err := p.our.Normalize(nil, first)
			if err == nil {
				c.object(t, p, encode(t, g.change(object, schema)), stored.Object)
			}
			if t.Failed() {
				t.Fatalf("schema %d: %s", i, encode(t, schema))
			}
		}
	}
	c.log(t)
}

var fieldNames = []string{"a", "b", "c", "key0", "key1", "kind", "metadata"}

// schema returns a schema that is structural but for an odd keyword in one of some fifty.
func (g generator) schema(depth int) map[string]any {
	typ := []string{"object", "object", "array", "string", "integer", "number", "boolean"}[g.IntN(7)]
	if depth > 2 {
		typ = []string{"string", "integer", "number"}[g.IntN(3)]
	}
	s := map[string]any{"type": typ}
	switch {
	case typ == "object" && g.IntN(4) > 0:
		properties := map[string]any{}
		for _, name := range fieldNames[:1+g.IntN(len(fieldNames)-1)] {
			properties[name] = g.schema(depth + 1)
		}
		s["properties"] = properties
	case typ == "object" && g.IntN(3) > 0:
		s["additionalProperties"] = []any{g.schema(depth + 1), g.schema(depth + 1), true}[g.IntN(3)]
	case typ == "array":
		s["items"] = g.schema(depth + 1)
		if g.IntN(3) == 0 {
			s["x-kubernetes-list-type"] = []string{"set", "map", "atomic"}[g.IntN(3)]
			s["x-kubernetes-list-map-keys"] = []string{"a", "b"}[:g.IntN(3)]
		}
	case g.IntN(8) == 0:
		delete(s, "type")
		s["x-kubernetes-int-or-string"] = true
	}
	g.limits(s)
	g.sometimes(s, 6, "nullable", true)
	g.sometimes(s, 6, "x-kubernetes-preserve-unknown-fields", true)
	g.sometimes(s, 40, "x-kubernetes-embedded-resource", true)
	g.sometimes(s, 50, []string{"uniqueItems", "title", "$ref", "not"}[g.IntN(4)], map[string]any{"type": "string"})
	if g.IntN(6) == 0 {
		s["default"] = g.value(s, depth)
	}
	if g.IntN(3) == 0 {
		g.junctor(s, s)
	}
	if g.IntN(8) == 0 {
		s["x-kubernetes-validations"] = []any{map[string]any{"rule": []string{"self == oldSelf", "size(self) < 3", "self > 1", "has(self.a)", "self.all(k, k != 'a')"}[g.IntN(5)]}}
	}
	return s
}

func (g generator) sometimes(s map[string]any, odds int, keyword string, v any) {
	if g.IntN(odds) == 0 {
		s[keyword] = v
	}
}

// limits adds keywords that restrict values.
func (g generator) limits(s map[string]any) {
	for _, k := range []string{"minimum", "maximum", "multipleOf"} {
		g.sometimes(s, 5, k, []any{1, 2, 0.5, -3, 100}[g.IntN(5)])
	}
	for _, k := range []string{"maxLength", "minLength", "maxItems", "minItems", "maxProperties", "minProperties"} {
		g.sometimes(s, 6, k, g.IntN(4))
	}
	g.sometimes(s, 6, "exclusiveMinimum", true)
	g.sometimes(s, 6, "exclusiveMaximum", true)
	g.sometimes(s, 8, "pattern", []string{"^a", "b$", "[0-9]+", "("}[g.IntN(4)%(3+g.IntN(10)/9)])
	g.sometimes(s, 5, "format", []string{"int32", "float", "date", "date-time", "ipv4", "duration", "byte", "odd"}[g.IntN(8)])
	g.sometimes(s, 10, "enum", [][]any{{"a", "b"}, {1, 5}, {0.5}, {nil, true}}[g.IntN(4)])
	if g.IntN(6) == 0 {
		s["required"] = fieldNames[:1+g.IntN(2)]
	}
}

// junctor adds allOf, anyOf, oneOf or not to a schema or to one nested in it.
func (g generator) junctor(s, structure map[string]any) {
	k := []string{"allOf", "anyOf", "oneOf", "not"}[g.IntN(4)]
	if k == "not" {
		s[k] = g.nested(structure)
		return
	}
	list := []any{}
	for range 1 + g.IntN(3) {
		list = append(list, g.nested(structure))
	}
	s[k] = list
}

// nested returns a schema inside of a junctor, for values that structure describes.
func (g generator) nested(structure map[string]any) map[string]any {
	s := map[string]any{}
	g.limits(s)
	if properties, ok := structure["properties"].(map[string]any); ok && g.IntN(2) == 0 {
		below := map[string]any{}
		for _, name := range names(properties) {
			if name != "metadata" && g.IntN(3) == 0 {
				below[name] = g.nested(properties[name].(map[string]any))
			}
		}
		s["properties"] = below
	}
	if items, ok := structure["items"].(map[string]any); ok && g.IntN(2) == 0 {
		s["items"] = g.nested(items)
	}
	if g.IntN(5) == 0 {
		g.junctor(s, structure)
	}
	return s
}
