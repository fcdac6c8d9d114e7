package specification

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"quorate/apiserver"
	"quorate/apiserver/internal/testserver"
)

// discoveryRows prove what clients learn about the server (L1–L21).
var discoveryRows = []row{
	{"L1", func(t *testing.T, s *testserver.Server) {
		want(t, ok(t, s.Do("GET", "/api", "")), "kind", "APIVersions", "versions", `["v1"]`,
			"serverAddressByClientCIDRs.0.clientCIDR", "0.0.0.0/0", "serverAddressByClientCIDRs.0.serverAddress", "127.0.0.1:0")
	}},
	{"L2 L3", func(t *testing.T, s *testserver.Server) {
		list := ok(t, s.Do("GET", "/apis", ""))
		want(t, list, "kind", "APIGroupList", "apiVersion", "v1", "groups.2.name", "apps",
			"groups.2.versions.0", `{"groupVersion":"apps/v1","version":"v1"}`,
			"groups.2.versions.1", `{"groupVersion":"apps/v1beta2","version":"v1beta2"}`, "groups.2.preferredVersion.version", "v1")
		found := map[string]bool{}
		for i := 0; get(t, list, fmt.Sprintf("groups.%d.name", i)) != ""; i++ {
			name := get(t, list, fmt.Sprintf("groups.%d.name", i))
			found[name] = true
			group := ok(t, s.Do("GET", "/apis/"+name, ""))
			want(t, group, "kind", "APIGroup", "apiVersion", "v1", "name", name,
				"versions", get(t, list, fmt.Sprintf("groups.%d.versions", i)), "preferredVersion", get(t, list, fmt.Sprintf("groups.%d.preferredVersion", i)))
		}
		for _, k := range catalog() {
			if k.group() != "" && !found[k.group()] {
				t.Errorf("%s is not listed: %s", k.group(), list)
			}
		}
		expect(t, s.Do("GET", "/apis/none", ""), 404, "NotFound")
		expect(t, s.Do("GET", "/apis/none.example.com", ""), 404, "NotFound")
	}},
	{"L4", func(t *testing.T, s *testserver.Server) {
		for _, k := range catalog() {
			list := ok(t, s.Do("GET", k.prefix, ""))
			want(t, list, "kind", "APIResourceList", "apiVersion", "v1", "groupVersion", k.apiVersion())
			r := resourceNamed(t, list, k.plural)
			want(t, r, "kind", k.realKind(), "namespaced", fmt.Sprint(k.namespaced), "singularName", strings.ToLower(k.realKind()), "group", "", "version", "")
		}
		core := ok(t, s.Do("GET", "/api/v1", ""))
		want(t, resourceNamed(t, core, "pods"), "shortNames", `["po"]`, "categories", `["all"]`)
		want(t, resourceNamed(t, core, "namespaces/status"), "kind", "Namespace", "singularName", "", "verbs", `["get","patch","update"]`)
		want(t, resourceNamed(t, core, "namespaces/finalize"), "kind", "Namespace", "verbs", `["update"]`)
		want(t, resourceNamed(t, core, "nodes/status"), "kind", "Node", "namespaced", "false")
	}},
	{"L5", func(t *testing.T, s *testserver.Server) {
		for _, k := range catalog() {
			r := resourceNamed(t, ok(t, s.Do("GET", k.prefix, "")), k.plural)
			all, one := k.path("", "default"), k.path("", "default")+"/none"
			for verb, ask := range map[string][2]string{
				"create": {"POST", all}, "delete": {"DELETE", one}, "deletecollection": {"DELETE", all + "?fieldSelector=metadata.name%3Dnone"},
				"get": {"GET", one}, "list": {"GET", all}, "patch": {"PATCH", one}, "update": {"PUT", one},
				"watch": {"GET", all + "?watch=true&resourceVersion=malformed"},
			} {
				code := s.Do(ask[0], ask[1], "{").Code
				if listed := strings.Contains(get(t, r, "verbs"), `"`+verb+`"`); listed != (code != 405) {
					t.Errorf("%s %s: listed %v, answered %d", verb, k.plural, listed, code)
				}
			}
		}
	}},
	{"L6", func(t *testing.T, s *testserver.Server) {
		want(t, ok(t, s.Do("GET", "/oapi", "")), "kind", "APIVersions", "versions", `["v1"]`)
		list := ok(t, s.Do("GET", "/oapi/v1", ""))
		want(t, list, "kind", "APIResourceList", "groupVersion", "v1")
		want(t, resourceNamed(t, list, "hostsubnets"), "kind", "HostSubnet")
		want(t, resourceNamed(t, list, "clusterrolebindings"), "kind", "ClusterRoleBinding")
	}},
	{"L7", func(t *testing.T, s *testserver.Server) {
		const rbac = "/apis/rbac.authorization.platform.io"
		want(t, ok(t, s.Do("GET", rbac, "")), "versions.0.version", "v1", "versions.1.version", "v1beta1", "preferredVersion.version", "v1")
		resourceNamed(t, ok(t, s.Do("GET", rbac+"/v1", "")), "clusterrolebindings")
		resourceNamed(t, ok(t, s.Do("GET", rbac+"/v1", "")), "roles")
		resourceNamed(t, ok(t, s.Do("GET", rbac+"/v1beta1", "")), "clusterroles")
	}},
	{"L8 L9", aggregatedRows},
	{"L10", func(t *testing.T, s *testserver.Server) {
		for path, kind := range map[string]string{"/api": "APIVersions", "/apis": "APIGroupList"} {
			for _, accept := range []string{"application/json", "*/*", "application/json;g=apidiscovery.k8s.io;v=v3;as=APIGroupDiscoveryList,application/json"} {
				a := s.Do("GET", path, "", "Accept: "+accept)
				if want(t, ok(t, a), "kind", kind); a.Header.Get("Content-Type") != "application/json" {
					t.Errorf("%s: Content-Type %s", path, a.Header.Get("Content-Type"))
				}
			}
		}
	}},
	{"L11", func(t *testing.T, s *testserver.Server) {
		for _, path := range []string{"/api", "/apis", "/apis/apps", "/apis/apps/v1beta2", "/api/v1", "/openapi/v3", "/openapi/v3/api/v1"} {
			first := s.Do("GET", path, "")
			ok(t, first)
			tag := first.Header.Get("Etag")
			if !regexp.MustCompile(`^"[^"]+"$`).MatchString(tag) || !strings.Contains(first.Header.Get("Vary"), "Accept") {
				t.Errorf("%s: %v", path, first.Header)
			}
			for header, code := range map[string]int{tag: 304, `"x", ` + tag: 304, "W/" + tag: 304, "*": 304, `"x"`: 200} {
				a := s.Do("GET", path, "", "If-None-Match: "+header)
				if a.Code != code || a.Header.Get("Etag") != tag || code == 304 && a.Body != "" {
					t.Errorf("%s If-None-Match %s: %d %v", path, header, a.Code, a.Header)
				}
			}
			if other := s.Do("GET", path, "", "Accept: application/yaml").Header.Get("Etag"); other == tag {
				t.Errorf("%s: YAML has the tag of JSON", path)
			}
		}
	}},
	{"L12", func(t *testing.T, s *testserver.Server) {
		version := ok(t, s.Do("GET", "/version", "", "Authorization: "))
		want(t, version, "major", "1", "minor", "36", "compiler", "gc")
		if v := get(t, version, "gitVersion"); !regexp.MustCompile(`^v1\.36\.0(\+[0-9A-Za-z.-]+)?$`).MatchString(v) {
			t.Errorf("gitVersion %s", v)
		}
		for _, member := range []string{"gitCommit", "gitTreeState", "buildDate", "goVersion", "platform"} {
			if value(t, version, member) == nil {
				t.Errorf("no %s: %s", member, version)
			}
		}
	}},
	{"L13 L14", readiness},
	{"L15 L16 L17 L39", openAPI3},
	{"L18", openAPI2},
	{"L19", func(t *testing.T, s *testserver.Server) {
		if metrics := ok(t, s.Do("GET", "/metrics", "")); !strings.Contains(metrics, "# TYPE quorate_apiserver_requests_total counter") {
			t.Errorf("no metrics: %.200s", metrics)
		}
		expect(t, s.Do("GET", "/metrics", "", "Authorization: Bearer "+s.IssueToken("jane")), 403, "Forbidden", `cannot get path "/metrics"`)
		for _, path := range []string{"/swagger.json", "/swaggerapi", "/logs"} {
			expect(t, s.Do("GET", path, ""), 404, "NotFound")
		}
	}},
	{"L20", func(t *testing.T, s *testserver.Server) {
		jane := "Authorization: Bearer " + s.IssueToken("jane")
		for _, path := range discoveryPaths(t, s) {
			ok(t, s.Do("GET", path, "", jane))
			expect(t, s.Do("GET", path, "", "Authorization: "), 401, "Unauthorized")
		}
	}},
	{"L21", func(t *testing.T, s *testserver.Server) {
		for _, path := range discoveryPaths(t, s) {
			expect(t, s.Do("POST", path, "{}"), 405, "MethodNotAllowed")
			if a := s.Do("HEAD", path, ""); a.Code != 405 || a.Header.Get("Allow") != "GET" {
				t.Errorf("HEAD %s: %d, Allow %s", path, a.Code, a.Header.Get("Allow"))
			}
		}
	}},
}

// discoveryPaths are the paths of all documents but for OpenAPI version 2.
func discoveryPaths(t *testing.T, s *testserver.Server) []string {
	t.Helper()
	all, isList := value(t, ok(t, s.Do("GET", "/", "")), "paths").([]any)
	if !isList {
		t.Fatal("no list of paths")
	}
	var paths []string
	for _, path := range all {
		path := fmt.Sprint(path)
		if strings.HasPrefix(path, "/api") || strings.HasPrefix(path, "/oapi") || strings.HasPrefix(path, "/openapi") {
			paths = append(paths, path)
		}
	}
	if !slices.Contains(paths, "/apis/apps/v1beta2") || !slices.Contains(paths, "/openapi/v3/api/v1") {
		t.Fatalf("paths are missing: %v", paths)
	}
	return paths
}

// resourceNamed is a resource of a list, as JSON.
func resourceNamed(t *testing.T, list, name string) string {
	t.Helper()
	for i := 0; value(t, list, fmt.Sprintf("resources.%d", i)) != nil; i++ {
		if get(t, list, fmt.Sprintf("resources.%d.name", i)) == name {
			return get(t, list, fmt.Sprintf("resources.%d", i))
		}
	}
	t.Fatalf("no resource %s: %s", name, list)
	return ""
}

// readiness: L13, L14, on a server whose store says when it is ready.
func readiness(t *testing.T, s *testserver.Server) {
	for _, path := range []string{"/healthz", "/livez", "/readyz"} {
		a := s.Do("GET", path, "", "Authorization: ")
		if ok(t, a) != "ok" || !strings.HasPrefix(a.Header.Get("Content-Type"), "text/plain") {
			t.Errorf("%s: %v %s", path, a.Header, a.Body)
		}
		report := ok(t, s.Do("GET", path+"?verbose", ""))
		if !strings.HasPrefix(report, "[+]ping ok\n") || !strings.HasSuffix(report, strings.TrimPrefix(path, "/")+" check passed\n") {
			t.Errorf("%s?verbose: %s", path, report)
		}
	}
	ok(t, s.Do("GET", "/readyz/store", ""))
	expect(t, s.Do("GET", "/readyz/none", ""), 404, "NotFound")

	sick := &sickStore{}
	other := testserver.StartOn(t, s.Store, func(cfg *apiserver.Config) {
		sick.Store = cfg.Store
		cfg.Store = sick
	})
	sick.ill.Store(true)
	if a := other.Do("GET", "/readyz", ""); !strings.Contains(a.Body, "[-]store failed: no leader\n") {
		t.Errorf("an administrator gets %s", a.Body)
	}
	token := "Authorization: Bearer " + other.IssueToken("jane")
	if a := other.Do("GET", "/readyz", "", token); !strings.Contains(a.Body, "[-]store failed: reason withheld\n") {
		t.Errorf("another user gets %s", a.Body)
	}
	a := other.Do("GET", "/readyz", "", "Authorization: ")
	if a.Code != http.StatusInternalServerError || !strings.Contains(a.Body, "[-]store failed: reason withheld\n") ||
		!strings.Contains(a.Body, "[+]ping ok\n") || strings.Contains(a.Body, "no leader") {
		t.Errorf("%d %s", a.Code, a.Body)
	}
	ok(t, other.Do("GET", "/livez", ""))
	if report := ok(t, other.Do("GET", "/readyz?exclude=store&verbose", "")); !strings.Contains(report, "[+]store excluded: ok\n") {
		t.Error(report)
	}
	sick.ill.Store(false)
	ok(t, other.Do("GET", "/readyz", ""))
}

// sickStore is not ready when a test says so.
type sickStore struct {
	apiserver.Store
	ill atomic.Bool
}

func (s *sickStore) Ready() error {
	if s.ill.Load() {
		return errors.New("no leader")
	}
	return s.Store.Ready()
}
