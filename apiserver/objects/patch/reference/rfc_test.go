package reference_test

import (
	"reflect"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"pgregory.net/rapid"

	"quorate/apiserver/objects/patch"
)

// json generates any JSON value. Arrays contain no null, because the library panics on it.
func (g generator) json(depth int, null bool) any {
	kinds := 5
	if depth > 3 {
		kinds = 3
	}
	switch rapid.IntRange(0, kinds).Draw(g.t, "kind") {
	case 0:
		if null {
			return nil
		}
		return true
	case 1:
		return g.word()
	case 2, 3:
		return rapid.IntRange(0, 3).Draw(g.t, "number")
	case 4:
		out := []any{}
		for range rapid.IntRange(0, 3).Draw(g.t, "items") {
			out = append(out, g.json(depth+1, false))
		}
		return out
	}
	return g.jsonObject(depth)
}

// names are names that need escapes in pointers or that look like indexes.
var names = []string{"a", "b", "c/d", "~1", "0", "1", "-"}

func (g generator) jsonObject(depth int) map[string]any {
	out := map[string]any{}
	for range rapid.IntRange(0, 4).Draw(g.t, "members") {
		out[rapid.SampledFrom(names).Draw(g.t, "name")] = g.json(depth+1, true)
	}
	return out
}

func (g generator) pointer() string {
	path := ""
	for range rapid.IntRange(1, 3).Draw(g.t, "tokens") {
		path += "/" + rapid.SampledFrom([]string{"a", "b", "c~1d", "~01", "0", "1", "2", "-", "-1", "x"}).Draw(g.t, "token")
	}
	return path
}

func (g generator) operation() map[string]any {
	o := map[string]any{"op": rapid.SampledFrom([]string{"add", "replace", "remove", "move", "copy", "test"}).Draw(g.t, "op"), "path": g.pointer()}
	switch o["op"] {
	case "add", "replace", "test":
		o["value"] = g.json(1, o["op"] != "add")
	case "move", "copy":
		o["from"] = g.pointer()
	}
	return o
}

// TestOperations compares JSON patches with one operation each, so that a failing operation does
// not prevent the comparison of others.
func TestOperations(t *testing.T) {
	t.Parallel()
	k := subjects[0].kind(t)
	applied := 0
	rapid.Check(t, func(t *rapid.T) {
		g := generator{t: t}
		document := encode(t, g.jsonObject(0))
		for range 20 {
			body := encode(t, []any{g.operation()})
			theirs, err := jsonpatch.DecodePatch(body)
			if err != nil {
				t.Fatal(err)
			}
			want, wantErr := theirs.Apply(document)
			ours, err := patch.Parse(patch.JSON, body)
			if err != nil {
				t.Fatal(err)
			}
			got, err := ours.Apply(k, document)
			if (err == nil) != (wantErr == nil) {
				t.Fatalf("%s of %s: %v, wanted %v", body, document, err, wantErr)
			}
			if err != nil {
				continue
			}
			if !reflect.DeepEqual(decode(t, got), decode(t, want)) {
				t.Fatalf("%s of %s gives %s, wanted %s", body, document, got, want)
			}
			applied++
			document = got
		}
	})
	if applied < 100 {
		t.Errorf("only %d operations were applied", applied)
	}
}

func TestMergePatches(t *testing.T) {
	t.Parallel()
	k := subjects[0].kind(t)
	rapid.Check(t, func(t *rapid.T) {
		g := generator{t: t}
		document, body := encode(t, g.jsonObject(0)), encode(t, g.jsonObject(0))
		want, err := jsonpatch.MergePatch(document, body)
		if err != nil {
			t.Fatal(err)
		}
		ours, err := patch.Parse(patch.Merge, body)
		if err != nil {
			t.Fatal(err)
		}
		got, err := ours.Apply(k, document)
		// The library also drops nulls of objects inside arrays. RFC 7386 keeps them, and decoding
		// ignores them.
		if err != nil || !reflect.DeepEqual(plain(decode(t, got)), plain(decode(t, want))) {
			t.Fatalf("%s of %s gives %s, %v, wanted %s", body, document, got, err, want)
		}
	})
}

// TestLibraryDefects checks the defects of evanphx/json-patch that the documentation of package
// operations gives as reasons for our own implementation.
func TestLibraryDefects(t *testing.T) {
	t.Parallel()
	k := subjects[0].kind(t)
	for _, tc := range []struct{ name, document, body, ours, library string }{
		{"null in arrays", `{"a":[null]}`, `[{"op":"test","path":"/a","value":[null]}]`, `{"a":[null]}`, "panic"},
		{"copy of the whole document", `{"a":1}`, `[{"op":"add","path":"/b","value":2},{"op":"copy","from":"","path":"/c"}]`,
			`{"a":1,"b":2,"c":{"a":1,"b":2}}`, `{"a":1,"b":2,"c":{"a":1}}`},
		{"pointer without a slash", `{"a":1}`, `[{"op":"add","path":"x/b","value":2}]`, "error", `{"a":1,"b":2}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			ours := outcome(func() ([]byte, error) {
				p, err := patch.Parse(patch.JSON, []byte(tc.body))
				if err != nil {
					return nil, err
				}
				return p.Apply(k, []byte(tc.document))
			})
			library := outcome(func() ([]byte, error) {
				p, err := jsonpatch.DecodePatch([]byte(tc.body))
				if err != nil {
					return nil, err
				}
				return p.Apply([]byte(tc.document))
			})
			if ours != tc.ours || library != tc.library {
				t.Errorf("ours %s, the library's %s", ours, library)
			}
		})
	}
}

func outcome(apply func() ([]byte, error)) (text string) {
	defer func() {
		if r := recover(); r != nil {
			text = "panic"
		}
	}()
	out, err := apply()
	if err != nil {
		return "error"
	}
	return string(out)
}
