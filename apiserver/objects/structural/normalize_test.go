package structural

import (
	"context"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// mustCompile compiles a schema that must be valid.
func mustCompile(t testing.TB, raw string) *Schema {
	t.Helper()
	s, report, err := Compile(context.Background(), []byte(raw), Options{Path: field.NewPath("schema")})
	if err != nil || len(report.Errors) > 0 {
		t.Fatalf("compile: %v, %v", err, report)
	}
	return s
}

func TestNormalize(t *testing.T) {
	t.Parallel()
	s := mustCompile(t, `{"type":"object","properties":{
		"kind":{"type":"string"},
		"spec":{"type":"object","default":{},"properties":{
			"size":{"type":"integer","default":3},
			"mode":{"type":"string","nullable":true,"default":"a"},
			"list":{"type":"array","items":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer","default":1}}}},
			"open":{"type":"object","x-kubernetes-preserve-unknown-fields":true,"properties":{"closed":{"type":"object"}}},
			"map":{"type":"object","additionalProperties":{"type":"string","nullable":true}},
			"any":{"type":"object","additionalProperties":true},
			"resource":{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true}
		}}}}`)
	for name, tc := range map[string]struct {
		in, want string
		dropped  []string
	}{
		"defaults":         {`{}`, `{"spec":{"mode":"a","size":3}}`, nil},
		"unknown":          {`{"zzz":1,"spec":{"x":{},"list":[{"a":"1","c":2}]}}`, `{"spec":{"list":[{"a":"1","b":1}],"mode":"a","size":3}}`, []string{"spec.list[0].c", "spec.x", "zzz"}},
		"order and text":   {`{"spec": {"size": 1e3, "mode": "\u0041\/"}, "kind":"K", "metadata": {"z":1,"a":{}}}`, `{"kind":"K","metadata":{"a":{},"z":1},"spec":{"mode":"A/","size":1e3}}`, nil},
		"null":             {`{"spec":{"size":null,"mode":null,"map":{"a":null},"list":null}}`, `{"spec":{"map":{"a":null},"mode":null,"size":3}}`, nil},
		"preserved":        {`{"spec":{"open":{"x":{"y":1},"closed":{"z":1}}}}`, `{"spec":{"mode":"a","open":{"closed":{},"x":{"y":1}},"size":3}}`, []string{"spec.open.closed.z"}},
		"untyped map":      {`{"spec":{"any":{"a":{"b":1},"c":2}}}`, `{"spec":{"any":{"a":{},"c":2},"mode":"a","size":3}}`, []string{"spec.any.a.b"}},
		"embedded":         {`{"spec":{"resource":{"kind":"A","apiVersion":"v1","metadata":{"name":"n","foo":1},"data":{"x":1}}}}`, `{"spec":{"mode":"a","resource":{"apiVersion":"v1","data":{"x":1},"kind":"A","metadata":{"name":"n"}},"size":3}}`, []string{"spec.resource.metadata.foo"}},
		"duplicate member": {`{"spec":{"size":1,"size":2}}`, `{"spec":{"mode":"a","size":2}}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, err := s.Normalize(nil, []byte(tc.in))
			if err != nil {
				t.Fatal(err)
			}
			if string(n.Object) != tc.want {
				t.Errorf("got  %s\nwant %s", n.Object, tc.want)
			}
			if len(n.Dropped) != len(tc.dropped) {
				t.Fatalf("dropped %q, not %q", n.Dropped, tc.dropped)
			}
			for i := range n.Dropped {
				if n.Dropped[i] != tc.dropped[i] {
					t.Errorf("dropped %q, not %q", n.Dropped, tc.dropped)
				}
			}
		})
	}
}

func TestNormalizeRefuses(t *testing.T) {
	t.Parallel()
	s := mustCompile(t, `{"type":"object","properties":{"r":{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true}}}`)
	for _, in := range []string{`{"r":{"metadata":{"name":5}}}`, `{"r":{"kind":1}}`, `{`, `{"a":tru}`, `{"a":01}`, `{"a" 1}`, `[1,]`, `"\x"`, "\"\x01\"", `1 2`} {
		if _, err := s.Normalize(nil, []byte(in)); err == nil {
			t.Errorf("%s: no error", in)
		}
	}
}
