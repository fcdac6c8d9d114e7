package patch_test

import (
	"fmt"
	"strings"
	"testing"

	"quorate/apiserver/objects/patch"
)

func TestMergePatch(t *testing.T) {
	t.Parallel()
	k := kind(t, "/api/v1", "configmaps")
	var many, manyPatched strings.Builder
	for i := range 100 {
		fmt.Fprintf(&many, `"k%d":%d,`, i, i)
		fmt.Fprintf(&manyPatched, `"k%d":-%d,`, i, i)
	}
	for _, tc := range []struct{ name, doc, body, want string }{
		{"F39 nothing", `{"a":1}`, `{}`, `{"a":1}`},
		{"F12 replace", `{"a":1,"b":2}`, `{"a":3}`, `{"a":3,"b":2}`},
		{"F12 add", `{"a":1}`, `{"b":2}`, `{"a":1,"b":2}`},
		{"F12 into an empty one", `{}`, `{"b":2,"c":{"d":null}}`, `{"b":2,"c":{}}`},
		{"F12 delete", `{"a":1,"b":2,"c":3}`, `{"a":null,"c":null,"x":null}`, `{"b":2}`},
		{"F12 delete all", `{"a":{"b":1}}`, `{"a":{"b":null}}`, `{"a":{}}`},
		{"F12 recursive", `{"a":{"b":1,"c":{"d":2}},"e":3}`, `{"a":{"c":{"d":4,"f":5}}}`, `{"a":{"b":1,"c":{"d":4,"f":5}},"e":3}`},
		{"F12 array", `{"a":[1,2]}`, `{"a":[{"b":null}]}`, `{"a":[{"b":null}]}`},
		{"F12 object for scalar", `{"a":1}`, `{"a":{"b":null,"c":{"d":null,"e":1}}}`, `{"a":{"c":{"e":1}}}`},
		{"F12 scalar for object", `{"a":{"b":1}}`, `{"a":false}`, `{"a":false}`},
		{"F12 object for null", `{"a":null}`, `{"a":{"b":1}}`, `{"a":{"b":1}}`},
		{"F12 numbers stay", `{"a":1.10,"b":123456789012345678901234567890}`, `{"c":1e2,"d":-0.0}`, `{"a":1.10,"b":123456789012345678901234567890,"c":1e2,"d":-0.0}`},
		{"F12 order stays", `{"z":1,"a":2,"m":3}`, `{"q":1,"a":5,"b":1}`, `{"z":1,"a":5,"m":3,"q":1,"b":1}`},
		{"F12 escaped names", `{"a\"b":1,"\u0063":2}`, `{"\u0061\"b":3,"c":4}`, `{"a\"b":3,"\u0063":4}`},
		{"F12 strings with brackets", `{"a":"}\\","b":"\"{","c":["]",{"d":"\\\""}],"e":1}`, `{"e":2}`, `{"a":"}\\","b":"\"{","c":["]",{"d":"\\\""}],"e":2}`},
		{"F37 the last one counts", `{"a":1}`, `{"a":2,"b":{"c":1},"b":{"d":1},"a":3}`, `{"a":3,"b":{"d":1}}`},
		{"F12 white space", ` { "a" : { "b" : [ 1 , 2 ] , "c" : 3 } } `, ` { "a" : { "c" : null , "d" : [ ] } } `, `{"a" : {"b" : [ 1 , 2 ],"d":[ ]}}`},
		{"F12 names that the document gives twice: the last one counts", `{"a":{"b":1},"c":1,"a":{"b":2},"e":0,"c":3,"c":4}`, `{"a":{"d":3},"c":5,"f":6}`,
			`{"a":{"b":2,"d":3},"e":0,"c":5,"f":6}`},
		{"F12 many members", `{"x":{` + many.String() + `"last":1}}`, `{"x":{` + manyPatched.String() + `"new":1}}`, `{"x":{` + manyPatched.String() + `"last":1,"new":1}}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if got, err := apply(k, patch.Merge, tc.doc, tc.body); err != nil || got != tc.want {
				t.Errorf("%s, %v", got, err)
			}
		})
	}
}

// TestPatchAppliedRepeatedly_F31 applies one patch several times, as a handler does after
// conflicts.
func TestPatchAppliedRepeatedly_F31(t *testing.T) {
	t.Parallel()
	k := kind(t, "/api/v1", "pods")
	for _, tc := range []struct {
		kind patch.Type
		body string
	}{
		{patch.JSON, `[{"op":"add","path":"/metadata/labels","value":{}},{"op":"add","path":"/metadata/labels/a","value":"b"}]`},
		{patch.Merge, `{"metadata":{"labels":{"a":"b"}}}`},
		{patch.Strategic, `{"metadata":{"labels":{"$patch":"replace","a":"b"}}}`},
	} {
		t.Run(tc.kind.String(), func(t *testing.T) {
			t.Parallel()
			p, err := patch.Parse(tc.kind, []byte(tc.body))
			if err != nil {
				t.Fatal(err)
			}
			for range 3 {
				document := []byte(`{"metadata":{"name":"p"}}`)
				got, err := p.Apply(k, document)
				if want := `{"metadata":{"name":"p","labels":{"a":"b"}}}`; err != nil || string(got) != want {
					t.Errorf("%s, %v", got, err)
				}
				if string(document) != `{"metadata":{"name":"p"}}` {
					t.Errorf("the document is now %s", document)
				}
			}
		})
	}
}
