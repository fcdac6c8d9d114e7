package schema

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// allocated returns how many bytes fn allocates.
func allocated(fn func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	fn()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

// retained returns how many bytes more are in use after fn than before.
func retained(fn func() any) int64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	kept := fn()
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(kept)
	return int64(after.HeapAlloc) - int64(before.HeapAlloc)
}

// TestExpansionIsAnUpperBound decodes bodies that take the most memory for their size. It is not
// parallel: it measures the whole process.
func TestExpansionIsAnUpperBound(t *testing.T) {
	c := engine(t)
	pods, maps := c.Kind("/api/v1", "pods"), c.Kind("/api/v1", "configmaps")
	const rounding = 16 << 10 // by the allocator
	many := func(head, item, tail string) []byte {
		return []byte(head + strings.Repeat(item, 300_000/len(item)) + tail)
	}
	distinct := func(head, item, tail string) []byte {
		var b strings.Builder
		b.WriteString(head)
		for i := range 20_000 {
			fmt.Fprintf(&b, item, i)
		}
		return []byte(b.String() + tail)
	}
	for name, tc := range map[string]struct {
		kind *Kind
		body []byte
	}{
		"containers":  {pods, many(`{"spec":{"containers":[`, "{},", "{}]}}")},
		"volumes":     {pods, many(`{"spec":{"volumes":[`, "{},", "{}]}}")},
		"tolerations": {pods, many(`{"spec":{"tolerations":[`, "{},", "{}]}}")},
		"nested":      {pods, many(`{"spec":{"containers":[`, `{"resources":{"limits":{}}},`, "{}]}}")},
		"texts":       {pods, many(`{"metadata":{"finalizers":[`, `"",`, `""]}}`)},
		"nulls":       {pods, many(`{"spec":{"containers":[`, "null,", "{}]}}")},
		"map":         {maps, distinct(`{"data":{`, `"%d":"",`, `"":""}}`)},
		"one text":    {maps, many(`{"data":{"a":"`, "a", `"}}`)},
		"unknown":     {maps, distinct(`{"data":{}`, `,"%d":0`, `}`)},
	} {
		var o *Object
		var err error
		took := retained(func() any {
			o, _, err = tc.kind.Decode(tc.body)
			return o
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if bound := JSONExpansion(tc.body) + rounding; took > bound {
			t.Errorf("%s: %d bytes take %d, more than %d", name, len(tc.body), took, bound)
		}
		if bound := o.Memory() + int64(len(tc.body)) + rounding; took > bound {
			t.Errorf("%s: the object takes %d bytes, more than %d", name, took, bound)
		}
	}
	for name, tc := range map[string]struct {
		kind *Kind
		body []byte
	}{
		"containers": {pods, []byte(sized(2, strings.Repeat("\x12\x00", 50_000)))},
		"labels":     {pods, []byte(sized(1, strings.Repeat("\x5a\x00", 50_000)))},
		"finalizers": {pods, []byte(sized(1, strings.Repeat("\x72\x00", 50_000)))},
		"groups":     {pods, []byte(sized(2, sized(14, sized(4, strings.Repeat("\x01", 20_000)))))},
	} {
		body := tc.body
		took := retained(func() any {
			o, _, err := tc.kind.DecodeProtobuf(body)
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			return o
		})
		if bound := ProtobufExpansion(len(body)); took > bound {
			t.Errorf("%s: %d bytes of protobuf take %d, more than %d", name, len(body), took, bound)
		}
	}
}

// TestYAMLExpansionIsAnUpperBound: no document has more nodes than are counted, and none takes more
// memory than is reserved.
func TestYAMLExpansionIsAnUpperBound(t *testing.T) {
	const size = 100_000
	for _, tc := range [][3]string{
		{"x: [", "a,", "a]\n"}, {"x: {", "a,", "a}\n"}, {"x: [", "a: b,", "a]\n"}, {"x: [", `"a":b,`, "a]\n"},
		{"x: [", "? a,", "a]\n"}, {"x: [", "? ,", "a]\n"}, {"x: [", "[],", "a]\n"}, {"x: [", "{},", "a]\n"}, {"x: [", "[a],", "a]\n"},
		{"x: [", "{a},", "a]\n"}, {"", "-\n", ""}, {"", "- -\n", ""}, {"", "- a\n", ""}, {"", "?\n", ""}, {"", "a:\n", ""},
		{"", ":\n", ""}, {"", "- a: b\n", ""}, {"", "? - a\n: - b\n", ""}, {"", "#\n\n", "a: b\n"}, {"a: b\n", "#\n\n", ""},
		{"x: [", "&a a,", "a]\n"}, {"x: [&a a,", "*a,", "a]\n"}, {"x: [", "!!str,", "a]\n"}, {"x: [", "''  ,", "a]\n"},
		{"", "- |\n  a\n", ""}, {"", "- # a\n", ""}, {"x: \"", "a,", "\"\n"}, {"\u2028", "-\u2028", ""},
	} {
		body := []byte(tc[0] + strings.Repeat(tc[1], size/len(tc[1])) + tc[2])
		var doc yaml.Node
		took := retained(func() any {
			if err := yaml.Unmarshal(body, &doc); err != nil {
				return nil // the parser gave up, which costs nothing
			}
			return &doc
		})
		if nodes := countNodes(&doc); nodes > yamlNodes(body) {
			t.Errorf("%q: %d nodes, more than %d", tc[1], nodes, yamlNodes(body))
		}
		if bound := YAMLExpansion(body); took > bound {
			t.Errorf("%q: takes %d bytes, more than %d", tc[1], took, bound)
		}
	}
}

func countNodes(n *yaml.Node) int64 {
	count := int64(1)
	for _, kid := range n.Content {
		count += countNodes(kid)
	}
	return count
}

// TestYAMLNodesAreBounded: a document that may have too many nodes is refused before it is parsed.
func TestYAMLNodesAreBounded(t *testing.T) {
	body := []byte("x: [" + strings.Repeat("a,", maxYAMLNodes) + "a]")
	var err error
	took := allocated(func() { _, err = YAMLToJSON(body, 16<<20) })
	if err == nil || !strings.Contains(err.Error(), "send it as JSON") {
		t.Errorf("got %v", err)
	}
	if took > 1<<20 {
		t.Errorf("the refusal took %d bytes", took)
	}
	// A text is not refused for what is in it, up to the size of the largest object.
	text := "data:\n  a: |\n" + strings.Repeat("    {\"name\": \"value\", \"list\": [1, 2, 3]}\n", 25_000)
	if _, err := YAMLToJSON([]byte(text), 3<<20); err != nil {
		t.Errorf("a text of %d bytes: %v", len(text), err)
	}
}

// TestRepeatedMessagesAreNotLarger: repeatedFields is what JSONExpansion reckons with.
func TestRepeatedMessagesAreNotLarger(t *testing.T) {
	t.Parallel()
	c := engine(t)
	for name, m := range c.messages {
		for _, f := range m.fields {
			if f.Type.elem != nil && f.Type.elem.message != nil && len(f.Type.elem.message.fields) > repeatedFields {
				t.Errorf("%s.%s: %d fields", name, f.Name, len(f.Type.elem.message.fields))
			}
		}
	}
}

// TestErrorsAreBounded: an object with a great many mistakes is refused with their number, and not
// with the memory of each.
func TestErrorsAreBounded(t *testing.T) {
	const mistakes = 200_000
	c := engine(t)
	o := decode(t, c.Kind("/api/v1", "pods"), `{"metadata":{"name":"a","finalizers":[`+strings.Repeat(`"",`, mistakes)+`""]}}`)
	var found int
	took := retained(func() any {
		errs := o.Kind.ValidateCreate(o)
		found = len(errs)
		return errs
	})
	if found < mistakes {
		t.Errorf("%d errors, want at least %d", found, mistakes)
	}
	if took > 32*mistakes {
		t.Errorf("they take %d bytes", took)
	}
}
