package reference_test

import (
	"encoding/json"
	"flag"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"pgregory.net/rapid"

	"quorate/apiserver/objects/patch"
	"quorate/apiserver/objects/schema"
)

// seed makes the random patches the same in every run, because random runs could also fail on
// defects of the library. Use -rapid.seed or -rapid.checks to try other patches.
const seed = "20261121"

func TestMain(m *testing.M) {
	if err := flag.Set("rapid.seed", seed); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m) // parses the flags, which take precedence over those set above
}

func encode(t rapid.TB, v any) []byte {
	t.Helper()
	if v == nil {
		v = map[string]any{}
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func decode(t rapid.TB, text []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}

// plain removes what decoding drops: nulls, and directives that the library left in values that it
// added.
func plain(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			if value == nil || strings.HasPrefix(name, "$") {
				delete(v, name)
				continue
			}
			v[name] = plain(value)
		}
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	}
	return v
}

// sortLists sorts the lists that merge.
func (p pair) sortLists(v any) {
	switch v := v.(type) {
	case map[string]any:
		if p.ours.Form != schema.FormMessage {
			return
		}
		for _, f := range p.fields() {
			f.sortLists(v[f.name])
			if items, ok := v[f.name].([]any); ok && f.merge {
				slices.SortStableFunc(items, func(a, b any) int { return strings.Compare(f.sortKey(a), f.sortKey(b)) })
			}
		}
	case []any:
		for _, item := range v {
			p.below().sortLists(item)
		}
	}
}

func (f common) sortKey(item any) string {
	object, ok := item.(map[string]any)
	if !ok {
		object = map[string]any{f.key: item}
	}
	text, err := json.Marshal(object[f.key])
	if err != nil {
		return ""
	}
	return string(text)
}

// compare applies a patch with both implementations and compares the results. It compares the order
// of lists only if exact is set.
func (s subject) compare(t rapid.TB, k *schema.Kind, p pair, live, body []byte, exact bool) {
	t.Helper()
	want, wantErr := strategicpatch.StrategicMergePatch(live, body, s.stock)
	parsed, err := patch.Parse(patch.Strategic, body)
	if err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	got, err := parsed.Apply(k, live)
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("%s\nof %s\ngives %v, wanted %v", body, live, err, wantErr)
	}
	if err != nil {
		return
	}
	a, b := plain(decode(t, want)), plain(decode(t, got))
	if !exact {
		p.sortLists(a)
		p.sortLists(b)
	}
	if !reflect.DeepEqual(a, b) {
		t.Fatalf("%s\nof %s\ngives  %s\nwanted %s", body, live, got, want)
	}
}

// TestTwoWayPatches checks that the patch that the library generates for the difference of two
// objects converts one into the other.
func TestTwoWayPatches(t *testing.T) {
	t.Parallel()
	for _, s := range subjects {
		t.Run(s.plural, func(t *testing.T) {
			t.Parallel()
			k, p := s.kind(t), s.pair(t)
			rapid.Check(t, func(t *rapid.T) {
				g := generator{t: t}
				live := g.object(p, 0)
				modified := g.change(p, live, 0)
				from, to := encode(t, live), encode(t, modified)
				body, err := strategicpatch.CreateTwoWayMergePatch(from, to, s.stock)
				if err != nil {
					t.Fatal(err)
				}
				s.compare(t, k, p, from, body, true)
			})
		})
	}
}

// TestHandmadePatches applies patches with and without directives, including invalid ones.
func TestHandmadePatches(t *testing.T) {
	t.Parallel()
	for _, s := range subjects {
		for _, ordered := range []bool{true, false} {
			name := s.plural + "/without order"
			if ordered {
				name = s.plural + "/with order"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				k, p := s.kind(t), s.pair(t)
				rapid.Check(t, func(t *rapid.T) {
					g := generator{t: t, ordered: ordered}
					live, _ := g.object(p, 0).(map[string]any)
					body := g.patch(p, live, 0)
					s.compare(t, k, p, encode(t, live), encode(t, body), ordered)
				})
			})
		}
	}
}
