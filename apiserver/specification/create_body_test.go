package specification

import (
	"bytes"
	"io"
	"regexp"
	"strings"
	"testing"

	"quorate/apiserver/internal/testserver"
)

// createMetadataRows: what becomes of the metadata that a client sends.
var createMetadataRows = []row{
	{"A20", func(t *testing.T, s *testserver.Server) {
		cms := collection("ConfigMap", namespace(t, s))
		long := strings.Repeat("x", 63)
		create := func(key, value string) testserver.Answer {
			return s.Do("POST", cms, minimal("ConfigMap", "", "a20", `{"metadata":{"namespace":null,"labels":{"`+key+`":"`+value+`"}}}`), "X-Row: a20")
		}
		for _, good := range [][2]string{{"a", ""}, {"example.com/A_b-c.d", "A_b-c.d"}, {long, long}, {"0", "0"}} {
			ok(t, create(good[0], good[1]))
			ok(t, s.Do("DELETE", cms+"/a20", ""))
		}
		for _, bad := range [][2]string{{"", "v"}, {"-a", "v"}, {"a/b/c", "v"}, {"Example.com/a", "v"}, {long + "x", "v"}, {"a", long + "x"}, {"a", "-v"}, {"a", "v/w"}} {
			expectInvalid(t, create(bad[0], bad[1]), "metadata.labels", "FieldValueInvalid")
		}
	}},
	{"A21", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		annotated := func(name, key, value string) testserver.Answer {
			return s.Do("POST", collection("ConfigMap", ns),
				minimal("ConfigMap", ns, name, `{"metadata":{"annotations":{"`+key+`":"`+value+`"}}}`))
		}
		ok(t, annotated("case", "Example.COM/Key", "any <text> at all"))
		expectInvalid(t, annotated("bad", "-a", ""), "metadata.annotations", "FieldValueInvalid")
		ok(t, annotated("full", "k", strings.Repeat("v", 256<<10-1)))
		expectInvalid(t, annotated("over", "k", strings.Repeat("v", 256<<10)), "metadata.annotations", "FieldValueTooLong")
	}},
	{"A22", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		finalized := func(name, finalizers string) testserver.Answer {
			return s.Do("POST", collection("ConfigMap", ns), minimal("ConfigMap", ns, name, `{"metadata":{"finalizers":[`+finalizers+`]}}`))
		}
		ok(t, finalized("a", `"example.com/hold","orphan"`))
		ok(t, finalized("b", `"foregroundDeletion","platform"`)) // the kind files allow platform everywhere
		for _, bad := range []string{`"hold"`, `"example.com/"`, `"-/a"`, `""`} {
			expect(t, finalized("c", bad), 422, "Invalid", "metadata.finalizers")
		}
		expect(t, finalized("c", `"orphan","foregroundDeletion"`), 422, "Invalid", "metadata.finalizers")
		spec := func(name, finalizers string) testserver.Answer {
			return s.Do("POST", "/api/v1/namespaces", `{"metadata":{"name":"`+name+`"},"spec":{"finalizers":[`+finalizers+`]}}`)
		}
		ok(t, spec("a22", `"platform","example.com/hold"`))
		expect(t, spec("a22b", `"hold"`), 422, "Invalid", "spec.finalizers")
	}},
	{"A23", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		owned := func(owners string) testserver.Answer {
			return s.Do("POST", collection("ConfigMap", ns)+"?dryRun=All", minimal("ConfigMap", ns, "c", `{"metadata":{"ownerReferences":[`+owners+`]}}`))
		}
		const owner = `{"apiVersion":"v1","kind":"Pod","name":"p","uid":"u1"}`
		for _, missing := range []string{"apiVersion", "kind", "name", "uid"} {
			a := owned(with(owner, `{"`+missing+`":null}`))
			if c := refusal(t, a, 422, "Invalid").Details.Causes[0]; c.Field != "metadata.ownerReferences[0]."+missing && c.Field != "metadata.ownerReferences."+missing {
				t.Errorf("without %s: %s", missing, a.Body)
			}
		}
		controller := `{"controller":true}`
		expect(t, owned(with(owner, controller)+","+with(owner, controller, `{"uid":"u2"}`)), 422, "Invalid", "metadata.ownerReferences")
		expect(t, owned(with(owner, `{"kind":"Event"}`)), 422, "Invalid", "metadata.ownerReferences")
		a := owned(owner + "," + with(owner, controller, `{"uid":"u2"}`) + "," + owner)
		want(t, ok(t, a), "metadata.ownerReferences.0.uid", "u1", "metadata.ownerReferences.1.uid", "u2", "metadata.ownerReferences.2.uid", "")
		if w := a.Header.Get("Warning"); !strings.HasPrefix(w, `299 - "`) || !strings.Contains(w, "duplicate entries; only the first with uid u1") {
			t.Errorf("Warning: %s", w)
		}
	}},
	{"A24 A25 A26 A27", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		mine := `{"metadata":{"uid":"mine","creationTimestamp":"2001-01-01T00:00:00Z","selfLink":"/mine","generation":7,
			"deletionTimestamp":"2001-01-01T00:00:00Z","deletionGracePeriodSeconds":7,"clusterName":"mine"}}`
		for _, k := range catalog() {
			name := rowName(k.kind, "a24")
			made := create(t, s, k.kind, ns, name, mine)
			want(t, made, "metadata.selfLink", item(k.kind, ns, name), "metadata.deletionTimestamp", "",
				"metadata.deletionGracePeriodSeconds", "", "metadata.clusterName", "")
			for path, form := range map[string]string{
				"metadata.uid":               `^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`,
				"metadata.creationTimestamp": `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$`,
				"metadata.resourceVersion":   `^[1-9]\d*$`,
			} {
				if v := get(t, made, path); !regexp.MustCompile(form).MatchString(v) {
					t.Errorf("%s: %s is %q", k.kind, path, v)
				}
			}
			soon(t, get(t, made, "metadata.creationTimestamp"))
			generation := ""
			if k.kind == "DaemonSet" || k.kind == "StatefulSet" {
				generation = "1"
			}
			want(t, made, "metadata.generation", generation)
		}
	}},
	{"A29 Z20", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		expect(t, s.Do("POST", collection("ConfigMap", ns), minimal("ConfigMap", ns, "a29", `{"metadata":{"resourceVersion":"7"}}`)),
			400, "BadRequest", "resourceVersion should not be set on objects to be created")
		for name, v := range map[string]string{"empty": "", "zero": "0"} {
			create(t, s, "ConfigMap", ns, name, `{"metadata":{"resourceVersion":"`+v+`"}}`)
		}
	}},
	{"A55", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		managed := `{"metadata":{"managedFields":[{"manager":"kubectl","operation":"Update","fieldsV1":{"f:data":{}}}]}}`
		a := s.Do("POST", collection("ConfigMap", ns)+"?fieldValidation=Strict", minimal("ConfigMap", ns, "a55", managed))
		want(t, ok(t, a), "metadata.managedFields", "")
		if w := a.Header.Values("Warning"); len(w) > 0 {
			t.Errorf("Warning: %s", w)
		}
	}},
}

// createBodyRows: what a body may be.
var createBodyRows = []row{
	{"A34", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		for _, k := range catalog() {
			name := rowName(k.kind, "a34")
			made := create(t, s, k.kind, ns, name, `{"kind":null,"apiVersion":null}`)
			want(t, made, "kind", k.realKind(), "apiVersion", k.apiVersion())
		}
	}},
	{"A35", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		expect(t, s.Do("POST", collection("ConfigMap", ns), minimal("Pod", ns, "p")), 400, "BadRequest",
			`Pod in version "v1" cannot be handled as a ConfigMap: `)
	}},
	{"A36", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		expect(t, s.Do("POST", collection("StatefulSet", ns), minimal("StatefulSet", ns, "s", `{"apiVersion":"apps/v1"}`)), 400, "BadRequest",
			`the API version in the data (apps/v1) does not match the expected API version (apps/v1beta2)`)
	}},
	{"A37", func(t *testing.T, s *testserver.Server) {
		expect(t, s.Do("POST", collection("ConfigMap", namespace(t, s)), ""), 400, "BadRequest",
			"the object provided is unrecognized (must be of type ConfigMap)")
	}},
	{"A38", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		sets := collection("StatefulSet", ns)
		expect(t, s.Do("POST", sets, `{"metadata":`), 400, "BadRequest", "offset 12")
		expect(t, s.Do("POST", sets, "metadata:\n\t- a", "Content-Type: application/yaml"), 400, "BadRequest", "yaml")
		expect(t, s.Do("POST", sets, minimal("StatefulSet", ns, "s", `{"spec":{"replicas":"two"}}`)), 400, "BadRequest", "spec.replicas")
		expect(t, s.Do("POST", sets, `[]`), 400, "BadRequest")
	}},
	{"A39", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		for _, rest := range []string{"x", "{}", minimal("ConfigMap", ns, "other"), "\x00"} {
			expect(t, s.Do("POST", collection("ConfigMap", ns), minimal("ConfigMap", ns, "a39")+rest), 400, "BadRequest")
		}
		expect(t, s.Do("POST", collection("ConfigMap", ns), "metadata:\n  name: a39\n---\na: b\n", "Content-Type: application/yaml"), 400, "BadRequest")
		expect(t, s.Do("GET", item("ConfigMap", ns, "a39"), ""), 404, "NotFound")
	}},
	{"A40", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		for _, tc := range []struct{ kind, change, text string }{
			{"PersistentVolume", `{"spec":{"capacity":{"storage":"much"}}}`, "quantities must match the regular expression"},
			{"DaemonSet", `{"spec":{"updateStrategy":{"rollingUpdate":{"maxUnavailable":true}}}}`, "spec.updateStrategy.rollingUpdate.maxUnavailable"},
			{"Event", `{"firstTimestamp":"yesterday"}`, "firstTimestamp"},
			{"Node", `{"status":{"conditions":[{"type":"Ready","status":"True","lastHeartbeatTime":7}]}}`, "lastHeartbeatTime"},
		} {
			expect(t, s.Do("POST", collection(tc.kind, ns), minimal(tc.kind, ns, "a40", tc.change)), 400, "BadRequest", tc.text)
		}
	}},
	{"A43", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		const limit = 3145728
		body := minimal("ConfigMap", ns, "a43")
		ok(t, s.Do("POST", collection("ConfigMap", ns), body+strings.Repeat(" ", limit-len(body))))
		for _, length := range []int64{limit + 1, -1} {
			// With a length, the refusal comes before the body, which never does; without one,
			// while it is read.
			req := s.Request("POST", collection("ConfigMap", ns), "x")
			sent, send := io.Pipe()
			req.Body, req.ContentLength = sent, length
			if length < 0 {
				req.Body = io.NopCloser(bytes.NewReader(make([]byte, limit+1)))
			}
			resp, err := s.NewHTTP1Client().Do(req)
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			send.Close()
			if err != nil {
				t.Fatal(err)
			}
			expect(t, testserver.Answer{Code: resp.StatusCode, Body: string(text)}, 413, "RequestEntityTooLarge",
				"Request entity too large: limit is 3145728")
		}
	}},
	{"A44", func(t *testing.T, s *testserver.Server) {
		image := func(name string, bytes int) testserver.Answer {
			return s.Do("POST", collection("Image", ""), minimal("Image", "", name, `{"containerImageManifest":"`+strings.Repeat("m", bytes)+`"}`))
		}
		ok(t, image("a44", 1536<<10-1024))
		expect(t, image("a44-over", 1536<<10), 413, "RequestEntityTooLarge", "may not exceed 1572864 bytes")
	}},
	{"A59", func(t *testing.T, s *testserver.Server) {
		made := create(t, s, "StatefulSet", namespace(t, s), "a59", `{"spec":{"template":{"metadata":
			{"annotations":{"k":"v"},"deletionTimestamp":"2001-01-01T00:00:00Z","deletionGracePeriodSeconds":7,"uid":"mine"}}}}`)
		want(t, made, "spec.template.metadata.labels.app", "a", "spec.template.metadata.annotations.k", "v",
			"spec.template.metadata.deletionTimestamp", "2001-01-01T00:00:00Z", "spec.template.metadata.deletionGracePeriodSeconds", "7",
			"spec.template.metadata.uid", "mine")
	}},
	{"A60", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		made := create(t, s, "Pod", ns, "a60", `{"metadata":{"labels":{},"finalizers":[]},"spec":{"volumes":[],"nodeSelector":{}}}`)
		body := strings.Replace(minimal("Pod", ns, "a60n"), `"spec":{`, `"spec":{"tolerations":null,"hostname":null,`, 1)
		nulls := ok(t, s.Do("POST", collection("Pod", ns), body))
		for _, path := range []string{"metadata.labels", "metadata.finalizers", "spec.volumes", "spec.nodeSelector", "spec.tolerations", "spec.hostname"} {
			if v := value(t, made, path); v != nil {
				t.Errorf("%s is %v", path, v)
			}
			if strings.Contains(nulls, `null`) && path != "status" {
				t.Errorf("a null: %s", nulls)
			}
		}
		// A required list is shown also when it is empty.
		role := ok(t, s.Do("POST", collection("ClusterRole", ""), `{"metadata":{"name":"a60"},"rules":null}`))
		if !strings.Contains(role, `"rules":null`) && !strings.Contains(role, `"rules":[]`) {
			t.Errorf("no rules: %s", role)
		}
	}},
}
