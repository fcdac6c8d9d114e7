package apiserver_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quorate/apiserver"
	"quorate/apiserver/access/auth"
	"quorate/apiserver/internal/testserver"
)

func TestAuthentication(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "tokens")
	tokens := "# a comment\nstatic-token,jane,u1,\"system:masters,devs\"\nplain-token,joe,u2\n"
	if err := os.WriteFile(file, []byte(tokens), 0o600); err != nil {
		t.Fatal(err)
	}
	s := testserver.Start(t, func(cfg *apiserver.Config) { cfg.TokenFile = file })
	other, err := auth.NewIssuer([]byte("another key")).Issue(auth.Identity{Name: "admin", Groups: []string{auth.MastersGroup}}, 1e12)
	if err != nil {
		t.Fatal(err)
	}
	unauthorized := want{401, "Unauthorized", "Unauthorized", nil}
	for _, tc := range []struct {
		row, path, authorization string
		want                     want
	}{
		{"J1 none", "/api/v1/pods", "", unauthorized},
		{"J2 unknown", "/api/v1/pods", "Bearer x", unauthorized},
		{"J2 wrong scheme", "/api/v1/pods", "Basic " + s.Token, unauthorized},
		{"J9 another key", "/api/v1/pods", "Bearer " + other, unauthorized},
		{"J9 no signature", "/api/v1/pods", "Bearer eyJhbGciOiJub25lIn0.eyJpc3MiOiJxdW9yYXRlIiwic3ViIjoiYWRtaW4iLCJleHAiOjk5OTk5OTk5OTl9.", unauthorized},
		{"A61 before 404", "/nope", "", unauthorized},
		{"Z13 discovery", "/api", "", unauthorized},
		{"Z13 version is open", "/version", "", want{code: 200, body: []string{`"gitVersion":"v1.8.0`}}},
		{"J3 scheme in any case", "/api/v1/pods", "bearer   " + s.Token + " ", want{code: 200}},
		{"J7 static token", "/api/v1/pods", "Bearer static-token", want{code: 200}},
		{"J26 not a master", "/api/v1/namespaces/a/pods/p", "Bearer plain-token", want{403, "Forbidden", `pods "p" is forbidden: User "joe" cannot get resource "pods" in API group "" in the namespace "a"`, nil}},
		{"J26 cluster scope", "/api/v1/pods", "Bearer plain-token", want{403, "Forbidden", `pods is forbidden: User "joe" cannot list resource "pods" in API group "" at the cluster scope`, nil}},
		{"J13 watch", "/api/v1/pods?watch=1", "Bearer plain-token", want{403, "Forbidden", "cannot watch resource", nil}},
		{"J16 a namespace is in itself", "/api/v1/namespaces/n", "Bearer plain-token", want{403, "Forbidden", `in the namespace "n"`, nil}},
		{"J26 path", "/metrics", "Bearer plain-token", want{403, "Forbidden", `forbidden: User "joe" cannot get path "/metrics"`, nil}},
		{"L20 discovery for all", "/apis", "Bearer plain-token", want{code: 200}},
		{"metrics for masters", "/metrics", "Bearer static-token", want{code: 200, body: []string{"quorate_apiserver_requests_total"}}},
	} {
		t.Run(tc.row, func(t *testing.T) {
			t.Parallel()
			got := s.Do("GET", tc.path, "", "Authorization: "+tc.authorization)
			check(t, got, tc.want)
			if tc.want.code == 401 && got.Header.Get("Www-Authenticate") != `Bearer realm="platform"` {
				t.Errorf("J1: %v", got.Header)
			}
		})
	}
	t.Run("J12 impersonation", func(t *testing.T) {
		t.Parallel()
		check(t, s.Do("GET", "/api/v1/pods", "", "Impersonate-User: jane"), want{403, "Forbidden", `User "jane" cannot list`, nil})
		check(t, s.Do("GET", "/api/v1/pods", "", "Impersonate-User: jane", "Authorization: Bearer plain-token"),
			want{403, "Forbidden", `users "jane" is forbidden: User "joe" cannot impersonate resource "users"`, nil})
	})
	t.Run("A6 a cluster-wide create is authorized in its namespace", func(t *testing.T) {
		t.Parallel()
		check(t, s.Do("POST", "/api/v1/configmaps", `{"metadata":{"name":"x","namespace":"b"}}`, "Authorization: Bearer plain-token"),
			want{403, "Forbidden", `cannot create resource "configmaps" in API group "" in the namespace "b"`, nil})
	})
	t.Run("I30 markup in a path", func(t *testing.T) {
		t.Parallel()
		check(t, s.Do("GET", "/api/v1/namespaces/a/pods/%3Cb%3E", "", "Authorization: Bearer plain-token"), want{403, "Forbidden", "&lt;b&gt;", nil})
	})
}

func TestDiscovery(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, func(cfg *apiserver.Config) { cfg.AdvertiseAddr = "api.example:6443" })
	for _, tc := range []struct {
		row, method, path string
		want              want
	}{
		{"I26 paths", "GET", "/", want{code: 200, body: []string{`{"paths":["/api","/api/v1","/apis",`, `"/version"]}`}}},
		{"L1", "GET", "/api", want{code: 200, body: []string{`{"kind":"APIVersions","versions":["v1"],"serverAddressByClientCIDRs":[{"clientCIDR":"0.0.0.0/0","serverAddress":"api.example:6443"}]}`}}},
		{"L2", "GET", "/apis", want{code: 200, body: []string{`{"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"apps","versions":[{"groupVersion":"apps/v1beta2","version":"v1beta2"}`, `"preferredVersion":{"groupVersion":"apps/v1beta2","version":"v1beta2"}}`}}},
		{"L3", "GET", "/apis/batch", want{code: 200, body: []string{`{"kind":"APIGroup","apiVersion":"v1","name":"batch"`}}},
		{"L3 unknown group", "GET", "/apis/nope", want{404, "NotFound", "", nil}},
		{"L4 L5", "GET", "/api/v1", want{code: 200, body: []string{`{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"v1","resources":[{"name":"configmaps","singularName":"configmap","namespaced":true,"kind":"ConfigMap","verbs":["create","delete","deletecollection","get","list","patch","update","watch"],"shortNames":["cm"],"storageVersionHash":`}}},
		{"L6", "GET", "/oapi/v1", want{code: 200, body: []string{`"groupVersion":"v1","resources":[{"name":"clusterrolebindings","singularName":"clusterrolebinding","namespaced":false,"kind":"ClusterRoleBinding","verbs":["create","delete","get","list","patch","update"],"storageVersionHash":`, `"hostsubnets"`}}},
		{"L7 preferred", "GET", "/apis/rbac.authorization.platform.io", want{code: 200, body: []string{`"preferredVersion":{"groupVersion":"rbac.authorization.platform.io/v1","version":"v1"}`}}},
		{"L18", "GET", "/openapi/v2", want{code: 200, body: []string{`"swagger":"2.0"`}}},
		{"L21", "POST", "/api", want{405, "MethodNotAllowed", "", nil}},
		{"L15", "GET", "/openapi/v3", want{code: 200, body: []string{`"api/v1":{"serverRelativeURL":"/openapi/v3/api/v1?hash=`}}},
	} {
		t.Run(tc.row, func(t *testing.T) {
			t.Parallel()
			check(t, s.Do(tc.method, tc.path, ""), tc.want)
		})
	}
	t.Run("L16 what kubectl looks up", func(t *testing.T) {
		t.Parallel()
		index := s.Do("GET", "/openapi/v3", "").Body
		for _, gv := range []string{"api/v1", "apis/apps/v1beta2", "oapi/v1"} {
			_, url, ok := strings.Cut(index, `"`+gv+`":{"serverRelativeURL":"`)
			url, _, _ = strings.Cut(url, `"`)
			if !ok {
				t.Fatalf("%s is not in %s", gv, index)
			}
			check(t, s.Do("GET", url, ""), want{code: 200, body: []string{`"openapi":"3.0.0"`, `"patch":{`, `"name":"fieldValidation"`}})
		}
	})
}

func TestHealth(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	for _, tc := range []struct{ row, path, body string }{
		{"L13", "/healthz", "ok"},
		{"L14 liveness", "/livez", "ok"},
		{"L13 verbose", "/readyz?verbose", "[+]ping ok\n[+]store ok\n[+]third-party-resources ok\n[+]roles ok\n[+]shutdown ok\nreadyz check passed\n"},
		{"L13 excluded", "/readyz?verbose&exclude=store", "[+]ping ok\n[+]store excluded: ok\n[+]third-party-resources ok\n[+]roles ok\n[+]shutdown ok\nreadyz check passed\n"},
		{"L13 one check", "/readyz/store", "ok"},
	} {
		t.Run(tc.row, func(t *testing.T) {
			t.Parallel()
			if got := s.Do("GET", tc.path, "", "Authorization: "); got.Code != 200 || got.Body != tc.body {
				t.Errorf("code %d: %q", got.Code, got.Body)
			}
		})
	}
	t.Run("L13 unknown check", func(t *testing.T) {
		t.Parallel()
		check(t, s.Do("GET", "/readyz/nope", ""), want{404, "NotFound", "", nil})
	})
}

func TestLimits(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, func(cfg *apiserver.Config) { cfg.Limits.Watches = 1 })
	open(t, s, "/api/v1/configmaps?watch=1&resourceVersion=0")
	got := s.Do("GET", "/api/v1/configmaps?watch=1&resourceVersion=0", "")
	check(t, got, want{429, "TooManyRequests", "", []string{`"retryAfterSeconds":1`}})
	if got.Header.Get("Retry-After") != "1" {
		t.Errorf("I20: %v", got.Header)
	}
	check(t, s.Do("GET", "/api/v1/configmaps", ""), want{code: 200})
}

// TestHealthIsExempt fills the bound on reads with one that takes long: probes are answered all the
// same, or an orchestrator would restart a node because it is busy.
func TestHealthIsExempt(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, func(cfg *apiserver.Config) { cfg.Limits.Reads = 1 })
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if resp, err := s.Client.Do(s.Request("GET", "/debug/pprof/goroutine?seconds=50", "").WithContext(ctx)); err == nil {
			_ = resp.Body.Close() // it did not take as long as it should; the last check below tells
		}
	}()
	defer func() { cancel(); <-ended }()
	s.Eventually("reads are refused", func() bool { return s.Do("GET", "/api/v1/configmaps", "").Code == 429 })
	for _, path := range []string{"/livez", "/readyz", "/healthz", "/livez/ping", "/readyz/store"} {
		if got := s.Do("GET", path, ""); got.Code != 200 {
			t.Errorf("%s while reads are refused: %d %s", path, got.Code, got.Body)
		}
	}
	check(t, s.Do("GET", "/api/v1/configmaps", ""), want{code: 429})
}

func TestBodyBudget(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, func(cfg *apiserver.Config) { cfg.Limits.BodyBytes = 64 << 10 })
	body := `{"metadata":{"name":"x"},"data":{"k":"` + strings.Repeat("x", 100<<10) + `"}}`
	check(t, s.Do("POST", "/api/v1/namespaces/default/configmaps", body), want{429, "TooManyRequests", "", nil})
	check(t, s.Do("POST", "/api/v1/namespaces/default/configmaps", configMap("small")), want{code: 200})
}

func TestAudit(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	s := testserver.Start(t, func(cfg *apiserver.Config) { cfg.AuditLogger = slog.New(slog.NewTextHandler(&log, nil)) })
	check(t, s.Do("GET", "/api/v1/namespaces/default/configmaps/x?secret=1", ""), want{code: 404})
	check(t, s.Do("GET", "/api/v1/namespaces/default", ""), want{code: 200})
	check(t, s.Do("POST", "/api/v1/namespaces/default/configmaps", configMap("x")), want{code: 200})
	check(t, s.Do("DELETE", "/api/v1/namespaces/default/configmaps/x", "", "Impersonate-User: jane"), want{code: 403})
	check(t, s.Do("DELETE", "/api/v1/namespaces/default/configmaps/x", "", "Impersonate-User: admin", "Impersonate-Group: system:masters"), want{code: 200})
	s.Stop()
	text := log.String()
	for _, part := range []string{"path=/api/v1/namespaces/default/configmaps/x", "verb=create", "user=admin", "code=200", "user=admin as=jane groups=[system:authenticated] verb=delete",
		`user=admin as=admin groups="[system:masters system:authenticated]" verb=delete`} {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in %s", part, text)
		}
	}
	if strings.Contains(text, "secret") || strings.Contains(text, s.Token) || strings.Contains(text, "path=/api/v1/namespaces/default ") {
		t.Errorf("too much in %s", text)
	}
}
