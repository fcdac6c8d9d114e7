package specification

import (
	"strings"
	"testing"

	"quorate/apiserver/internal/testserver"
)

// somebody is a user of no group but that of all, and what is bound to it. Roles and bindings are
// named after the row's namespace, so that no row meets those of another.
type somebody struct {
	t      *testing.T
	s      *testserver.Server
	ns     string // a namespace of the row's own
	name   string
	header string
}

func newSomebody(t *testing.T, s *testserver.Server) *somebody {
	t.Helper()
	ns := namespace(t, s)
	return &somebody{t, s, ns, "u-" + ns, "Authorization: Bearer " + s.IssueToken("u-"+ns)}
}

// do sends a request as the user.
func (u *somebody) do(method, path, body string, headers ...string) testserver.Answer {
	u.t.Helper()
	return u.s.Do(method, path, body, append(headers, u.header)...)
}

// may reports whether the user gets past authorization.
func (u *somebody) may(method, path string) bool {
	u.t.Helper()
	return u.do(method, path, "{}", acceptJSON).Code != 403
}

func (u *somebody) subject() string { return `"subjects":[{"kind":"User","name":"` + u.name + `"}]` }

// everywhere makes a cluster role of rules and binds it to the user in all of the cluster.
func (u *somebody) everywhere(name, rules string) {
	u.t.Helper()
	create(u.t, u.s, "ClusterRole", "", name+"-"+u.ns, `{"rules":`+rules+`}`)
	create(u.t, u.s, "ClusterRoleBinding", "", name+"-"+u.ns, `{"roleRef":{"name":"`+name+"-"+u.ns+`"},`+u.subject()+`}`)
}

// here makes a role of rules in the namespace and binds it to the user.
func (u *somebody) here(name, rules string) {
	u.t.Helper()
	create(u.t, u.s, "Role", u.ns, name, `{"rules":`+rules+`}`)
	u.bind("Role", name)
}

// bind binds a role to the user in the namespace.
func (u *somebody) bind(kind, name string) {
	u.t.Helper()
	create(u.t, u.s, "RoleBinding", u.ns, strings.ReplaceAll(name, ":", "-"), `{"roleRef":{"kind":"`+kind+`","name":"`+name+`"},`+u.subject()+`}`)
}

const (
	readPods = `[{"apiGroups":[""],"resources":["pods"],"verbs":["get","list"]}]`
	rbacPath = "/apis/rbac.authorization.platform.io/v1"
)

// roleRows prove that roles and bindings are evaluated.
var roleRows = []row{
	{"J18", func(t *testing.T, s *testserver.Server) {
		u := newSomebody(t, s)
		u.here("r", `[{"apiGroups":["","apps"],"resources":["pods/status","statefulsets"],"verbs":["get"]},
			{"apiGroups":["*"],"resources":["*/status"],"verbs":["patch"]},{"apiGroups":[""],"resources":["configmaps/*"],"verbs":["*"]},
			{"apiGroups":[""],"resources":["configmaps"],"resourceNames":["a"],"verbs":["*"]}]`)
		u.here("all", `[{"apiGroups":["batch"],"resources":["*"],"verbs":["*"]}]`)
		pods, maps := collection("Pod", u.ns), collection("ConfigMap", u.ns)
		for ask, want := range map[[2]string]bool{
			{"GET", pods + "/p/status"}: true, {"GET", pods + "/p"}: false, {"GET", pods}: false,
			{"GET", collection("StatefulSet", u.ns) + "/s"}: true, {"GET", collection("StatefulSet", u.ns) + "/s/status"}: false,
			{"PATCH", pods + "/p/status"}: true, {"PATCH", collection("DaemonSet", u.ns) + "/d/status"}: true, {"PUT", pods + "/p/status"}: false,
			{"GET", maps + "/a"}: true, {"DELETE", maps + "/a"}: true, {"GET", maps + "/b"}: false,
			{"GET", collection("CronJob", u.ns)}: true, {"PUT", collection("CronJob", u.ns) + "/c/status"}: true, {"GET", collection("DaemonSet", u.ns)}: false,
		} {
			if got := u.may(ask[0], ask[1]); got != want {
				t.Errorf("%v: %v", ask, got)
			}
		}
	}},
	{"J19", func(t *testing.T, s *testserver.Server) {
		u := newSomebody(t, s)
		paths := `[{"nonResourceURLs":["/metrics","/nothing/*"],"verbs":["get"]}]`
		create(t, s, "ClusterRole", "", "j19", `{"rules":`+paths+`}`)
		u.bind("ClusterRole", "j19")
		if u.may("GET", "/metrics") {
			t.Error("a binding of a namespace gives paths")
		}
		u.everywhere("paths", paths)
		ok(t, u.do("GET", "/metrics", ""))
		refuse(t, s, "Role", u.ns, "rules[0].nonResourceURLs", "FieldValueInvalid", `{"rules":`+paths+`}`)
	}},
	{"J20", func(t *testing.T, s *testserver.Server) {
		u := newSomebody(t, s)
		u.here("r", `[{"apiGroups":[""],"resources":["configmaps"],"resourceNames":["a"],"verbs":["*"]}]`)
		all := collection("ConfigMap", u.ns)
		for ask, want := range map[[2]string]bool{
			{"GET", all}: false, {"GET", all + "?watch=true&timeoutSeconds=1"}: false, {"POST", all}: false, {"DELETE", all}: false,
			{"GET", all + "?fieldSelector=metadata.name%3Da"}: true, {"GET", all + "?fieldSelector=metadata.name%3Db"}: false,
		} {
			if got := u.may(ask[0], ask[1]); got != want {
				t.Errorf("%v: %v", ask, got)
			}
		}
		// A replace that would create is of no name either.
		expect(t, u.do("PUT", rbacPath+"/namespaces/"+u.ns+"/roles/a", minimal("Role", u.ns, "a")), 403, "Forbidden")
	}},
	{"J21", func(t *testing.T, s *testserver.Server) {
		u := newSomebody(t, s)
		u.here("get", `[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]`)
		u.everywhere("list", `[{"apiGroups":[""],"resources":["pods"],"verbs":["list"]}]`)
		expect(t, u.do("GET", item("Pod", u.ns, "p"), ""), 404, "NotFound")
		ok(t, u.do("GET", collection("Pod", u.ns), ""))
		ok(t, s.Do("DELETE", item("RoleBinding", u.ns, "get"), ""))
		expect(t, u.do("GET", item("Pod", u.ns, "p"), ""), 403, "Forbidden") // at once on this node
	}},
	{"J22", func(t *testing.T, s *testserver.Server) {
		u := newSomebody(t, s)
		u.everywhere("reader", `[{"apiGroups":["*"],"resources":["pods","nodes"],"verbs":["list"]},{"nonResourceURLs":["*"],"verbs":["get"]}]`)
		for _, path := range []string{collection("Pod", u.ns), collection("Pod", ""), collection("Pod", "default"), "/api/v1/nodes", "/metrics"} {
			ok(t, u.do("GET", path, ""))
		}
	}},
	{"J23 Z14", func(t *testing.T, s *testserver.Server) {
		u := newSomebody(t, s)
		create(t, s, "Role", u.ns, "r", `{"rules":`+readPods+`}`)
		expect(t, u.do("GET", collection("Pod", u.ns), ""), 403, "Forbidden")
		u.bind("Role", "r")
		ok(t, u.do("GET", collection("Pod", u.ns), ""))
		for _, path := range []string{collection("Pod", ""), collection("Pod", "default")} {
			expect(t, u.do("GET", path, ""), 403, "Forbidden")
		}
		want(t, ok(t, s.Do("GET", item("RoleBinding", u.ns, "r"), "")), "kind", "RoleBinding", "roleRef.kind", "Role",
			"roleRef.apiGroup", "rbac.authorization.platform.io", "subjects.0.apiGroup", "rbac.authorization.platform.io")
		expectInvalid(t, s.Do("PATCH", item("RoleBinding", u.ns, "r"), `{"roleRef":{"name":"other"}}`, mergePatch), "roleRef", "FieldValueInvalid", "cannot change roleRef")
		ok(t, s.Do("PATCH", item("Role", u.ns, "r"), `{"rules":[]}`, mergePatch))
		expect(t, u.do("GET", collection("Pod", u.ns), ""), 403, "Forbidden")
	}},
	{"J10", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		robot := "Authorization: Bearer " + s.IssueToken("system:serviceaccount:"+ns+":robot")
		create(t, s, "RoleBinding", ns, "view", `{"roleRef":{"kind":"ClusterRole","name":"view"},"subjects":[{"kind":"ServiceAccount","name":"robot"}]}`)
		ok(t, s.Do("GET", collection("Pod", ns), "", robot))
		other := namespace(t, s)
		expect(t, s.Do("GET", collection("Pod", other), "", robot), 403, "Forbidden", `User "system:serviceaccount:`+ns+`:robot"`)
		create(t, s, "RoleBinding", other, "view", `{"roleRef":{"kind":"ClusterRole","name":"view"},"subjects":[{"kind":"Group","name":"system:serviceaccounts:`+ns+`"}]}`)
		ok(t, s.Do("GET", collection("Pod", other), "", robot))
		want(t, ok(t, s.Do("POST", userReviews+"selfsubjectreviews", `{}`, robot)), "status.userInfo.groups",
			`["system:serviceaccounts","system:serviceaccounts:`+ns+`","system:authenticated"]`)
	}},
	{"J33", builtinRolesAllow},
	{"J34", func(t *testing.T, s *testserver.Server) {
		for name, group := range map[string]string{"cluster-admin": "masters", "system:discovery": "authenticated", "system:basic-user": "authenticated"} {
			want(t, ok(t, s.Do("GET", item("ClusterRoleBinding", "", name), "")), "roleRef.name", name, "roleRef.kind", "ClusterRole",
				"subjects", `[{"apiGroup":"rbac.authorization.platform.io","kind":"Group","name":"system:`+group+`"}]`)
		}
	}},
}

// builtinRolesAllow proves what the roles of J33 are for, by their rows of verbs.
func builtinRolesAllow(t *testing.T, s *testserver.Server) {
	for _, name := range []string{"cluster-admin", "admin", "edit", "view", "system:discovery", "system:basic-user", "system:node"} {
		want(t, ok(t, s.Do("GET", item("ClusterRole", "", name), "")), `metadata.labels.platform\.io/bootstrapping`, "rbac-defaults",
			`metadata.annotations.rbac\.authorization\.platform\.io/autoupdate`, "true")
	}
	for role, reach := range map[string]struct{ read, write, secrets, roles bool }{
		"cluster-admin": {true, true, true, true}, "admin": {true, true, true, true},
		"edit": {true, true, true, false}, "view": {true, false, false, false},
	} {
		u := newSomebody(t, s)
		u.bind("ClusterRole", role)
		may := func(method, path string, want bool) {
			if got := u.may(method, path); got != want {
				t.Errorf("%s: %s %s: %v", role, method, path, got)
			}
		}
		for _, k := range catalog() {
			if !k.namespaced || k.kind == "Role" || k.kind == "RoleBinding" || k.kind == "Secret" {
				continue
			}
			all := k.path("", u.ns)
			may("GET", all, reach.read)
			may("GET", all+"/x", reach.read)
			may("POST", all, reach.write)
			may("DELETE", all+"/x", reach.write)
			may("GET", k.path("", "default"), false)
		}
		may("GET", "/api/v1/namespaces/"+u.ns, true)
		may("GET", "/api/v1/nodes", false)
		may("GET", "/api/v1/namespaces/"+u.ns+"/secrets", reach.secrets)
		may("GET", collection("Role", u.ns), reach.roles)
		may("GET", collection("RoleBinding", u.ns), reach.roles)
		may("PATCH", item("Pod", u.ns, "p")+"/status", role == "cluster-admin")
	}
	node := newSomebody(t, s)
	create(t, s, "ClusterRoleBinding", "", node.name, `{"roleRef":{"name":"system:node"},`+node.subject()+`}`)
	for ask, want := range map[[2]string]bool{
		{"PATCH", "/api/v1/nodes/n/status"}: true, {"GET", "/api/v1/pods"}: true, {"PATCH", item("Pod", node.ns, "p") + "/status"}: true,
		{"DELETE", "/api/v1/namespaces/" + node.ns}: false, {"GET", rbacPath + "/clusterroles"}: false,
	} {
		if got := node.may(ask[0], ask[1]); got != want {
			t.Errorf("system:node: %v: %v", ask, got)
		}
	}
}
