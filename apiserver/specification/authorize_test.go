package specification

import (
	"fmt"
	"strings"
	"testing"

	"quorate/apiserver/internal/testserver"
)

// authorizationRows: what a request is taken for, which shows in the refusals of somebody to whom
// nothing is bound. What roles and bindings allow is in roleRows.
var authorizationRows = []row{
	{"J13", func(t *testing.T, s *testserver.Server) {
		jane := "Authorization: Bearer " + s.IssueToken("jane")
		for _, k := range catalog() {
			name := rowName(k.kind, "x")
			all, one, watched := collection(k.kind, "ns"), item(k.kind, "ns", name), watchPath(k.kind, "ns")
			ops := [][3]string{
				{"POST", all, "create"}, {"GET", one, "get"}, {"GET", all, "list"}, {"GET", all + "?watch=false", "list"},
				{"PUT", one, "update"}, {"PATCH", one, "patch"}, {"DELETE", one, "delete"},
			}
			if k.kind != "LegacyBinding" { // it has no watch, and no deletion of the collection
				ops = append(ops, [3]string{"GET", all + "?watch=true", "watch"}, [3]string{"GET", watched, "watch"},
					[3]string{"GET", watched + "/" + name, "watch"})
				if k.kind != "Namespace" {
					ops = append(ops, [3]string{"DELETE", all, "deletecollection"})
				}
			}
			for _, op := range ops {
				a := s.Do(op[0], op[1], minimal(k.kind, "ns", name), jane)
				if a.Code != 403 || !strings.Contains(a.Body, fmt.Sprintf(`cannot %s resource \"%s\"`, op[2], k.plural)) {
					t.Errorf("%s %s: %d %s", op[0], op[1], a.Code, a.Body)
				}
			}
		}
	}},
	{"J14", func(t *testing.T, s *testserver.Server) {
		jane := "Authorization: Bearer " + s.IssueToken("jane")
		for _, k := range catalog() {
			text := fmt.Sprintf(`cannot get resource "%s" in API group "%s" `, k.plural, k.group())
			switch {
			case k.namespaced:
				text += `in the namespace "ns"`
			case k.kind != "Namespace":
				text += "at the cluster scope"
			}
			expect(t, s.Do("GET", item(k.kind, "ns", "x"), "", jane), 403, "Forbidden", text)
		}
		expect(t, s.Do("GET", "/api/v1/nodes/x/status", "", jane), 403, "Forbidden", `cannot get resource "nodes/status" in API group ""`)
		expect(t, s.Do("PUT", "/api/v1/namespaces/x/finalize", "{}", jane), 403, "Forbidden", `cannot update resource "namespaces/finalize"`)
	}},
	{"J15", func(t *testing.T, s *testserver.Server) {
		jane := "Authorization: Bearer " + s.IssueToken("jane")
		pods := collection("Pod", "ns")
		for _, tc := range [][3]string{
			{"GET", pods + "/p", `pods "p" is forbidden: `}, {"GET", pods, "pods is forbidden: "},
			{"GET", pods + "?fieldSelector=metadata.name%3Dp", `pods "p" is forbidden: `},
			{"GET", pods + "?watch=true&fieldSelector=metadata.name%3Dp,status.phase%3DRunning", `pods "p" is forbidden: `},
			{"GET", pods + "?fieldSelector=metadata.name!%3Dp", "pods is forbidden: "},
			{"GET", watchPath("Pod", "ns") + "/p", `pods "p" is forbidden: `},
			{"POST", pods, "pods is forbidden: "}, {"DELETE", pods + "?fieldSelector=metadata.name%3Dp", "pods is forbidden: "},
		} {
			if m := refusal(t, s.Do(tc[0], tc[1], minimal("Pod", "ns", "p"), jane), 403, "Forbidden").Message; !strings.HasPrefix(m, tc[2]) {
				t.Errorf("%s %s: %s", tc[0], tc[1], m)
			}
		}
	}},
	{"J16", func(t *testing.T, s *testserver.Server) {
		jane := "Authorization: Bearer " + s.IssueToken("jane")
		for _, path := range []string{"/api/v1/namespaces/n", "/api/v1/namespaces/n/status"} {
			expect(t, s.Do("GET", path, "", jane), 403, "Forbidden", `namespaces "n" is forbidden: `, `in the namespace "n"`)
		}
		expect(t, s.Do("GET", "/api/v1/namespaces", "", jane), 403, "Forbidden", "at the cluster scope")
	}},
	{"J17", func(t *testing.T, s *testserver.Server) {
		expect(t, s.Do("GET", "/metrics", "", "Authorization: Bearer "+s.IssueToken("jane")), 403, "Forbidden",
			`forbidden: User "jane" cannot get path "/metrics"`)
	}},
	{"J25", func(t *testing.T, s *testserver.Server) {
		create(t, s, "ClusterRoleBinding", "", "j25", `{"roleRef":{"kind":"ClusterRole","name":"none-such"},"subjects":[{"kind":"User","name":"jane"}]}`)
		expect(t, s.Do("GET", "/api/v1/nodes", "", "Authorization: Bearer "+s.IssueToken("jane")), 403, "Forbidden")
	}},
	{"J26", func(t *testing.T, s *testserver.Server) {
		jane := "Authorization: Bearer " + s.IssueToken("jane")
		for path, wanted := range map[string]string{
			item("Pod", "ns", "p"): `pods "p" is forbidden: User "jane" cannot get resource "pods" in API group "" in the namespace "ns"`,
			"/api/v1/nodes/n":      `nodes "n" is forbidden: User "jane" cannot get resource "nodes" in API group "" at the cluster scope`,
			collection("Pod", ""):  `pods is forbidden: User "jane" cannot list resource "pods" in API group "" at the cluster scope`,
			item("DaemonSet", "ns", "d"): `daemonsets.apps "d" is forbidden: User "jane" cannot get resource "daemonsets" in API group "apps" ` +
				`in the namespace "ns"`,
			"/metrics": `forbidden: User "jane" cannot get path "/metrics"`,
		} {
			if m := refusal(t, s.Do("GET", path, "", jane), 403, "Forbidden").Message; m != wanted {
				t.Errorf("%s: %s", path, m)
			}
		}
	}},
	{"J27", func(t *testing.T, s *testserver.Server) {
		jane := "Authorization: Bearer " + s.IssueToken("jane")
		create(t, s, "Node", "", "j27")
		there, missing := s.Do("GET", "/api/v1/nodes/j27", "", jane), s.Do("GET", "/api/v1/nodes/j28", "", jane)
		if refusal(t, there, 403, "Forbidden"); missing.Body != strings.ReplaceAll(there.Body, "j27", "j28") {
			t.Errorf("%s\n%s", there.Body, missing.Body)
		}
	}},
	{"J32", func(t *testing.T, s *testserver.Server) {
		master := "Authorization: Bearer " + s.IssueToken("anybody", "others", "system:masters")
		everything := `{"rules":[{"apiGroups":["*"],"resources":["*"],"verbs":["*"]},{"nonResourceURLs":["*"],"verbs":["*"]}]}`
		// No bindings stand behind it, and it may grant what it likes.
		ok(t, s.Do("POST", collection("ClusterRole", ""), minimal("ClusterRole", "", "j32", everything), master))
		ok(t, s.Do("POST", collection("ClusterRoleBinding", ""), minimal("ClusterRoleBinding", "", "j32", `{"roleRef":{"name":"j32"}}`), master))
		ok(t, s.Do("GET", "/metrics", "", master))
	}},
	{"§5.4", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		for _, kind := range []string{"OAuthClient", "Role", "ClusterRole", "ClusterRoleBinding", "LegacyBinding"} {
			name := rowName(kind, "s54")
			create(t, s, kind, ns, name)
			want(t, ok(t, s.Do("GET", item(kind, ns, name), "")), "kind", kindNamed(kind).realKind(), "metadata.name", name)
		}
	}},
	{"§5.5", func(t *testing.T, s *testserver.Server) {
		// A token is what the holder of the cluster's key issued; the API itself hands out none.
		ok(t, s.Do("GET", "/api/v1/nodes", "", "Authorization: Bearer "+s.IssueToken("operator", "system:masters")))
		for _, path := range []string{"/oauth/token", "/oauth/authorize", "/.well-known/oauth-authorization-server"} {
			expect(t, s.Do("GET", path, ""), 404, "NotFound")
		}
	}},
	{"J56", func(t *testing.T, s *testserver.Server) {
		client := func(change string) testserver.Answer {
			return s.Do("POST", collection("OAuthClient", ""), minimal("OAuthClient", "", "j56", change))
		}
		for field, change := range map[string]string{
			"redirectURIs[0]":      `{"redirectURIs":["/relative"]}`,
			"redirectURIs[1]":      `{"redirectURIs":["https://a.example/","https://a.example/#f"]}`,
			"redirectURIs[2]":      `{"redirectURIs":["https://a.example/","https://b.example/",""]}`,
			"scopeRestrictions[0]": `{"scopeRestrictions":[{}]}`,
			"scopeRestrictions[1]": `{"scopeRestrictions":[{"literals":["user:info"]},
				{"literals":["a"],"clusterRole":{"roleNames":["*"],"namespaces":["*"],"allowEscalation":false}}]}`,
		} {
			expect(t, client(change), 422, "Invalid", field)
		}
		expect(t, client(`{"redirectURIs":["https://a.example/","https://a.example/"]}`), 422, "Invalid", "redirectURIs[1]", "FieldValueDuplicate")
		expect(t, client(`{"grantMethod":"sometimes"}`), 422, "Invalid", "grantMethod")
		ok(t, client(`{"scopeRestrictions":[{"literals":["user:info"]},{"clusterRole":{"roleNames":["*"],"namespaces":["*"],"allowEscalation":true}}]}`))
	}},
	{"J57", func(t *testing.T, s *testserver.Server) {
		create(t, s, "OAuthClient", "", "j57", `{"secret":"hush","additionalSecrets":["quiet"]}`)
		for _, path := range []string{item("OAuthClient", "", "j57"), collection("OAuthClient", "") + "?fieldSelector=metadata.name%3Dj57"} {
			if body := ok(t, s.Do("GET", path, "")); !strings.Contains(body, `"secret":"hush"`) || !strings.Contains(body, `"additionalSecrets":["quiet"]`) {
				t.Error(body)
			}
		}
	}},
}
