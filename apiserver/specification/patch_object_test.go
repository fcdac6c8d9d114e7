package specification

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"quorate/apiserver/internal/testserver"
)

// patchObjectRows prove what becomes of a patched object (F26–F43).
var patchObjectRows = []row{
	{"F26", func(t *testing.T, s *testserver.Server) {
		path := pod(t, s)
		for mediaType, patch := range map[string]string{
			mergePatch: `{"spec":{"containers":7}}`, strategicPatch: `{"metadata":{"labels":{"x":{"y":1}}}}`,
			jsonPatch: `[{"op":"replace","path":"","value":[]}]`,
		} {
			expectInvalid(t, s.Do("PATCH", path, patch, mediaType), "patch", "FieldValueInvalid")
		}
	}},
	{"F27", func(t *testing.T, s *testserver.Server) {
		path := pod(t, s)
		expectInvalid(t, s.Do("PATCH", path, `{"metadata":{"labels":{"-":"x"}}}`, mergePatch), "metadata.labels", "FieldValueInvalid")
		expect(t, s.Do("PATCH", path, `{"spec":{"hostname":"other"}}`, strategicPatch), 422, "Invalid", "spec")
	}},
	{"F28", func(t *testing.T, s *testserver.Server) {
		path := pod(t, s)
		for text, patch := range map[string]string{
			"the name of the object (other) does not match the name on the URL (p)": `{"metadata":{"name":"other"}}`,
			"name must be provided":        `{"metadata":{"name":null}}`,
			"does not match the namespace": `{"metadata":{"namespace":"other"}}`,
		} {
			unchanged(t, s, mergePatch, path, 400, "BadRequest", text, patch)
		}
		for _, change := range []string{`{"kind":"Node"}`, `{"apiVersion":"v2"}`} {
			if a := s.Do("PATCH", path, change, mergePatch); a.Code != 400 && a.Code != 422 {
				t.Errorf("%s: %d %s", change, a.Code, a.Body)
			}
		}
	}},
	{"F29", func(t *testing.T, s *testserver.Server) {
		path := pod(t, s)
		old := ok(t, s.Do("GET", path, ""))
		given := func(body, label string) string {
			return fmt.Sprintf(`{"metadata":{"resourceVersion":%q,"labels":{"given":%q}}}`, get(t, body, "metadata.resourceVersion"), label)
		}
		now := patched(t, s, mergePatch, path, given(old, "1"))
		want(t, now, "metadata.labels.given", "1")
		unchanged(t, s, mergePatch, path, 409, "Conflict", "the object has been modified", given(old, "2"))
		unchanged(t, s, strategicPatch, path, 409, "Conflict", "the object has been modified", given(old, "2"))
		want(t, patched(t, s, strategicPatch, path, given(now, "3")), "metadata.labels.given", "3")
		unchanged(t, s, mergePatch, path, 422, "Invalid", "metadata.resourceVersion", `{"metadata":{"resourceVersion":"x"}}`)
	}},
	{"F30", func(t *testing.T, s *testserver.Server) {
		path := pod(t, s)
		expectInvalid(t, s.Do("PATCH", path, `{"metadata":{"uid":"other"}}`, mergePatch), "metadata.uid", "FieldValueInvalid", "field is immutable")
	}},
	{"F31", func(t *testing.T, s *testserver.Server) {
		path := pod(t, s)
		// Also of a kind whose replaces need a version: a patch that takes it away is refused.
		subnet := item("HostSubnet", "", "f31")
		create(t, s, "HostSubnet", "", "f31")
		want(t, patched(t, s, mergePatch, subnet, label), "metadata.labels.row", "changed")
		unchanged(t, s, mergePatch, subnet, 422, "Invalid", "must be specified for an update", `{"metadata":{"resourceVersion":null,"labels":{"row":"no"}}}`)
		const writers, writes = 8, 5
		var all sync.WaitGroup
		for i := range writers {
			all.Go(func() {
				for j := range writes {
					a, err := s.Try(s.Client, "PATCH", path, fmt.Sprintf(`{"metadata":{"annotations":{"w%d-%d":"x"}}}`, i, j), mergePatch)
					if err != nil || a.Code != 200 {
						t.Errorf("%v: %d %s", err, a.Code, a.Body)
					}
				}
			})
		}
		all.Wait()
		body := ok(t, s.Do("GET", path, ""))
		if found, _ := value(t, body, "metadata.annotations").(map[string]any); len(found) != writers*writes {
			t.Errorf("%d annotations of %d: %s", len(found), writers*writes, body)
		}
	}},
	{"F32", func(t *testing.T, s *testserver.Server) {
		path := pod(t, s)
		test := `[{"op":"test","path":"/metadata/resourceVersion","value":"` + get(t, ok(t, s.Do("GET", path, "")), "metadata.resourceVersion") +
			`"},{"op":"add","path":"/metadata/labels/tested","value":"yes"}]`
		want(t, patched(t, s, jsonPatch, path, test), "metadata.labels.tested", "yes")
		unchanged(t, s, jsonPatch, path, 422, "Invalid", unfit, test)
	}},
	{"F33 F39", func(t *testing.T, s *testserver.Server) {
		path := pod(t, s)
		before := ok(t, s.Do("GET", path, ""))
		w := watch(t, s, watching(strings.TrimSuffix(path, "/p"), "resourceVersion", get(t, before, "metadata.resourceVersion")))
		for _, patch := range [][2]string{
			{mergePatch, `{}`}, {strategicPatch, `{}`}, {jsonPatch, `[]`}, {mergePatch, `{"metadata":{"labels":{"x":"1","none":null}}}`},
			{strategicPatch, `{"spec":{"containers":[{"name":"a","image":"i:1"}]}}`}, {jsonPatch, `[{"op":"replace","path":"/metadata/labels/x","value":"1"}]`},
		} {
			if after := ok(t, s.Do("PATCH", path, patch[1], patch[0])); after != before {
				t.Errorf("%s: %s", patch[1], after)
			}
		}
		changed := ok(t, s.Do("PATCH", path, label, mergePatch))
		if seen := w.want("MODIFIED p"); get(t, seen, "metadata.resourceVersion") != get(t, changed, "metadata.resourceVersion") {
			t.Errorf("an event of a patch that changes nothing: %s", seen)
		}
	}},
	{"F34", func(t *testing.T, s *testserver.Server) {
		path := pod(t, s)
		both := `{"metadata":{"labels":{"both":"yes"}},"spec":{"activeDeadlineSeconds":9},"status":{"phase":"Running"}}`
		for _, mediaType := range []string{mergePatch, strategicPatch} {
			body := patched(t, s, mediaType, path, both)
			want(t, body, "spec.activeDeadlineSeconds", "9", "status.phase", "Pending")
		}
		body := ok(t, s.Do("PATCH", path+"/status", `{"metadata":{"labels":{"status":"yes"}},"spec":{"activeDeadlineSeconds":8},"status":{"phase":"Running"}}`, mergePatch))
		want(t, body, "spec.activeDeadlineSeconds", "9", "status.phase", "Running", "metadata.labels.status", "yes")
		body = ok(t, s.Do("PATCH", path+"/status", `[{"op":"replace","path":"/status/phase","value":"Failed"}]`, jsonPatch))
		want(t, body, "status.phase", "Failed", "spec.activeDeadlineSeconds", "9")
	}},
	{"F35", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		for _, k := range catalog() {
			path := item(k.kind, ns, rowName(k.kind, "missing"))
			expect(t, s.Do("PATCH", path, label, mergePatch), 404, "NotFound", "not found")
			expect(t, s.Do("GET", path, ""), 404, "NotFound")
		}
	}},
	{"F36", func(t *testing.T, s *testserver.Server) {
		path := pod(t, s)
		const unknown = `{"spec":{"color":"red"},"metadata":{"labels":{"strict":"no"}}}`
		for _, mediaType := range []string{mergePatch, strategicPatch} {
			expectInvalid(t, s.Do("PATCH", path+"?fieldValidation=Strict", unknown, mediaType), "patch", "FieldValueInvalid", `unknown field "spec.color"`)
			a := s.Do("PATCH", path+"?fieldValidation=Warn", unknown, mediaType)
			if ok(t, a); a.Header.Get("Warning") != `299 - "unknown field \"spec.color\""` {
				t.Errorf("Warning: %s", a.Header.Values("Warning"))
			}
			a = s.Do("PATCH", path+"?fieldValidation=Ignore", unknown, mediaType)
			if ok(t, a); len(a.Header.Values("Warning")) > 0 {
				t.Errorf("Warning: %s", a.Header.Values("Warning"))
			}
		}
	}},
	{"F37", func(t *testing.T, s *testserver.Server) {
		path := pod(t, s)
		const twice = `{"metadata":{"labels":{"twice":"1","twice":"2"}}}`
		for _, mediaType := range []string{mergePatch, strategicPatch} {
			expectInvalid(t, s.Do("PATCH", path+"?fieldValidation=Strict", twice, mediaType), "patch", "FieldValueInvalid", `duplicate field "metadata.labels.twice"`)
			want(t, ok(t, s.Do("PATCH", path, twice, mediaType)), "metadata.labels.twice", "2")
		}
	}},
	{"F38", func(t *testing.T, s *testserver.Server) {
		path := pod(t, s)
		before := ok(t, s.Do("GET", path, ""))
		for mediaType, patch := range map[string]string{mergePatch: label, strategicPatch: label, jsonPatch: `[{"op":"add","path":"/metadata/labels/row","value":"changed"}]`} {
			want(t, ok(t, s.Do("PATCH", path+"?dryRun=All", patch, mediaType)), "metadata.labels.row", "changed")
		}
		if now := ok(t, s.Do("GET", path, "")); now != before {
			t.Errorf("stored: %s", now)
		}
	}},
	{"F40", func(t *testing.T, s *testserver.Server) {
		jane := "Authorization: Bearer " + s.IssueToken("jane")
		expect(t, s.Do("PATCH", pod(t, s), label, mergePatch, jane), 403, "Forbidden", `cannot patch resource "pods"`)
		expect(t, s.Do("PATCH", item("ConfigMap", "default", "missing"), label, mergePatch, jane), 403, "Forbidden", `cannot patch resource "configmaps"`)
	}},
	{"F41", func(t *testing.T, s *testserver.Server) {
		path := pod(t, s)
		ok(t, s.Do("DELETE", path+"?gracePeriodSeconds=0", ""))
		going := ok(t, s.Do("PATCH", path, `{"metadata":{"$deleteFromPrimitiveList/finalizers":["row.io/a"]}}`, strategicPatch))
		want(t, going, "metadata.finalizers", `["row.io/b"]`)
		w := watch(t, s, watching(strings.TrimSuffix(path, "/p"), "resourceVersion", get(t, going, "metadata.resourceVersion")))
		want(t, ok(t, s.Do("PATCH", path, `{"metadata":{"finalizers":null}}`, mergePatch)), "metadata.name", "p", "metadata.finalizers", "")
		w.want("DELETED p")
		expect(t, s.Do("GET", path, ""), 404, "NotFound")
	}},
	{"F43", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		for _, k := range catalog() {
			name := rowName(k.kind, "f43")
			create(t, s, k.kind, ns, name)
			path := item(k.kind, ns, name)
			want(t, patched(t, s, strategicPatch, path, `{"metadata":{"annotations":{"strategic":"1"}}}`), "metadata.annotations.strategic", "1")
			want(t, patched(t, s, mergePatch, path, `{"metadata":{"annotations":{"merge":"2"}}}`), "metadata.annotations.merge", "2")
			want(t, patched(t, s, jsonPatch, path, `[{"op":"add","path":"/metadata/annotations/json","value":"3"}]`),
				"metadata.annotations", `{"json":"3","merge":"2","strategic":"1"}`)
		}
	}},
}
