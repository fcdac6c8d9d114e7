package apply_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"quorate/apiserver/objects/apply"
	"quorate/apiserver/objects/schema"
)

// samples returns configurations of different shapes: many short fields, many items with keys, and
// a few long texts.
func samples(t testing.TB) map[string]struct {
	kind *schema.Kind
	text string
} {
	var data, containers []string
	for i := range 3000 {
		data = append(data, fmt.Sprintf(`"k%d":"v"`, i))
	}
	for i := range 300 {
		containers = append(containers, fmt.Sprintf(`{"name":"c%d","image":"i","env":[{"name":"A","value":"1"},{"name":"B","value":"2"}],`+
			`"ports":[{"containerPort":80},{"containerPort":81,"protocol":"UDP"}]}`, i))
	}
	pods := `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"containers":[` + strings.Join(containers, ",") + `]}}`
	return map[string]struct {
		kind *schema.Kind
		text string
	}{
		"fields": {configMap(t), config("{" + strings.Join(data, ",") + "}")},
		"items":  {kind(t, "/api/v1", "pods"), pods},
		"texts":  {configMap(t), config(`{"a":"` + strings.Repeat("v", 1<<20) + `"}`)},
	}
}

// TestExpansion: what an apply allocates stays below what is reserved for it. Garbage is counted,
// so that the bound holds however late it is collected.
func TestExpansion(t *testing.T) {
	for name, sample := range samples(t) {
		m := apply.New(sample.kind, "", schema.Update)
		o, _, err := m.Apply(nil, parse(t, sample.text), apply.Options{Manager: "m", Now: start})
		if err != nil {
			t.Fatal(err)
		}
		stored := o.AppendJSON(nil)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, _, err := m.Apply(o, parse(t, sample.text), apply.Options{Manager: "n", Now: start}); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		took := int64(after.TotalAlloc - before.TotalAlloc)
		reserved := apply.Expansion(schema.JSONExpansion([]byte(sample.text)) + schema.JSONExpansion(stored))
		t.Logf("%s: %d bytes stored, %d allocated, %d reserved", name, len(stored), took, reserved)
		if took > reserved {
			t.Errorf("%s: %d bytes allocated, %d reserved", name, took, reserved)
		}
	}
}

// BenchmarkApply applies what is there already, and updates an object that was applied.
func BenchmarkApply(b *testing.B) {
	for name, sample := range samples(b) {
		m := apply.New(sample.kind, "", schema.Update)
		c := parse(b, sample.text)
		o, _, err := m.Apply(nil, c, apply.Options{Manager: "m", Now: start})
		if err != nil {
			b.Fatal(err)
		}
		b.Run("apply/"+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := m.Apply(o, c, apply.Options{Manager: "m", Now: start}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("update/"+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := m.Update(o, o.Copy(), "n", start); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
