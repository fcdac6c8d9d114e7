package apiserver_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"quorate/apiserver/internal/testserver"
)

// The media types of patches, as headers.
const (
	jsonPatch      = "Content-Type: application/json-patch+json"
	mergePatch     = "Content-Type: application/merge-patch+json"
	strategicPatch = "Content-Type: application/strategic-merge-patch+json"
)

func TestPatch(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	cms := namespace(t, s, "a")
	made := s.Do("POST", cms, configMap("m"))
	check(t, made, want{code: 200})
	live := version(t, made.Body)
	check(t, s.Do("POST", "/oapi/v1/hostsubnets", `{"metadata":{"name":"n1"},"host":"n1","hostIP":"10.0.0.1","subnet":"10.1.0.0/24"}`), want{code: 200})
	for _, tc := range []struct {
		row, path, media, body string
		want                   want
	}{
		{"F2 plain JSON", cms + "/m", "Content-Type: application/json", `{}`, want{415, "UnsupportedMediaType", "application/strategic-merge-patch+json", nil}},
		{"F2 parameters", cms + "/m", mergePatch + "; charset=utf-8", `{}`, want{code: 200}},
		{"F3 server-side apply", cms + "/m", "Content-Type: application/apply-patch+yaml", `{}`, want{415, "UnsupportedMediaType", "", nil}},
		{"F5 force", cms + "/m?force=true", mergePatch, `{}`, want{422, "Invalid", "", []string{`"field":"force"`, "FieldValueForbidden", "PatchOptions"}}},
		{"F5 force that is none", cms + "/m?force=x", mergePatch, `{}`, want{400, "BadRequest", "", nil}},
		{"F7 no array", cms + "/m", jsonPatch, `{}`, want{400, "BadRequest", "", nil}},
		{"F8 a test fails", cms + "/m", jsonPatch, `[{"op":"test","path":"/data/k","value":"no"}]`, want{422, "Invalid", "the server rejected our request due to an error in our request", nil}},
		{"F13 no object", cms + "/m", mergePatch, `[]`, want{400, "BadRequest", "", nil}},
		{"F26 wrong type", cms + "/m", mergePatch, `{"data":{"k":1}}`, want{422, "Invalid", "", []string{`"field":"patch"`}}},
		{"F27 invalid", cms + "/m", mergePatch, `{"data":{"a b":"x"}}`, want{422, "Invalid", "data", nil}},
		{"F28 another name", cms + "/m", mergePatch, `{"metadata":{"name":"n"}}`, want{400, "BadRequest", "the name of the object (n) does not match the name on the URL (m)", nil}},
		{"F28 no name", cms + "/m", mergePatch, `{"metadata":{"name":null}}`, want{400, "BadRequest", "name must be provided", nil}},
		{"F28 another namespace", cms + "/m", mergePatch, `{"metadata":{"namespace":"b"}}`, want{400, "BadRequest", "does not match the namespace", nil}},
		{"F28 another kind", cms + "/m", mergePatch, `{"kind":"Pod"}`, want{422, "Invalid", "cannot be handled as a ConfigMap", nil}},
		{"F29 stale version", cms + "/m", mergePatch, `{"metadata":{"resourceVersion":"1"}}`, want{409, "Conflict", "the object has been modified", nil}},
		{"F29 live version", cms + "/m", mergePatch, `{"metadata":{"resourceVersion":"` + live + `"}}`, want{code: 200}},
		{"F29 no number", cms + "/m", mergePatch, `{"metadata":{"resourceVersion":"x"}}`, want{422, "Invalid", "metadata.resourceVersion", nil}},
		{"E4 unconditional is not allowed", "/oapi/v1/hostsubnets/n1", mergePatch, `{"metadata":{"resourceVersion":null},"hostIP":"10.0.0.2"}`, want{422, "Invalid", "must be specified for an update", nil}},
		{"F31 but the live version is there", "/oapi/v1/hostsubnets/n1", mergePatch, `{"hostIP":"10.0.0.3"}`, want{code: 200, body: []string{"10.0.0.3"}}},
		{"F30 another uid", cms + "/m", mergePatch, `{"metadata":{"uid":"x"}}`, want{422, "Invalid", "metadata.uid: Invalid value: \"x\": field is immutable", nil}},
		{"F32 version in a test", cms + "/m", jsonPatch, `[{"op":"test","path":"/metadata/resourceVersion","value":"1"}]`, want{422, "Invalid", "", nil}},
		{"F33 F39 no change", cms + "/m", mergePatch, `{}`, want{code: 200, body: []string{`"resourceVersion":"` + live + `"`}}},
		{"F35 missing", "/api/v1/namespaces/a/endpoints/no", mergePatch, `{}`, want{404, "NotFound", `endpoints "no" not found`, nil}},
		{"F36 strict", cms + "/m?fieldValidation=Strict", mergePatch, `{"odd":{"b":1}}`, want{422, "Invalid", `strict decoding error: unknown field \"odd\"`, []string{`"field":"patch"`}}},
		{"F37 strict", cms + "/m?fieldValidation=Strict", mergePatch, `{"data":{"k":"v","k":"v"}}`, want{422, "Invalid", "duplicate field", []string{`"field":"patch"`}}},
		{"F38 dry run", cms + "/m?dryRun=All", mergePatch, `{"data":{"k":"dry"}}`, want{code: 200, body: []string{`"k":"dry"`, `"resourceVersion":"` + live + `"`}}},
		{"A61 media type before size", cms + "/m", "Content-Type: text/plain", strings.Repeat("x", 4<<20), want{415, "UnsupportedMediaType", "", nil}},
		{"A61 options before the body", cms + "/m?dryRun=x", mergePatch, `{`, want{422, "Invalid", "", nil}},
	} {
		t.Run(tc.row, func(t *testing.T) {
			t.Parallel()
			a := s.Do("PATCH", tc.path, tc.body, tc.media)
			if tc.want.message != "" { // as texts stand in JSON
				tc.want.message = strings.ReplaceAll(tc.want.message, `\"`, `"`)
			}
			check(t, a, tc.want)
			if now := s.Do("GET", cms+"/m", "").Body; now != made.Body {
				t.Errorf("now %s", now)
			}
		})
	}
}

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
	// Nothing changes, so that it is decided twice: once from this node's state, once from a confirmed one.
	if a := s.Do("PATCH", cms+"/m", `{"odd":1}`, mergePatch); len(a.Header.Values("Warning")) != 1 {
		t.Errorf("warnings %q", a.Header.Values("Warning"))
	}
}

// TestPatchContention/F31: patches of concurrent writers all land, none is told of a conflict, and none is lost.
func TestPatchContention(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	cms := namespace(t, s, "a")
	check(t, s.Do("POST", cms, configMap("m")), want{code: 200})
	const writers, rounds = 8, 5
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			for round := range rounds {
				body, media := fmt.Sprintf(`{"data":{"k%d":"%d"}}`, i, round), mergePatch
				if i%2 == 1 {
					body, media = fmt.Sprintf(`[{"op":"add","path":"/data/k%d","value":"%d"}]`, i, round), jsonPatch
				}
				if a, err := s.Try(s.Client, "PATCH", cms+"/m", body, media); err != nil || a.Code != 200 {
					t.Errorf("%v, %s", err, a.Body)
				}
			}
		})
	}
	wg.Wait()
	now := s.Do("GET", cms+"/m", "").Body
	for i := range writers {
		if got := field(t, now, fmt.Sprintf("data.k%d", i)); got != fmt.Sprint(rounds-1) {
			t.Errorf("k%d is %q: %s", i, got, now)
		}
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
