package specification

import (
	"strings"
	"testing"

	"quorate/apiserver/internal/testserver"
)

const notHeld = "is attempting to grant RBAC permissions not currently held:\n"

// mayWrite lets a user write roles and bindings, in all of the cluster.
func (u *somebody) mayWrite() {
	u.t.Helper()
	u.everywhere("writer", `[{"apiGroups":["rbac.authorization.platform.io",""],
		"resources":["roles","clusterroles","rolebindings","clusterrolebindings"],"verbs":["create","update","patch","get","delete"]}]`)
}

// grantRows prove that nobody grants what he does not have (J28–J31), who may act as whom (J12),
// and what is built in.
var grantRows = []row{
	{"J28 J30", func(t *testing.T, s *testserver.Server) {
		u := newSomebody(t, s)
		u.mayWrite()
		u.here("reader", `[{"apiGroups":[""],"resources":["pods","configmaps"],"verbs":["get","list"]}]`)
		some, more := `{"rules":`+readPods+`}`, `{"rules":[{"apiGroups":[""],"resources":["pods","secrets"],"verbs":["get","delete"]}]}`
		const missing = `{APIGroups:[""], Resources:["pods"], Verbs:["delete"]}` + "\n" + `{APIGroups:[""], Resources:["secrets"], Verbs:["get" "delete"]}`
		refused := func(a testserver.Answer, about, missing string) {
			t.Helper()
			message := about + ` is forbidden: user "` + u.name + `" (groups=["system:authenticated"]) ` + notHeld + missing
			if m := refusal(t, a, 403, "Forbidden").Message; m != message {
				t.Errorf("got  %s\nwant %s", m, message)
			}
		}
		roles, one := collection("Role", u.ns), item("Role", u.ns, "r")
		about := `roles.rbac.authorization.platform.io "r"`
		refused(u.do("POST", roles, minimal("Role", u.ns, "r", more)), about, missing)
		refused(u.do("POST", roles+"?dryRun=All", minimal("Role", u.ns, "r", more)), about, missing)
		refused(u.do("PUT", one, minimal("Role", u.ns, "r", more)), about, missing) // which would create it
		ok(t, u.do("POST", roles, minimal("Role", u.ns, "r", some)))
		refused(u.do("PUT", one, minimal("Role", u.ns, "r", more)), about, missing)
		refused(u.do("PUT", one+"?dryRun=All", minimal("Role", u.ns, "r", more)), about, missing)
		refused(u.do("PATCH", one, more, mergePatch), about, missing)
		refused(u.do("PATCH", one, more, strategicPatch), about, missing)
		refused(u.do("PATCH", one, `[{"op":"replace","path":"/rules/0/verbs","value":["watch"]}]`, jsonPatch), about,
			`{APIGroups:[""], Resources:["pods"], Verbs:["watch"]}`)
		want(t, ok(t, s.Do("GET", one, "")), "rules", `[{"apiGroups":[""],"resources":["pods"],"verbs":["get","list"]}]`)
		// In all of the cluster the user has nothing, in whichever version.
		refused(u.do("POST", collection("ClusterRole", ""), minimal("ClusterRole", "", "c-"+u.ns, some)),
			`clusterroles.rbac.authorization.platform.io "c-`+u.ns+`"`, `{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}`)
		u.here("escalate", `[{"apiGroups":["rbac.authorization.platform.io"],"resources":["roles"],"resourceNames":["r"],"verbs":["escalate"]}]`)
		ok(t, u.do("PUT", one, minimal("Role", u.ns, "r", more)))
		refused(u.do("POST", roles, minimal("Role", u.ns, "r2", more)), `roles.rbac.authorization.platform.io "r2"`, missing)
	}},
	{"J29", func(t *testing.T, s *testserver.Server) {
		u := newSomebody(t, s)
		u.mayWrite()
		create(t, s, "ClusterRole", "", "j29-"+u.ns, `{"rules":`+readPods+`}`)
		create(t, s, "Role", u.ns, "j29", `{"rules":`+readPods+`}`)
		cluster := `"roleRef":{"kind":"ClusterRole","name":"j29-` + u.ns + `"}`
		tries := map[string]func(name string) testserver.Answer{
			"cluster role": func(name string) testserver.Answer {
				return u.do("POST", collection("RoleBinding", u.ns), minimal("RoleBinding", u.ns, name, "{"+cluster+"}"))
			},
			"role": func(name string) testserver.Answer {
				return u.do("POST", collection("RoleBinding", u.ns), minimal("RoleBinding", u.ns, name, `{"roleRef":{"name":"j29"}}`))
			},
			"in the cluster": func(name string) testserver.Answer {
				return u.do("POST", collection("ClusterRoleBinding", ""), minimal("ClusterRoleBinding", "", name, "{"+cluster+"}"))
			},
			"legacy": func(name string) testserver.Answer { // J44
				return u.do("POST", collection("LegacyBinding", ""), minimal("LegacyBinding", "", name, `{"roleRef":{"name":"j29-`+u.ns+`"}}`))
			},
		}
		for what, try := range tries {
			name := strings.ReplaceAll(what, " ", "-") + "-" + u.ns
			expect(t, try(name), 403, "Forbidden", notHeld+`{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}`)
		}
		missing := minimal("RoleBinding", u.ns, "dangles", `{"roleRef":{"name":"none-such"}}`)
		expect(t, u.do("POST", collection("RoleBinding", u.ns), missing), 403, "Forbidden", `needs the verb "bind"`)
		u.here("binder", `[{"apiGroups":["rbac.authorization.platform.io"],"resources":["roles","clusterroles"],"verbs":["bind"]}]`)
		for what, try := range tries {
			name := strings.ReplaceAll(what, " ", "-") + "-" + u.ns
			if a := try(name); a.OK() != (what == "cluster role" || what == "role") {
				t.Errorf("with the verb bind in the namespace: %s: %d %s", what, a.Code, a.Body)
			}
		}
		ok(t, u.do("POST", collection("RoleBinding", u.ns), missing))
		// Who holds what a role has may give it to others, in all forms.
		u.everywhere("reader", readPods)
		for _, what := range []string{"in the cluster", "legacy"} {
			ok(t, tries[what](strings.ReplaceAll(what, " ", "-")+"-"+u.ns))
		}
		// To one more subject, too, is granted.
		create(t, s, "ClusterRoleBinding", "", "more-"+u.ns, `{"roleRef":{"name":"cluster-admin"}}`)
		for kind, change := range map[string]string{"ClusterRoleBinding": `{` + u.subject() + `}`, "LegacyBinding": `{"userNames":["` + u.name + `"]}`} {
			expect(t, u.do("PATCH", item(kind, "", "more-"+u.ns), change, mergePatch), 403, "Forbidden", notHeld, `{APIGroups:["*"], Resources:["*"], Verbs:["*"]}`)
		}
	}},
	{"J31", func(t *testing.T, s *testserver.Server) {
		u := newSomebody(t, s)
		u.mayWrite()
		create(t, s, "Role", u.ns, "r")
		one := item("Role", u.ns, "r")
		same := ok(t, u.do("GET", one, ""))
		ok(t, u.do("PUT", one, same))
		want(t, ok(t, u.do("PATCH", one, `{"metadata":{"labels":{"a":"b"}}}`, mergePatch)), "metadata.labels.a", "b")
		want(t, ok(t, u.do("PATCH", one, `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"p","uid":"u"}]}}`, mergePatch)),
			"metadata.ownerReferences.0.name", "p")
	}},
	{"J35 J36", func(t *testing.T, _ *testserver.Server) {
		store, stop := testserver.OpenStore(t, t.TempDir(), true)
		t.Cleanup(stop)
		s := testserver.StartOn(t, store, quiet)
		role := func(name string) string { return ok(t, s.Do("GET", item("ClusterRole", "", name), "")) }
		basic := "clusterrolebindings/system:basic-user"
		view, edit, admin := role("view"), role("edit"), role("admin")
		ok(t, s.Do("PATCH", item("ClusterRole", "", "view"), `{"rules":`+readPods+`,"metadata":{"labels":{"mine":"1"}}}`, mergePatch))
		ok(t, s.Do("PATCH", item("ClusterRole", "", "edit"),
			`{"rules":`+readPods+`,"metadata":{"annotations":{"rbac.authorization.platform.io/autoupdate":"false"}}}`, mergePatch))
		ok(t, s.Do("DELETE", item("ClusterRole", "", "system:node"), ""))
		ok(t, s.Do("PATCH", rbacPath+"/"+basic, `{"subjects":[{"kind":"User","name":"mine"}]}`, mergePatch))
		s.Stop()
		s = testserver.StartOn(t, store, quiet) // its node leads anew
		s.Eventually("the built-in roles and bindings are whole", func() bool {
			return strings.Contains(ok(t, s.Do("GET", rbacPath+"/"+basic, "")), `"system:authenticated"`)
		})
		now := role("view")
		want(t, now, "metadata.labels.mine", "1", "rules.0", get(t, ok(t, s.Do("GET", item("ClusterRole", "", "view"), "")), "rules.0"))
		for _, rule := range value(t, view, "rules").([]any) {
			if !strings.Contains(now, jsonOf(t, rule.(map[string]any)["resources"])) {
				t.Errorf("%v was not added again: %s", rule, now)
			}
		}
		want(t, role("edit"), "rules", `[{"apiGroups":[""],"resources":["pods"],"verbs":["get","list"]}]`)
		want(t, role("admin"), "metadata.resourceVersion", get(t, admin, "metadata.resourceVersion"))
		role("system:node")
		want(t, ok(t, s.Do("GET", rbacPath+"/"+basic, "")), "subjects.0.name", "mine", "subjects.1.name", "system:authenticated")
		if get(t, edit, "metadata.uid") != get(t, role("edit"), "metadata.uid") {
			t.Error("made anew")
		}
	}},
}
