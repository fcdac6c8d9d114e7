package apiserver_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"quorate/apiserver"
	"quorate/apiserver/access/audit"
	"quorate/apiserver/internal/testserver"
)

// events is what was recorded. It is safe for concurrent use.
type events struct {
	mu   sync.Mutex
	text bytes.Buffer // guarded by mu
}

func (e *events) Write(p []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.text.Write(p)
}

func (e *events) String() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.text.String()
}

// event is the part of an event that tests look at.
type event struct {
	Level, Stage, RequestURI, Verb, UserAgent string
	User, ImpersonatedUser                    struct{ Username string }
	SourceIPs                                 []string
	ObjectRef                                 struct{ Resource, Subresource, Namespace, Name, APIGroup string }
	ResponseStatus                            struct {
		Code            int
		Message, Reason string
	}
	RequestObject, ResponseObject json.RawMessage
	Annotations                   map[string]string
}

// short is an event as one line.
func (e *event) short() string {
	ref := e.ObjectRef
	return strings.Join(strings.Fields(fmt.Sprintln(e.Level, e.Stage, e.User.Username, e.ImpersonatedUser.Username, e.Verb, ref.Namespace, ref.Resource,
		ref.Subresource, ref.Name, e.ResponseStatus.Code, e.Annotations["authorization.k8s.io/decision"])), " ")
}

// find returns the events whose URI contains a text.
func (e *events) find(t *testing.T, uri string) (found []event) {
	t.Helper()
	for line := range strings.Lines(e.String()) {
		var v event
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if strings.Contains(v.RequestURI, uri) {
			found = append(found, v)
		}
	}
	return found
}

func audited(t testing.TB, rules string) (*testserver.Server, *events) {
	t.Helper()
	policy, err := audit.ParsePolicy([]byte("apiVersion: audit.k8s.io/v1\nkind: Policy\n" + rules))
	if err != nil {
		t.Fatal(err)
	}
	out := &events{}
	return testserver.Start(t, func(cfg *apiserver.Config) { cfg.AuditPolicy, cfg.AuditSinks = policy, []io.Writer{out} }), out
}

// TestAuditEvents: each kind of request has its events, with the users, the object and the outcome.
func TestAuditEvents(t *testing.T) {
	t.Parallel()
	s, out := audited(t, `
rules:
- {level: None, nonResourceURLs: ["/readyz*"]}
- {level: Metadata}
`)
	jane := "Authorization: Bearer " + s.IssueToken("jane")
	const maps = "/api/v1/namespaces/default/configmaps"
	for _, c := range []struct {
		name, method, path, body string
		headers                  []string
		want                     []string
	}{
		{"create", "POST", maps + "?audit=create", configMap("a"), nil, []string{
			"Metadata RequestReceived admin create default configmaps 0", "Metadata ResponseComplete admin create default configmaps a 200 allow"}},
		{"get", "GET", maps + "/a?audit=get", "", nil, []string{
			"Metadata RequestReceived admin get default configmaps a 0", "Metadata ResponseComplete admin get default configmaps a 200 allow"}},
		{"not found", "GET", maps + "/b?audit=missing", "", nil, []string{
			"Metadata RequestReceived admin get default configmaps b 0", "Metadata ResponseComplete admin get default configmaps b 404 allow"}},
		{"one by field", "GET", maps + "?audit=field&fieldSelector=metadata.name%3Da", "", nil, []string{
			"Metadata RequestReceived admin list default configmaps a 0", "Metadata ResponseComplete admin list default configmaps a 200 allow"}},
		{"forbidden", "GET", maps + "/a?audit=forbidden", "", []string{jane}, []string{
			"Metadata RequestReceived jane get default configmaps a 0", "Metadata ResponseComplete jane get default configmaps a 403 forbid"}},
		{"impersonated", "GET", maps + "/a?audit=as", "", []string{"Impersonate-User: joe"}, []string{
			"Metadata RequestReceived admin joe get default configmaps a 0", "Metadata ResponseComplete admin joe get default configmaps a 403 forbid"}},
		{"impersonation refused", "GET", maps + "/a?audit=noas", "", []string{jane, "Impersonate-User: joe"}, []string{
			"Metadata ResponseComplete jane get default configmaps a 403 forbid"}},
		{"wrong token", "GET", maps + "/a?audit=wrong", "", []string{"Authorization: Bearer x"}, []string{
			"Metadata ResponseComplete get default configmaps a 401"}},
		{"no route", "GET", "/nothing?audit=noroute", "", nil, []string{"Metadata ResponseComplete admin get 404"}},
		{"method", "PUT", maps + "?audit=method", "", nil, []string{"Metadata ResponseComplete admin put 405"}},
		{"path", "GET", "/version?audit=path", "", nil, []string{"Metadata RequestReceived get 0", "Metadata ResponseComplete get 200"}},
		{"namespace", "GET", "/api/v1/namespaces/default?audit=ns", "", nil, []string{
			"Metadata RequestReceived admin get default namespaces default 0", "Metadata ResponseComplete admin get default namespaces default 200 allow"}},
		{"subresource", "GET", "/apis/apps/v1/namespaces/default/statefulsets/x/scale?audit=sub", "", nil, []string{
			"Metadata RequestReceived admin get default statefulsets scale x 0", "Metadata ResponseComplete admin get default statefulsets scale x 404 allow"}},
		{"collection", "DELETE", maps + "?audit=collection", "", nil, []string{
			"Metadata RequestReceived admin deletecollection default configmaps 0", "Metadata ResponseComplete admin deletecollection default configmaps 200 allow"}},
	} {
		answer := s.Do(c.method, c.path, c.body, c.headers...)
		_, mark, _ := strings.Cut(c.path, "audit=")
		mark, _, _ = strings.Cut(mark, "&")
		var found []event
		s.Eventually("the events are there", func() bool {
			found = out.find(t, "audit="+mark)
			return len(found) >= len(c.want)
		})
		var got []string
		for i := range found {
			got = append(got, found[i].short())
			if len(found[i].SourceIPs) != 1 || found[i].SourceIPs[0] != "127.0.0.1" || found[i].RequestObject != nil || found[i].ResponseObject != nil {
				t.Errorf("%s: %+v", c.name, found[i])
			}
		}
		if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if id := answer.Header.Get("Audit-Id"); !strings.Contains(out.String(), `"auditID":"`+id+`"`) {
			t.Errorf("%s: no event has the Audit-Id %s", c.name, id)
		}
	}
	if found := out.find(t, "/readyz"); len(found) > 0 {
		t.Errorf("level None: %d events", len(found))
	}
}

// TestAuditLevels: a level has the objects that it names, as JSON whatever the client speaks, and
// long ones are left out with a mark.
func TestAuditLevels(t *testing.T) {
	t.Parallel()
	s, out := audited(t, `
omitStages: [RequestReceived]
rules:
- {level: None, userGroups: [none]}
- {level: Request, namespaces: [default], resources: [{group: "", resources: [configmaps]}], verbs: [create, delete]}
- {level: RequestResponse, namespaces: [default], resources: [{group: "", resources: [configmaps]}]}
- {level: Metadata}
`)
	const maps = "/api/v1/namespaces/default/configmaps"
	const protobuf = "Accept: application/vnd.kubernetes.protobuf"
	for _, c := range []struct {
		mark, method, path, body string
		headers                  []string
		request, response        string // parts of what is recorded; empty: nothing is
	}{
		{"json", "POST", maps, `{"metadata":{"name":"a"},"data":{"k":"sent"}}`, nil, `"k":"sent"`, ""},
		{"yaml", "POST", maps, "metadata:\n  name: b\ndata:\n  k: sent\n", []string{"Content-Type: application/yaml"}, `"k":"sent"`, ""},
		{"get", "GET", maps + "/a", "", nil, "", `"k":"sent"`},
		{"getbinary", "GET", maps + "/a", "", []string{protobuf}, "", `"k":"sent"`},
		{"missing", "GET", maps + "/none", "", nil, "", `"reason":"NotFound"`},
		{"patch", "PATCH", maps + "/a", `{"data":{"k":"patched"}}`, []string{"Content-Type: application/merge-patch+json"}, `{"data":{"k":"patched"}}`, `"k":"patched"`},
		{"list", "GET", maps, "", nil, "", `"items":[{`},
		{"listbinary", "GET", maps, "", []string{protobuf}, "", `"items":[{`},
		{"table", "GET", maps, "", []string{"Accept: application/json;as=Table;g=meta.k8s.io;v=v1"}, "", `"rows":[`},
		{"delete", "DELETE", maps + "/b", `{"gracePeriodSeconds":0}`, nil, `"gracePeriodSeconds":0`, ""},
		{"bad", "POST", maps, `{"kind":"Secret","metadata":{"name":"x"},"data":{"k":"dG9w"}}`, nil, "", ""},
	} {
		sep := "?"
		s.Do(c.method, c.path+sep+"audit="+c.mark+".", c.body, c.headers...)
		var found []event
		s.Eventually("the event is there", func() bool {
			found = out.find(t, "audit="+c.mark+".")
			return len(found) == 1
		})
		for what, pair := range map[string][2]string{
			"request": {string(found[0].RequestObject), c.request}, "response": {string(found[0].ResponseObject), c.response},
		} {
			if got, want := pair[0], pair[1]; !strings.Contains(got, want) || (want == "") != (got == "") {
				t.Errorf("%s: the %s is %s, want %s", c.mark, what, got, want)
			}
		}
	}
	for i := range 30 {
		s.Do("POST", maps, fmt.Sprintf(`{"metadata":{"name":"big-%d"},"data":{"k":%q}}`, i, strings.Repeat("x", 4000)))
	}
	s.Do("GET", maps+"?audit=long.", "")
	var found []event
	s.Eventually("the event of a long list is there", func() bool {
		found = out.find(t, "audit=long.")
		return len(found) == 1
	})
	if found[0].ResponseObject != nil || found[0].Annotations["audit.k8s.io/truncated"] != "true" {
		t.Errorf("a long list: %d bytes, %v", len(found[0].ResponseObject), found[0].Annotations)
	}
}

// TestAuditWatch: a watch has an event when it starts, one when it ends, and none of its objects.
func TestAuditWatch(t *testing.T) {
	t.Parallel()
	s, out := audited(t, "rules: [{level: RequestResponse}]")
	check(t, s.Do("POST", "/api/v1/namespaces/default/configmaps", configMap("a")), want{code: 200})
	s.Do("GET", "/api/v1/namespaces/default/configmaps?watch=1&audit=watch&timeoutSeconds=1&resourceVersion=0", "")
	var got []string
	s.Eventually("the watch has ended", func() bool {
		got = nil
		for _, e := range out.find(t, "audit=watch") {
			got = append(got, e.short())
			if e.ResponseObject != nil {
				t.Errorf("an object: %s", e.ResponseObject)
			}
		}
		return len(got) == 3
	})
	want := []string{
		"RequestResponse RequestReceived admin watch default configmaps 0", "RequestResponse ResponseStarted admin watch default configmaps 200 allow",
		"RequestResponse ResponseComplete admin watch default configmaps 200 allow",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%q", got)
	}
}

// TestAuditHasNoSecrets: at the highest level nothing of Secrets and tokens is recorded, whichever
// request they come with, nor anything of a Secret that is sent to the wrong place.
func TestAuditHasNoSecrets(t *testing.T) {
	t.Parallel()
	s, out := audited(t, "rules: [{level: RequestResponse}]")
	const plain = "topsecret"
	hidden := base64.StdEncoding.EncodeToString([]byte(plain))
	const secrets = "/api/v1/namespaces/default/secrets"
	object := fmt.Sprintf(`{"kind":"Secret","apiVersion":"v1","metadata":{"name":"s"},"data":{"k":%q}}`, hidden)
	merge := "Content-Type: application/merge-patch+json"
	requests := 0
	send := func(method, path, body string, headers ...string) {
		t.Helper()
		if answer := s.Do(method, path, body, headers...); answer.Code >= 500 {
			t.Errorf("%s %s: %d %s", method, path, answer.Code, answer.Body)
		}
		requests++
	}
	send("POST", secrets, object)
	send("POST", secrets, object) // conflicts
	send("POST", secrets, strings.Replace(object, `"k"`, `"not a key `+plain+`"`, 1))
	send("POST", secrets, strings.Replace(object, hidden, "%"+plain, 1))
	send("PUT", secrets+"/s", strings.Replace(object, `"data"`, fmt.Sprintf(`"stringData":{"x":%q},"data"`, plain), 1))
	send("PATCH", secrets+"/s", fmt.Sprintf(`{"stringData":{"y":%q}}`, plain), merge)
	send("PATCH", secrets+"/s", fmt.Sprintf(`{"data":{"y":[%q]}}`, plain), merge)
	send("PATCH", secrets+"/s", fmt.Sprintf(`[{"op":"test","path":"/data/k","value":%q}]`, plain), "Content-Type: application/json-patch+json")
	send("GET", secrets+"/s", "")
	send("GET", secrets, "")
	send("GET", "/api/v1/secrets", "", "Accept: application/vnd.kubernetes.protobuf")
	send("GET", secrets, "", "Accept: application/json;as=Table;g=meta.k8s.io;v=v1")
	send("GET", secrets+"?watch=1&resourceVersion=0&timeoutSeconds=1", "")
	send("DELETE", secrets+"/s", "")
	send("POST", "/api/v1/namespaces/default/configmaps", object)
	send("POST", "/apis/authentication.k8s.io/v1/tokenreviews", fmt.Sprintf(`{"spec":{"token":%q}}`, plain))
	send("POST", "/apis/oauth.platform.io/v1/oauthclients", fmt.Sprintf(`{"metadata":{"name":"c"},"secret":%q}`, plain))
	send("GET", "/apis/oauth.platform.io/v1/oauthclients", "")
	send("POST", "/api/v1/namespaces/default/serviceaccounts/default/token", fmt.Sprintf(`{"spec":{"audiences":[%q]}}`, plain))
	s.Eventually("all events are there", func() bool {
		complete := 0
		for _, e := range out.find(t, "") {
			if e.Stage == "ResponseComplete" && (strings.Contains(e.RequestURI, "secrets") || strings.Contains(e.RequestURI, "oauth") ||
				strings.Contains(e.RequestURI, "token") || strings.Contains(e.RequestURI, "configmaps")) {
				complete++
			}
		}
		return complete >= requests
	})
	for line := range strings.Lines(out.String()) {
		if strings.Contains(line, plain) || strings.Contains(line, hidden) || strings.Contains(line, s.Token) {
			t.Errorf("a secret is recorded: %s", line)
		}
	}
}
