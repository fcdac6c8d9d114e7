package apiserver_test

import (
	"strings"
	"testing"

	"quorate/apiserver/internal/testserver"
)

// The media types of patches, as headers.
const (
	jsonPatch      = "Content-Type: application/json-patch+json"
	mergePatch     = "Content-Type: application/merge-patch+json"
	strategicPatch = "Content-Type: application/strategic-merge-patch+json"
)

func TestPatchWarnings(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	cms := namespace(t, s, "a")
	check(t, s.Do("POST", cms, configMap("m")), want{code: 200})
	a := s.Do("PATCH", cms+"/m", `{"odd":1,"data":{"k":"x","k":"y"}}`, mergePatch)
	check(t, a, want{code: 200, body: []string{`"k":"y"`}})
	if got := strings.Join(a.Header.Values("Warning"), ", "); got != `299 - "duplicate field \"data.k\"", 299 - "unknown field \"odd\""` {
		t.Errorf("F36, F37: %s", got)
	}
	// Nothing changes, so that it is decided twice: once from this node's state, once from a
	// confirmed one.
	if a := s.Do("PATCH", cms+"/m", `{"odd":1}`, mergePatch); len(a.Header.Values("Warning")) != 1 {
		t.Errorf("warnings %q", a.Header.Values("Warning"))
	}
}

// TestPatchLastFinalizer/F41: a patch that takes the last finalizer off removes the object.
func TestPatchLastFinalizer(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	cms := namespace(t, s, "a")
	for _, tc := range []struct{ name, media, body string }{
		{"merge", mergePatch, `{"metadata":{"finalizers":null}}`},
		{"json", jsonPatch, `[{"op":"remove","path":"/metadata/finalizers/0"}]`},
		{"strategic", strategicPatch, `{"metadata":{"$deleteFromPrimitiveList/finalizers":["x.io/a"]}}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			check(t, s.Do("POST", cms, `{"metadata":{"name":"`+tc.name+`","finalizers":["x.io/a"]}}`), want{code: 200})
			check(t, s.Do("DELETE", cms+"/"+tc.name, ""), want{code: 200})
			check(t, s.Do("PATCH", cms+"/"+tc.name, tc.body, tc.media), want{code: 200})
			check(t, s.Do("GET", cms+"/"+tc.name, ""), want{404, "NotFound", "", nil})
		})
	}
}
