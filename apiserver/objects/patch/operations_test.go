package patch_test

import (
	"strings"
	"testing"

	"quorate/apiserver/objects/patch"
)

func TestJSONPatch(t *testing.T) {
	t.Parallel()
	k := kind(t, "/api/v1", "configmaps")
	const doc = `{"metadata":{"labels":{"a":"1","b/c":"2","d~e":"3"},"finalizers":["x/1","x/2","x/3"],"n":null},"big":12345678901234567890}`
	for _, tc := range []struct{ name, doc, body, want string }{
		{"F39 nothing", doc, `[]`, doc},
		{"F10 add", `{"a":1}`, `[{"op":"add","path":"/b","value":{"c":[null]}}]`, `{"a":1,"b":{"c":[null]}}`},
		{"F10 add replaces", `{"a":1,"b":2}`, `[{"op":"add","path":"/a","value":3}]`, `{"a":3,"b":2}`},
		{"F10 append", `{"a":[1]}`, `[{"op":"add","path":"/a/-","value":2},{"op":"add","path":"/a/2","value":3}]`, `{"a":[1,2,3]}`},
		{"F10 insert", `{"a":[1,2]}`, `[{"op":"add","path":"/a/0","value":0},{"op":"add","path":"/a/1","value":0.5}]`, `{"a":[0,0.5,1,2]}`},
		{"F10 escapes", `{"b/c":1,"d~e":2,"~1":3}`, `[{"op":"remove","path":"/b~1c"},{"op":"replace","path":"/d~0e","value":4},{"op":"remove","path":"/~01"}]`, `{"d~e":4}`},
		{"F10 root", `{"a":1}`, `[{"op":"replace","path":"","value":{"b":2}},{"op":"add","path":"/c","value":3}]`, `{"b":2,"c":3}`},
		{"F10 root add", `{"a":1}`, `[{"op":"add","path":"","value":[1]}]`, `[1]`},
		{"F10 new names are written as JSON", `{}`, `[{"op":"add","path":"/a\"<\u0001","value":1}]`, `{"a\"<\u0001":1}`},
		{"F10 empty name", `{"":1}`, `[{"op":"replace","path":"/","value":2}]`, `{"":2}`},
		{"F6 remove", `{"a":1,"b":2,"c":3}`, `[{"op":"remove","path":"/b"},{"op":"add","path":"/b","value":4}]`, `{"a":1,"c":3,"b":4}`},
		{"F6 remove item", `{"a":[1,2,3]}`, `[{"op":"remove","path":"/a/1"}]`, `{"a":[1,3]}`},
		{"F6 negative index", `{"a":[1,2,3]}`, `[{"op":"remove","path":"/a/-1"},{"op":"add","path":"/a/-1","value":4}]`, `{"a":[1,2,4]}`},
		{"F6 replace", `{"a":[1,{"b":2}]}`, `[{"op":"replace","path":"/a/1/b","value":3},{"op":"replace","path":"/a/0","value":null}]`, `{"a":[null,{"b":3}]}`},
		{"F6 move", `{"a":{"b":{"c":1}},"d":[]}`, `[{"op":"move","from":"/a/b","path":"/d/0"}]`, `{"a":{},"d":[{"c":1}]}`},
		{"F6 copy", `{"a":{"b":1}}`, `[{"op":"copy","from":"/a","path":"/c"},{"op":"replace","path":"/a/b","value":2}]`, `{"a":{"b":2},"c":{"b":1}}`},
		{"F6 copy of all as it is now", `{"a":1}`, `[{"op":"add","path":"/b","value":2},{"op":"copy","from":"","path":"/c"}]`, `{"a":1,"b":2,"c":{"a":1,"b":2}}`},
		{"F8 test holds", doc, `[{"op":"test","path":"/metadata/labels","value":{"d~e":"3","b/c":"2","a":"\u0031"}},{"op":"test","path":"/metadata/finalizers/1","value":"x/2"},{"op":"test","path":"/big","value":12345678901234567890}]`, doc},
		{"F8 test numbers", `{"a":[1.0,10,-0]}`, `[{"op":"test","path":"/a","value":[1,1e1,0]}]`, `{"a":[1.0,10,-0]}`},
		{"F8 test null", `{"a":{"n":null},"l":[null]}`, `[{"op":"test","path":"/a/x","value":null},{"op":"test","path":"/a/n","value":null},{"op":"test","path":"/l","value":[null]},{"op":"test","path":"/a/y"}]`, `{"a":{"n":null},"l":[null]}`},
		{"F6 text stays", `{ "a" : 1.50, "b":"\u00e9" }`, `[{"op":"add","path":"/c","value":1.0}]`, `{"a":1.50,"b":"\u00e9","c":1.0}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if got, err := apply(k, patch.JSON, tc.doc, tc.body); err != nil || got != tc.want {
				t.Errorf("%s, %v", got, err)
			}
		})
	}
}

func TestJSONPatchRefuses(t *testing.T) {
	t.Parallel()
	k := kind(t, "/api/v1", "configmaps")
	const doc = `{"a":{"b":1},"l":[1,2],"s":"x","big":12345678901234567890,"metadata":{"resourceVersion":"7"}}`
	for _, tc := range []struct{ name, operation string }{
		{"F8 test", `{"op":"test","path":"/a","value":{"b":2}}`},
		{"F8 test more members", `{"op":"test","path":"/a","value":{"b":1,"c":1}}`},
		{"F8 test form", `{"op":"test","path":"/a/b","value":"1"}`},
		{"F8 test big number", `{"op":"test","path":"/big","value":12345678901234567891}`},
		{"F8 test list", `{"op":"test","path":"/l","value":[1]}`},
		{"F8 test null", `{"op":"test","path":"/a/b","value":null}`},
		{"F8 test without parent", `{"op":"test","path":"/x/b","value":null}`},
		{"F32", `{"op":"test","path":"/metadata/resourceVersion","value":"6"}`},
		{"F9 remove missing", `{"op":"remove","path":"/x"}`},
		{"F9 replace missing", `{"op":"replace","path":"/x","value":1}`},
		{"F9 parent missing", `{"op":"add","path":"/x/y","value":1}`},
		{"F9 below a scalar", `{"op":"add","path":"/s/y","value":1}`},
		{"F9 out of range", `{"op":"replace","path":"/l/2","value":1}`},
		{"F9 add out of range", `{"op":"add","path":"/l/3","value":1}`},
		{"F9 below range", `{"op":"remove","path":"/l/-3"}`},
		{"F9 dash is no item", `{"op":"remove","path":"/l/-"}`},
		{"F9 leading zero", `{"op":"remove","path":"/l/01"}`},
		{"F9 sign", `{"op":"remove","path":"/l/+1"}`},
		{"F9 no index", `{"op":"remove","path":"/l/x"}`},
		{"F9 pointer without slash", `{"op":"remove","path":"a"}`},
		{"F9 pointer with a bad escape", `{"op":"remove","path":"/a~2"}`},
		{"F9 deep pointer", `{"op":"remove","path":"` + strings.Repeat("/a", 201) + `"}`},
		{"F9 remove all", `{"op":"remove","path":""}`},
		{"F9 move into itself", `{"op":"move","from":"/a","path":"/a/b/c"}`},
		{"F9 move missing", `{"op":"move","from":"/x","path":"/y"}`},
		{"F9 copy missing", `{"op":"copy","from":"/l/5","path":"/y"}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, err := apply(k, patch.JSON, doc, `[{"op":"add","path":"/z","value":1},`+tc.operation+`]`)
			failed := requireCode(t, 422, err)
			if s := failed.Status; s.Message != "the server rejected our request due to an error in our request" || len(s.Details.Causes) != 1 {
				t.Errorf("%s", s.JSON())
			}
		})
	}
}

// TestJSONPatchIsBounded_F11 applies patches of a few bytes that require much work.
func TestJSONPatchIsBounded_F11(t *testing.T) {
	t.Parallel()
	k := kind(t, "/api/v1", "configmaps")
	repeat := func(operation string, n int) string {
		return "[" + strings.TrimSuffix(strings.Repeat(operation+",", n), ",") + "]"
	}
	long := `{"l":[` + strings.TrimSuffix(strings.Repeat("1,", 100_000), ",") + `]}`
	for _, tc := range []struct {
		name, doc, body string
		code            int
	}{
		{"doubling", `{"l":["` + strings.Repeat("x", 100) + `"]}`, repeat(`{"op":"copy","from":"/l","path":"/l/-"}`, 40), 413},
		{"copies", `{"l":[],"a":"` + strings.Repeat("x", 10_000) + `"}`, repeat(`{"op":"copy","from":"/a","path":"/l/-"}`, 1000), 413},
		{"insertions", long, repeat(`{"op":"add","path":"/l/0","value":1}`, 1000), 413},
		{"removals", long, repeat(`{"op":"remove","path":"/l/0"}`, 1000), 413},
		{"depth", `{"a":{}}`, "[" + nested(250) + "]", 422},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, err := apply(k, patch.JSON, tc.doc, tc.body)
			requireCode(t, tc.code, err)
		})
	}
}

// nested returns the document or patch /a inside n objects.
func nested(n int) string {
	var list []string
	for range n {
		list = append(list, `{"op":"move","from":"/a","path":"/b"}`, `{"op":"add","path":"/a","value":{}}`, `{"op":"move","from":"/b","path":"/a/x"}`)
	}
	return strings.Join(list, ",")
}
