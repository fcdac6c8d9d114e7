package apiserver_test

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"quorate/apiserver/internal/testserver"
)

// reviewed is what an admission webhook is asked.
type reviewed struct {
	UID                                          string
	Kind, Resource, RequestKind, RequestResource map[string]string
	SubResource, Name, Namespace, Operation      string
	UserInfo                                     struct{ Username string }
	Object, OldObject                            map[string]any
	DryRun                                       bool
	Options                                      map[string]any
	gone                                         <-chan struct{} // closed when the server has given up
	apiVersion                                   string          // of the review
}

// admitter is an admission webhook. Its answers are those of fn, with the uid that was asked.
type admitter struct {
	*httptest.Server
	fn   func(r *reviewed) map[string]any
	text string // the fields of each answer in JSON, instead of fn, if encoding them takes long

	mu    sync.Mutex
	asked []*reviewed
}

func startAdmitter(t *testing.T, fn func(r *reviewed) map[string]any) *admitter {
	t.Helper()
	a := &admitter{fn: fn}
	a.Server = httptest.NewTLSServer(http.HandlerFunc(a.serve))
	t.Cleanup(a.Close)
	return a
}

func (a *admitter) serve(w http.ResponseWriter, r *http.Request) {
	var review struct {
		APIVersion string
		Request    *reviewed
	}
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	a.mu.Lock()
	a.asked = append(a.asked, review.Request)
	a.mu.Unlock()
	if a.text != "" {
		_, _ = fmt.Fprintf(w, `{"apiVersion":%q,"kind":"AdmissionReview","response":{"uid":%q,%s}}`, review.APIVersion, review.Request.UID, a.text)
		return
	}
	review.Request.gone, review.Request.apiVersion = r.Context().Done(), review.APIVersion
	answer := a.fn(review.Request)
	if answer == nil {
		answer = map[string]any{"allowed": true}
	}
	if answer["uid"] == nil {
		answer["uid"] = review.Request.UID
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"apiVersion": review.APIVersion, "kind": "AdmissionReview", "response": answer})
}

// take returns what was asked since the last call.
func (a *admitter) take() []*reviewed {
	a.mu.Lock()
	defer a.mu.Unlock()
	asked := a.asked
	a.asked = nil
	return asked
}

// patched returns the answer with a JSON patch.
func patched(operations string) map[string]any {
	return map[string]any{"allowed": true, "patchType": "JSONPatch", "patch": base64.StdEncoding.EncodeToString([]byte(operations))}
}

// webhook returns a webhook of a configuration. fields replaces the rules, which match everything
// of the core group, and adds others.
func (a *admitter) webhook(name string, fields map[string]any) map[string]any {
	hook := map[string]any{
		"name":         name,
		"clientConfig": map[string]any{"url": a.URL, "caBundle": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.Certificate().Raw})},
		"rules":        []any{ruleOf("*", "", "v1", "configmaps")}, "sideEffects": "None", "admissionReviewVersions": []string{"v1"},
	}
	for field, value := range fields {
		hook[field] = value
	}
	return hook
}

func ruleOf(operation, group, version, resource string) map[string]any {
	return map[string]any{"operations": []string{operation}, "apiGroups": []string{group}, "apiVersions": []string{version}, "resources": []string{resource}}
}

const (
	mutatingConfigurations   = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
	validatingConfigurations = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
	configMaps               = "/api/v1/namespaces/default/configmaps"
)

func configure(t *testing.T, s *testserver.Server, path, name string, webhooks ...map[string]any) {
	t.Helper()
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{"name": name}, "webhooks": webhooks})
	if err != nil {
		t.Fatal(err)
	}
	check(t, s.Do("POST", path, string(body)), want{code: 201})
}

func configMapOf(name, more string) string { return `{"metadata":{"name":"` + name + `"` + more + `}}` }

// TestAdmissionOfEveryWrite: webhooks see each way of writing an object, with what upstream tells
// them, and a patch takes effect in each.
func TestAdmissionOfEveryWrite(t *testing.T) {
	t.Parallel()
	a := startAdmitter(t, func(r *reviewed) map[string]any {
		if r.Object == nil {
			return nil
		}
		return patched(`[{"op":"add","path":"/data","value":{"by":"` + r.Operation + `"}}]`)
	})
	v := startAdmitter(t, func(*reviewed) map[string]any { return nil })
	s := testserver.Start(t, nil)
	configure(t, s, mutatingConfigurations, "m", a.webhook("m.example.com", nil))
	configure(t, s, validatingConfigurations, "v", v.webhook("v.example.com", nil))
	last := func(op, name string, object, old bool) {
		t.Helper()
		for hook, asked := range map[string][]*reviewed{"mutating": a.take(), "validating": v.take()} {
			if len(asked) != 1 {
				t.Fatalf("%s: %d calls", hook, len(asked))
			}
			r := asked[0]
			if r.Operation != op || r.Name != name || r.Namespace != "default" || (r.Object != nil) != object || (r.OldObject != nil) != old ||
				r.Resource["resource"] != "configmaps" || r.Kind["kind"] != "ConfigMap" || r.UserInfo.Username == "" || r.Options["kind"] == nil {
				t.Errorf("%s: %+v", hook, r)
			}
		}
	}
	check(t, s.Do("POST", configMaps, configMapOf("a", "")), want{code: 200, body: []string{`"by":"CREATE"`}})
	last("CREATE", "a", true, false)
	check(t, s.Do("POST", configMaps, `{"metadata":{"generateName":"g-"}}`), want{code: 200, body: []string{`"by":"CREATE"`, `"name":"g-`}})
	last("CREATE", "", true, false)
	check(t, s.Do("PUT", configMaps+"/a", configMapOf("a", "")), want{code: 200, body: []string{`"by":"UPDATE"`}})
	last("UPDATE", "a", true, true)
	check(t, patchAs(s, "merge", configMaps+"/a", `{"data":{"x":"y"}}`), want{code: 200, body: []string{`"data":{"by":"UPDATE"}`}})
	last("UPDATE", "a", true, true)
	check(t, s.Do("PATCH", configMaps+"/b?fieldManager=f", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b"}}`, "Content-Type: application/apply-patch+yaml"),
		want{code: 201, body: []string{`"by":"CREATE"`}})
	last("CREATE", "b", true, false)
	check(t, s.Do("PATCH", configMaps+"/b?fieldManager=f", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b","labels":{"l":"1"}}}`, "Content-Type: application/apply-patch+yaml"),
		want{code: 200, body: []string{`"by":"UPDATE"`}})
	last("UPDATE", "b", true, true)
	check(t, s.Do("POST", configMaps+"?dryRun=All", configMapOf("d", "")), want{code: 200, body: []string{`"by":"CREATE"`}})
	if r := v.take(); len(r) != 1 || !r[0].DryRun {
		t.Errorf("dry run: %+v", r)
	}
	a.take()
	check(t, s.Do("DELETE", configMaps+"/b", ""), want{code: 200})
	last("DELETE", "b", false, true)
	check(t, s.Do("DELETE", configMaps, ""), want{code: 200})
	if r := v.take(); len(r) != 2 || r[0].Name != "" || r[0].OldObject == nil {
		t.Errorf("delete of a collection: %+v", r)
	}
	a.take()
	check(t, s.Do("POST", "/api/v1/namespaces/default/secrets", configMapOf("a", "")), want{code: 200})
	check(t, s.Do("GET", configMaps, ""), want{code: 200})
	if n := len(a.take()) + len(v.take()); n != 0 {
		t.Errorf("%d calls about what no rule matches", n)
	}
}

// TestAdmissionRefusals: what a client gets if a webhook refuses, fails, or answers nonsense.
func TestAdmissionRefusals(t *testing.T) {
	t.Parallel()
	deny := func(status map[string]any) func(*reviewed) map[string]any {
		return func(*reviewed) map[string]any { return map[string]any{"allowed": false, "status": status} }
	}
	answer := func(a map[string]any) func(*reviewed) map[string]any {
		return func(*reviewed) map[string]any {
			out := map[string]any{}
			for k, v := range a {
				out[k] = v
			}
			return out
		}
	}
	hangs := func(r *reviewed) map[string]any { <-r.gone; return nil }
	const denied = `admission webhook \"h.example.com\" denied the request`
	for name, tc := range map[string]struct {
		fn     func(*reviewed) map[string]any
		fields map[string]any
		query  string
		code   int
		body   string
	}{
		"refused":                         {fn: deny(map[string]any{"message": "no", "code": 403, "reason": "Forbidden"}), code: 403, body: denied + `: no"`},
		"refused for nothing":             {fn: deny(nil), code: 400, body: denied + ` without explanation"`},
		"refused with 200":                {fn: deny(map[string]any{"reason": "Why", "code": 200}), code: 400, body: denied + `: Why"`},
		"other uid":                       {fn: answer(map[string]any{"uid": "x", "allowed": true}), code: 500, body: `failed calling webhook \"h.example.com\": received invalid webhook response: expected response.uid`},
		"other uid, ignored":              {fn: answer(map[string]any{"uid": "x", "allowed": false}), fields: map[string]any{"failurePolicy": "Ignore"}, code: 200},
		"refused, ignored":                {fn: deny(nil), fields: map[string]any{"failurePolicy": "Ignore"}, code: 400, body: denied},
		"unreachable":                     {fields: map[string]any{"clientConfig": map[string]any{"url": "https://127.0.0.1:1/"}}, code: 500, body: `Internal error occurred: failed calling webhook \"h.example.com\": failed to call webhook: Post`},
		"unreachable, ignored":            {fields: map[string]any{"clientConfig": map[string]any{"url": "https://127.0.0.1:1/"}, "failurePolicy": "Ignore"}, code: 200},
		"bad certificates":                {fields: map[string]any{"clientConfig": map[string]any{"url": "https://127.0.0.1:1/", "caBundle": "Cg=="}}, code: 500, body: "caBundle holds no certificate"},
		"name":                            {fn: answer(patched(`[{"op":"replace","path":"/metadata/name","value":"z"}]`)), code: 500, body: "changed metadata.name"},
		"namespace":                       {fn: answer(patched(`[{"op":"replace","path":"/metadata/namespace","value":"z"}]`)), code: 500, body: "changed metadata.namespace"},
		"uid":                             {fn: answer(patched(`[{"op":"add","path":"/metadata/uid","value":"z"}]`)), code: 500, body: "changed metadata.uid"},
		"kind":                            {fn: answer(patched(`[{"op":"replace","path":"/kind","value":"Pod"}]`)), code: 500, body: "returned a patch that does not apply"},
		"no such path":                    {fn: answer(patched(`[{"op":"remove","path":"/data/x/y"}]`)), code: 500, body: "returned a patch that does not apply"},
		"patch that fails is not ignored": {fn: answer(patched(`{}`)), fields: map[string]any{"failurePolicy": "Ignore"}, code: 500, body: "returned a patch that does not apply"},
		"patch without type":              {fn: answer(map[string]any{"allowed": true, "patch": "W10="}), code: 500, body: "response.patch but not response.patchType"},
		"invalid object":                  {fn: answer(patched(`[{"op":"add","path":"/metadata/labels","value":{"-":"x"}}]`)), code: 422, body: "metadata.labels"},
		"unknown field":                   {fn: answer(patched(`[{"op":"add","path":"/nothing","value":1}]`)), code: 200},
		"huge answer":                     {fn: answer(map[string]any{"allowed": true, "warnings": []string{strings.Repeat("x", 9<<20)}}), code: 500, body: "the answer is longer than allowed"},
		"hangs":                           {fn: hangs, fields: map[string]any{"timeoutSeconds": 1}, code: 500, body: "did not answer in time"},
		"hangs beyond the request":        {fn: hangs, fields: map[string]any{"failurePolicy": "Ignore"}, query: "?timeout=1s", code: 504},
		"dry run":                         {fn: answer(map[string]any{"allowed": true}), query: "?dryRun=All", code: 200},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fn := tc.fn
			if fn == nil {
				fn = func(*reviewed) map[string]any { return nil }
			}
			a := startAdmitter(t, fn)
			s := testserver.Start(t, nil)
			configure(t, s, mutatingConfigurations, "c", a.webhook("h.example.com", tc.fields))
			got := want{code: tc.code}
			if tc.body != "" {
				got.body = []string{tc.body}
			}
			check(t, s.Do("POST", configMaps+tc.query, configMapOf("a", "")), got)
			if tc.code == 200 {
				return
			}
			check(t, s.Do("GET", configMaps+"/a", ""), want{code: 404})
		})
	}
}

// TestAdmissionOrder: mutating webhooks are called in the order of their configurations' names, one
// again after a change by a later one, and before validating ones.
func TestAdmissionOrder(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var order []string
	note := func(name, operations string) func(*reviewed) map[string]any {
		return func(r *reviewed) map[string]any {
			mu.Lock()
			defer mu.Unlock()
			data, _ := r.Object["data"].(map[string]any)
			order = append(order, fmt.Sprint(name, len(data)))
			if operations == "" || len(data) > 0 {
				return nil
			}
			return patched(operations)
		}
	}
	add := func(name string) string { return `[{"op":"add","path":"/data","value":{"` + name + `":"1"}}]` }
	s := testserver.Start(t, nil)
	again := map[string]any{"reinvocationPolicy": "IfNeeded"}
	configure(t, s, validatingConfigurations, "a", startAdmitter(t, note("v", "")).webhook("v.example.com", nil))
	configure(t, s, mutatingConfigurations, "z", startAdmitter(t, note("z", add("z"))).webhook("z.example.com", again))
	configure(t, s, mutatingConfigurations, "b", startAdmitter(t, note("b", "")).webhook("b.example.com", again), startAdmitter(t, note("c", "")).webhook("c.example.com", nil))
	check(t, s.Do("POST", configMaps, configMapOf("a", "")), want{code: 200})
	if got := strings.Join(order, " "); got != "b0 c0 z0 b1 v1" {
		t.Errorf("order %s", got)
	}
}

// TestAdmissionMatching: aliases, subresources, scopes and configurations themselves.
func TestAdmissionMatching(t *testing.T) {
	t.Parallel()
	a := startAdmitter(t, func(*reviewed) map[string]any { return nil })
	s := testserver.Start(t, nil)
	all := []any{ruleOf("*", "*", "*", "*/*")}
	configure(t, s, validatingConfigurations, "all", a.webhook("all.example.com", map[string]any{"rules": all, "failurePolicy": "Ignore"}))
	check(t, s.Do("DELETE", validatingConfigurations+"/all", ""), want{code: 200})
	if n := len(a.take()); n != 0 {
		t.Errorf("%d calls about a configuration", n)
	}
	role := `{"metadata":{"name":"r"},"rules":[]}`
	const roles = "/apis/rbac.authorization.platform.io/v1/namespaces/default/roles"
	for policy, n := range map[string]int{"Equivalent": 1, "Exact": 0} {
		configure(t, s, validatingConfigurations, "c", a.webhook("r.example.com", map[string]any{
			"rules": []any{ruleOf("CREATE", "rbac.authorization.k8s.io", "v1", "roles")}, "matchPolicy": policy,
		}))
		path := roles
		if r := s.Do("POST", path, role); r.Code != 200 && r.Code != 201 {
			path = "/apis/rbac.authorization.platform.io/v1beta1/namespaces/default/roles"
			if r := s.Do("POST", path, role); r.Code != 200 && r.Code != 201 {
				t.Fatalf("%d %s", r.Code, r.Body)
			}
		}
		asked := a.take()
		if len(asked) != n {
			t.Fatalf("%s: %d calls", policy, len(asked))
		}
		if n == 1 && (asked[0].Kind["group"] != "rbac.authorization.k8s.io" || asked[0].RequestKind["group"] != "rbac.authorization.platform.io" ||
			asked[0].Object["apiVersion"] != "rbac.authorization.k8s.io/v1") {
			t.Errorf("%+v", asked[0])
		}
		check(t, s.Do("DELETE", path+"/r", ""), want{code: 200})
		check(t, s.Do("DELETE", validatingConfigurations+"/c", ""), want{code: 200})
	}
	configure(t, s, validatingConfigurations, "scale", a.webhook("s.example.com", map[string]any{"rules": []any{ruleOf("UPDATE", "apps", "v1", "deployments/scale")}}))
	deployment := `{"metadata":{"name":"d"},"spec":{"replicas":1,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`
	const deployments = "/apis/apps/v1/namespaces/default/deployments"
	check(t, s.Do("POST", deployments, deployment), want{code: 201})
	check(t, patchAs(s, "merge", deployments+"/d/scale", `{"spec":{"replicas":3}}`), want{code: 200})
	if r := a.take(); len(r) != 1 || r[0].Kind["kind"] != "Scale" || r[0].SubResource != "scale" || fmt.Sprint(r[0].Object["spec"]) != "map[replicas:3]" || fmt.Sprint(r[0].OldObject["spec"]) != "map[replicas:1]" {
		t.Errorf("scale: %+v", r)
	}
}
