package specification

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"quorate/apiserver/internal/testserver"
	"quorate/raftstore"
	"quorate/raftstore/state"
)

// errorRows: one refusal for each reason.
var errorRows = []row{
	{"I1", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		for _, a := range []testserver.Answer{
			s.Do("POST", collection("ConfigMap", ns), "{"), s.Do("GET", collection("ConfigMap", ns)+"?limit=x", ""),
			s.Do("PUT", item("ConfigMap", ns, "a"), minimal("ConfigMap", ns, "b")),
			s.Do("DELETE", item("ConfigMap", ns, "a"), "{"),
		} {
			if st := refusal(t, a, 400, "BadRequest"); st.Message == "" || st.Details != nil {
				t.Error(a.Body)
			}
		}
	}},
	{"I2 §5.3", func(t *testing.T, s *testserver.Server) {
		for _, credentials := range []string{"", "Bearer wrong", "Basic eDp5"} {
			a := s.Do("GET", "/api/v1/nodes", "", "Authorization: "+credentials)
			if st := refusal(t, a, 401, "Unauthorized"); st.Message != "Unauthorized" || st.Details != nil {
				t.Error(a.Body)
			}
		}
	}},
	{"I3", func(t *testing.T, s *testserver.Server) {
		a := s.Do("GET", item("StatefulSet", "x", "w"), "", "Authorization: Bearer "+s.IssueToken("jane"))
		checkSubject(t, refusal(t, a, 403, "Forbidden"), "apps", "statefulsets", "w")
		checkSubject(t, refusal(t, s.Do("POST", collection("ConfigMap", going(t, s)), `{"metadata":{"name":"c"}}`), 403, "Forbidden"), "", "configmaps", "c")
		checkSubject(t, refusal(t, s.Do("DELETE", "/api/v1/namespaces/default", ""), 403, "Forbidden"), "", "namespaces", "default")
	}},
	{"I4", func(t *testing.T, s *testserver.Server) {
		a := s.Do("GET", item("StatefulSet", "x", "w"), "")
		checkSubject(t, refusal(t, a, 404, "NotFound"), "apps", "statefulsets", "w")
		expect(t, a, 404, "NotFound", `statefulsets.apps "w" not found`)
		for _, path := range []string{"/api/v1/nothings", "/apis/apps/v9/statefulsets", "/apis/no.such.group"} {
			a := s.Do("GET", path, "")
			if st := refusal(t, a, 404, "NotFound"); st.Details == nil || *st.Details.plain() != (plainDetails{}) ||
				st.Message != "the server could not find the requested resource" {
				t.Error(a.Body)
			}
		}
	}},
	{"I5", func(t *testing.T, s *testserver.Server) {
		a := s.Do("PUT", collection("StatefulSet", "x"), minimal("StatefulSet", "x", "w"))
		checkSubject(t, refusal(t, a, 405, "MethodNotAllowed"), "apps", "statefulsets", "")
		if allow := a.Header.Get("Allow"); !strings.Contains(allow, "GET") || !strings.Contains(allow, "POST") || strings.Contains(allow, "PUT") {
			t.Errorf("Allow: %s", allow)
		}
	}},
	{"I6", func(t *testing.T, s *testserver.Server) {
		a := s.Do("GET", "/api/v1/nodes", "", "Accept: text/html")
		if st := refusal(t, a, 406, "NotAcceptable"); st.Details != nil || a.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%v %s", a.Header, a.Body)
		}
	}},
	{"I7", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		create(t, s, "StatefulSet", ns, "w")
		a := s.Do("POST", collection("StatefulSet", ns), minimal("StatefulSet", ns, "w"))
		checkSubject(t, refusal(t, a, 409, "AlreadyExists"), "apps", "statefulsets", "w")
	}},
	{"I8", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		create(t, s, "StatefulSet", ns, "w")
		for _, change := range []string{`{"metadata":{"resourceVersion":"1"}}`, `{"metadata":{"uid":"another"}}`} {
			a := s.Do("PUT", item("StatefulSet", ns, "w"), minimal("StatefulSet", ns, "w", change))
			checkSubject(t, refusal(t, a, 409, "Conflict"), "apps", "statefulsets", "w")
		}
	}},
	{"I9 Z17", func(t *testing.T, s *testserver.Server) {
		a := s.Do("GET", "/api/v1/nodes?continue=bogus", "")
		st := refusal(t, a, 410, "Expired")
		if len(st.Details.Causes) != 1 || st.Details.Causes[0].Reason != "ResourceExpired" || !strings.Contains(st.Message, "ResourceExpired") {
			t.Error(a.Body)
		}
	}},
	{"I10", func(t *testing.T, s *testserver.Server) {
		a := s.Do("POST", "/api/v1/nodes", strings.Repeat(" ", 3<<20+1))
		if st := refusal(t, a, 413, "RequestEntityTooLarge"); st.Details != nil {
			t.Error(a.Body)
		}
	}},
	{"I11", func(t *testing.T, s *testserver.Server) {
		create(t, s, "Node", "", "i11")
		a := s.Do("PATCH", item("Node", "", "i11"), "{}", "Content-Type: application/json")
		if st := refusal(t, a, 415, "UnsupportedMediaType"); st.Details != nil {
			t.Error(a.Body)
		}
	}},
	{"I12", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		st := refusal(t, s.Do("POST", collection("StatefulSet", ns), minimal("StatefulSet", ns, "w", `{"spec":{"replicas":-1}}`)), 422, "Invalid")
		checkSubject(t, st, "apps", "StatefulSet", "w")
		if c := st.Details.Causes; len(c) != 1 || c[0].Reason != "FieldValueInvalid" || c[0].Field != "spec.replicas" ||
			!strings.HasPrefix(c[0].Message, "Invalid value: -1") {
			t.Errorf("causes %v", c)
		}
		st = refusal(t, s.Do("DELETE", item("StatefulSet", ns, "w")+"?propagationPolicy=Odd", ""), 422, "Invalid")
		if st.Details.Group != "meta.k8s.io" {
			t.Errorf("details %+v", st.Details)
		}
	}},
	{"I18", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		seen := map[string]bool{}
		for _, tc := range [][2]string{
			{"Pod", `{"spec":{"containers":null}}`}, {"StatefulSet", `{"spec":{"replicas":-1}}`}, {"Pod", `{"spec":{"restartPolicy":"Odd"}}`},
			{"Pod", `{"spec":{"containers":[{"name":"c","image":"i"},{"name":"c","image":"i"}]}}`},
			{"Pod", `{"spec":{"volumes":[{"name":"v","emptyDir":{},"hostPath":{"path":"/p"}}]}}`},
			{"ConfigMap", `{"metadata":{"annotations":{"k":"` + strings.Repeat("v", 256<<10) + `"}}}`},
			{"Pod", `{"spec":{"containers":[{"name":"c","image":"i","volumeMounts":[{"name":"none","mountPath":"/m"}]}]}}`},
		} {
			st := refusal(t, s.Do("POST", collection(tc[0], ns), minimal(tc[0], ns, "i18", tc[1])), 422, "Invalid")
			for _, c := range st.Details.Causes {
				seen[c.Reason] = true
			}
		}
		st := refusal(t, s.Do("GET", "/api/v1/nodes?timeout=10ms&resourceVersion=9999999999", ""), 504, "Timeout")
		for _, c := range st.Details.Causes {
			seen[c.Reason] = true
		}
		for _, reason := range []string{"Required", "Invalid", "NotSupported", "Duplicate", "Forbidden", "TooLong", "NotFound"} {
			if !seen["FieldValue"+reason] {
				t.Errorf("no cause FieldValue%s in %v", reason, seen)
			}
			delete(seen, "FieldValue"+reason)
		}
		if delete(seen, "ResourceVersionTooLarge"); len(seen) > 0 {
			t.Errorf("causes of other names: %v", seen)
		}
	}},
	{"I19", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		pods := collection("Pod", ns)
		expectInvalid(t, s.Do("POST", pods, minimal("Pod", ns, "p", `{"spec":{"containers":[{"image":"i"}]}}`)),
			"spec.containers[0].name", "FieldValueRequired", "Required value")
		expectInvalid(t, s.Do("POST", pods, minimal("Pod", ns, "p", `{"metadata":{"labels":{"-":"v"}}}`)),
			"metadata.labels", "FieldValueInvalid", `Invalid value: "-": `)
		expectInvalid(t, s.Do("POST", pods, minimal("Pod", ns, "p", `{"spec":{"restartPolicy":"Odd"}}`)),
			"spec.restartPolicy", "FieldValueNotSupported", `Unsupported value: "Odd": supported values: "Always", `, `"Never"`, `"OnFailure"`)
	}},
	{"I25", func(t *testing.T, s *testserver.Server) {
		expect(t, s.Do("GET", "/foo", ""), 404, "NotFound")
		expect(t, s.Do("POST", "/foo/bar", "{}"), 404, "NotFound")
		expect(t, s.Do("GET", "/foo", "", "Authorization: "), 401, "Unauthorized")
	}},
	{"I26", func(t *testing.T, s *testserver.Server) {
		body := ok(t, s.Do("GET", "/", ""))
		for _, path := range []string{"/api", "/api/v1", "/apis", "/apis/apps", "/apis/apps/v1beta2", "/oapi/v1", "/healthz", "/version"} {
			if !strings.Contains(get(t, body, "paths"), `"`+path+`"`) {
				t.Errorf("no %s in %s", path, body)
			}
		}
	}},
	{"I30", func(t *testing.T, s *testserver.Server) {
		a := s.Do("GET", "/api/v1/nodes/%3Cb%3E%26", "", "Authorization: Bearer "+s.IssueToken("<jane>"))
		m := refusal(t, a, 403, "Forbidden").Message
		if !strings.Contains(m, "&lt;b&gt;&amp;") || strings.ContainsAny(m, "<>") {
			t.Error(m)
		}
	}},
	{"I31 §7.3", func(t *testing.T, s *testserver.Server) {
		create(t, s, "Node", "", "i31")
		body := ok(t, s.Do("DELETE", "/api/v1/nodes/i31", ""))
		want(t, body, "kind", "Status", "apiVersion", "v1", "status", "Success", "reason", "", "metadata", "{}")
		st := refusal(t, s.Do("DELETE", "/api/v1/nodes/i31", ""), 404, "NotFound")
		if st.Message == "" || st.Details == nil {
			t.Errorf("a failure without message or details: %+v", st)
		}
		// §7.3: causes and retryAfterSeconds are members of details.
		a := s.Do("GET", "/api/v1/nodes?timeout=10ms&resourceVersion=9999999999", "")
		want(t, a.Body, "details.retryAfterSeconds", "1", "details.causes.0.reason", "ResourceVersionTooLarge")
	}},
	{"I33", func(t *testing.T, s *testserver.Server) {
		for _, tc := range []struct {
			client *http.Client
			major  int
		}{{s.Client, 2}, {s.NewHTTP1Client(), 1}} {
			resp, err := tc.client.Do(s.Request("GET", "/api/v1/nodes", ""))
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if resp.StatusCode != 200 || resp.ProtoMajor != tc.major {
				t.Errorf("%s %s, want HTTP/%d", resp.Proto, resp.Status, tc.major)
			}
		}
		req := s.Request("GET", "/api/v1/nodes", "")
		req.URL.Scheme = "http"
		if resp, err := s.NewHTTP1Client().Do(req); err == nil {
			body, _ := io.ReadAll(resp.Body)
			resp.Body.Close()
			if resp.StatusCode < 400 || strings.Contains(string(body), "NodeList") {
				t.Errorf("plain HTTP: %s %s", resp.Status, body)
			}
		}
	}},
	{"§7.1 §5.1", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		for _, k := range catalog() {
			name := rowName(k.kind, "x")
			all, one, watched := collection(k.kind, ns), item(k.kind, ns, name), watchPath(k.kind, ns)
			for _, op := range [][2]string{
				{"POST", all}, {"POST", collection(k.kind, "")}, {"GET", all}, {"GET", collection(k.kind, "")}, {"GET", one}, {"GET", watched},
				{"GET", watched + "/" + name}, {"GET", all + "?watch=true"}, {"PUT", one}, {"PATCH", one}, {"DELETE", one},
				{"DELETE", all}, {"GET", one + "/status"}, {"PUT", one + "/status"}, {"PATCH", one + "/status"}, {"PUT", one + "/finalize"},
			} {
				a := s.Do(op[0], op[1], "", "Authorization: ")
				if a.Code != 401 || a.Header.Get("Www-Authenticate") == "" {
					t.Errorf("%s %s: %d %s", op[0], op[1], a.Code, a.Body)
				}
			}
		}
	}},
	{"§7.4", func(t *testing.T, s *testserver.Server) {
		// What §7 leaves open is as rows I1-I17 say: whatever fails is a Status with the code of
		// the answer.
		for code, a := range map[int]testserver.Answer{
			400: s.Do("POST", "/api/v1/nodes", "{"), 403: s.Do("DELETE", "/api/v1/namespaces/default", ""),
			404: s.Do("GET", "/api/v1/nodes/none", ""), 405: s.Do("PUT", "/api/v1/nodes", "{}"),
			406: s.Do("GET", "/api/v1/nodes", "", "Accept: image/png"), 409: s.Do("POST", "/api/v1/namespaces", `{"metadata":{"name":"default"}}`),
			410: s.Do("GET", "/api/v1/nodes?continue=x", ""), 422: s.Do("POST", "/api/v1/nodes", "{}"),
		} {
			reason := get(t, a.Body, "reason")
			if st := refusal(t, a, code, reason); reason == "" || st.Message == "" {
				t.Error(a.Body)
			}
			if ct := a.Header.Get("Content-Type"); ct != "application/json" || a.Header.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("%d: %v", code, a.Header)
			}
		}
	}},
}

// plainDetails are details without causes.
type plainDetails struct {
	name, group, kind, uid string
	retry, causes          int
}

func (d *refusedDetails) plain() *plainDetails {
	return &plainDetails{d.Name, d.Group, d.Kind, d.UID, d.RetryAfterSeconds, len(d.Causes)}
}

// checkSubject expects what a refusal is about.
func checkSubject(t *testing.T, st refused, group, kind, name string) {
	t.Helper()
	if d := st.Details; d == nil || d.Group != group || d.Kind != kind || d.Name != name {
		t.Errorf("details %+v, want of %s %s %q", d, group, kind, name)
	}
}

// brokenObject puts bytes into a store that are no object.
func brokenObject(t *testing.T, s *testserver.Server, ns, name string) {
	t.Helper()
	_, err := s.Store.Create(t.Context(), raftstore.Create{
		Key: state.NewKey("configmaps", ns, name), Object: &state.Object{Value: []byte(`{"metadata":{"name":`)},
	})
	if err != nil {
		t.Fatal(fmt.Errorf("store a broken object: %w", err))
	}
}
