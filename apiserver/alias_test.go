package apiserver_test

import (
	"fmt"
	"strings"
	"testing"

	"quorate/apiserver/internal/testserver"
)

// The two groups of roles and bindings: that in whose form they are stored, and the alias.
const (
	ownGroup   = "rbac.authorization.platform.io"
	aliasGroup = "rbac.authorization.k8s.io"
)

// inGroup returns a body or path in the other group's spelling.
func inGroup(group, text string) string {
	return strings.NewReplacer(ownGroup, group, aliasGroup, group).Replace(text)
}

// bindingTo is a RoleBinding, or a ClusterRoleBinding, without its apiVersion.
func bindingTo(name, role, user string) string {
	kind, roleName, _ := strings.Cut(role, "/")
	return fmt.Sprintf(`{"metadata":{"name":%q,"labels":{"l":"x"}},"roleRef":{"kind":%q,"name":%q},`+
		`"subjects":[{"kind":"User","name":%q},{"kind":"ServiceAccount","name":"robot","namespace":"shop"}]}`, name, kind, roleName, user)
}

// TestAlias takes roles and bindings through both groups that serve them.
func TestAlias(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	same := func(t *testing.T, what, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s: got  %s\nwant %s", what, got, want)
		}
	}
	collections := func(t *testing.T, ns, plural string) (own, alias string) {
		namespace(t, s, ns)
		own = "/apis/" + ownGroup + "/v1/namespaces/" + ns + "/" + plural
		return own, inGroup(aliasGroup, own)
	}
	patch := func(path, kind, body string) testserver.Answer {
		return s.Do("PATCH", path, body, "Content-Type: application/"+kind+"+json")
	}

	t.Run("one object, two groups", func(t *testing.T) {
		t.Parallel()
		own, alias := collections(t, "forms", "rolebindings")
		made := s.Do("POST", alias, bindingTo("b", "Role/r", "jane"))
		check(t, made, want{code: 201, body: []string{
			`{"kind":"RoleBinding","apiVersion":"rbac.authorization.k8s.io/v1","metadata":{"name":"b"`,
			`"selfLink":"/apis/rbac.authorization.k8s.io/v1/namespaces/forms/rolebindings/b"`,
			`"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"r"}`,
			`{"kind":"User","apiGroup":"rbac.authorization.k8s.io","name":"jane"},{"kind":"ServiceAccount","name":"robot","namespace":"shop"}`,
		}})
		old := s.Do("GET", own+"/b", "").Body
		same(t, "stored", old, inGroup(ownGroup, made.Body))
		if strings.Contains(old, aliasGroup) {
			t.Errorf("the stored form names the alias: %s", old)
		}
		same(t, "read", s.Do("GET", alias+"/b", "").Body, made.Body)
		same(t, "dry run", s.Do("PUT", alias+"/b?dryRun=All", made.Body).Body, made.Body)
		same(t, "unchanged", s.Do("PUT", alias+"/b", made.Body).Body, made.Body)
		same(t, "unchanged in the other group", s.Do("PUT", own+"/b", old).Body, old)
		check(t, s.Do("POST", own, bindingTo("b", "Role/r", "jane")), want{409, "AlreadyExists", `rolebindings.rbac.authorization.platform.io "b"`, nil})
		check(t, s.Do("POST", alias, bindingTo("b", "Role/r", "jane")), want{409, "AlreadyExists", `rolebindings.rbac.authorization.k8s.io "b"`, nil})
		check(t, s.Do("PUT", alias+"/b", old), want{400, "BadRequest", "does not match the expected API version (rbac.authorization.k8s.io/v1)", nil})

		inAlias, inOwn := s.Do("GET", alias, "").Body, s.Do("GET", own, "").Body
		for version(t, inAlias) != version(t, inOwn) { // other subtests write meanwhile
			inAlias, inOwn = s.Do("GET", alias, "").Body, s.Do("GET", own, "").Body
		}
		same(t, "list", inAlias, inGroup(aliasGroup, inOwn))
		if got := itemNames(t, inAlias); fmt.Sprint(got) != "[b]" {
			t.Errorf("list: %v", got)
		}
		everything := "?limit=500&labelSelector=l%3Dx"
		if got := itemNames(t, s.Do("GET", alias+everything, "").Body); fmt.Sprint(got) != "[b]" {
			t.Errorf("by label: %v", got)
		}
		const accept = "Accept: application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
		check(t, s.Do("GET", alias+"/b", "", accept), want{code: 200, body: []string{`"selfLink":"/apis/rbac.authorization.k8s.io/v1/`}})
		text := s.Do("GET", alias+"/b", "", "Accept: application/yaml").Body
		if !strings.Contains(text, "apiVersion: rbac.authorization.k8s.io/v1\n") || strings.Contains(text, ownGroup) {
			t.Errorf("YAML: %s", text)
		}
		binary := s.Do("GET", alias+"/b", "", "Accept: application/vnd.kubernetes.protobuf").Body
		if !strings.Contains(binary, aliasGroup) || strings.Contains(binary, ownGroup) {
			t.Errorf("protobuf: %q", binary)
		}
		check(t, s.Do("PUT", alias+"/b", binary, "Content-Type: application/vnd.kubernetes.protobuf"), want{code: 200, body: []string{`"name":"jane"`}})
	})
	t.Run("each group names itself only", func(t *testing.T) {
		t.Parallel()
		own, alias := collections(t, "spelling", "rolebindings")
		for path, other := range map[string]string{own: aliasGroup, alias: ownGroup} {
			body := strings.Replace(bindingTo("b", "Role/r", "jane"), `"roleRef":{`, `"roleRef":{"apiGroup":"`+other+`",`, 1)
			supported := `supported values: "` + strings.Split(path, "/")[2] + `"`
			check(t, s.Do("POST", path, body), want{422, "Invalid", `roleRef.apiGroup: Unsupported value: "` + other + `": ` + supported, nil})
			body = strings.Replace(bindingTo("b", "Role/r", "jane"), `"kind":"User",`, `"kind":"User","apiGroup":"`+other+`",`, 1)
			check(t, s.Do("POST", path, body), want{422, "Invalid", `subjects[0].apiGroup: Unsupported value: "` + other + `": ` + supported, nil})
		}
	})
	t.Run("writes by both groups", func(t *testing.T) {
		t.Parallel()
		own, alias := collections(t, "writes", "rolebindings")
		check(t, s.Do("POST", own, bindingTo("b", "Role/r", "jane")), want{code: 200})
		check(t, patch(alias+"/b", "json-patch", `[{"op":"test","path":"/roleRef/apiGroup","value":"rbac.authorization.k8s.io"},
			{"op":"replace","path":"/subjects/0/name","value":"joe"}]`), want{code: 200, body: []string{`"apiGroup":"rbac.authorization.k8s.io","name":"joe"`}})
		check(t, patch(own+"/b", "merge-patch", `{"subjects":[{"kind":"Group","name":"devs"}]}`), want{code: 200, body: []string{`"apiGroup":"rbac.authorization.platform.io","name":"devs"`}})
		check(t, patch(alias+"/b", "strategic-merge-patch", `{"metadata":{"labels":{"l":"y"}}}`), want{code: 200, body: []string{`"apiGroup":"rbac.authorization.k8s.io","name":"devs"`, `"l":"y"`}})
		check(t, patch(alias+"/b", "merge-patch", `{"roleRef":{"name":"other"}}`), want{422, "Invalid", "cannot change roleRef", nil})

		applied := s.Do("PATCH", alias+"/a"+by("helm"), `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"RoleBinding","metadata":{"name":"a"},`+
			`"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"r"},"subjects":[{"kind":"User","apiGroup":"rbac.authorization.k8s.io","name":"jane"}]}`, applyPatch)
		check(t, applied, want{code: 201})
		check(t, s.Do("PATCH", own+"/a"+by("other"), `{"apiVersion":"rbac.authorization.platform.io/v1","kind":"RoleBinding","metadata":{"name":"a"},`+
			`"roleRef":{"apiGroup":"rbac.authorization.platform.io","kind":"Role","name":"r"},"subjects":[]}`, applyPatch), want{409, "Conflict", `conflict with "helm": .subjects`, nil})
		check(t, s.Do("PATCH", own+"/a"+by("other"), `{"apiVersion":"rbac.authorization.platform.io/v1","kind":"RoleBinding","metadata":{"name":"a"},`+
			`"roleRef":{"apiGroup":"rbac.authorization.platform.io","kind":"Role","name":"r"}}`, applyPatch), want{code: 200, body: []string{
			`"manager":"helm","operation":"Apply","apiVersion":"rbac.authorization.k8s.io/v1"`, `"manager":"other","operation":"Apply","apiVersion":"rbac.authorization.platform.io/v1"`}})
		check(t, s.Do("DELETE", alias+"/a", ""), want{code: 200})
		check(t, s.Do("GET", own+"/a", ""), want{code: 404, reason: "NotFound"})
		check(t, s.Do("DELETE", alias, ""), want{code: 200})
		if got := itemNames(t, s.Do("GET", own, "").Body); len(got) != 0 {
			t.Errorf("left: %v", got)
		}
	})
	t.Run("watches of one connection", func(t *testing.T) {
		t.Parallel()
		own, alias := collections(t, "watches", "rolebindings")
		after := field(t, s.Do("GET", own, "").Body, "metadata.resourceVersion")
		streams := map[string][]*stream{}
		for range 3 {
			streams[ownGroup] = append(streams[ownGroup], open(t, s, own+"?watch=1&resourceVersion="+after))
			streams[aliasGroup] = append(streams[aliasGroup], open(t, s, alias+"?watch=1&resourceVersion="+after))
		}
		rows := open(t, s, alias+"?watch=1&resourceVersion="+after, "Accept: application/json;as=Table;v=v1;g=meta.k8s.io")
		bodies := []string{s.Do("POST", alias, bindingTo("b", "Role/r", "jane")).Body, patch(own+"/b", "merge-patch", `{"metadata":{"labels":{"l":"y"}}}`).Body}
		s.Do("DELETE", alias+"/b", "")
		for group, watches := range streams {
			for _, w := range watches {
				same(t, "added", w.want("ADDED b"), inGroup(group, bodies[0]))
				same(t, "modified", w.want("MODIFIED b"), inGroup(group, bodies[1]))
				same(t, "deleted", field(t, w.want("DELETED b"), "roleRef.apiGroup"), group)
			}
		}
		if _, row := rows.next(); !strings.Contains(row, `"selfLink":"/apis/rbac.authorization.k8s.io/v1/`) {
			t.Errorf("row %s", row)
		}
		byPath := open(t, s, inGroup(aliasGroup, "/apis/"+ownGroup+"/v1/watch/namespaces/watches/rolebindings/c?resourceVersion=")+after)
		s.Do("POST", own, bindingTo("c", "Role/r", "jane"))
		same(t, "by path", field(t, byPath.want("ADDED c"), "roleRef.apiGroup"), aliasGroup)
		initial := open(t, s, alias+"?watch=1&resourceVersion=0")
		same(t, "present", field(t, initial.want("ADDED c"), "apiVersion"), aliasGroup+"/v1")
	})
	t.Run("roles", func(t *testing.T) {
		t.Parallel()
		own, alias := collections(t, "roles", "roles")
		rules := `"rules":[{"verbs":["get"],"apiGroups":["rbac.authorization.k8s.io","rbac.authorization.platform.io"],"resources":["roles"]}]`
		made := s.Do("POST", alias, `{"metadata":{"name":"r"},`+rules+`}`)
		check(t, made, want{code: 201, body: []string{rules, `"apiVersion":"rbac.authorization.k8s.io/v1"`}})
		check(t, s.Do("GET", own+"/r", ""), want{code: 200, body: []string{rules, `"apiVersion":"rbac.authorization.platform.io/v1"`}})
	})
	t.Run("owners", func(t *testing.T) {
		t.Parallel()
		_, alias := collections(t, "owners", "roles")
		owner := s.Do("POST", alias, `{"metadata":{"name":"o"},"rules":[]}`).Body
		cms := "/api/v1/namespaces/owners/configmaps"
		for _, group := range []string{ownGroup, aliasGroup} {
			check(t, s.Do("POST", cms, `{"metadata":{"generateName":"mine-","ownerReferences":[{"apiVersion":"`+group+`/v1","kind":"Role","name":"o","uid":"`+
				field(t, owner, "metadata.uid")+`"}]}}`), want{code: 200})
		}
		check(t, s.Do("POST", cms, `{"metadata":{"name":"stays","ownerReferences":[{"apiVersion":"rbac.example.com/v1","kind":"Role","name":"o","uid":"`+
			field(t, owner, "metadata.uid")+`"}]}}`), want{code: 200})
		s.Do("DELETE", alias+"/o", "")
		s.Eventually("the dependents go", func() bool {
			return fmt.Sprint(itemNames(t, s.Do("GET", cms, "").Body)) == "[stays]"
		})
	})
}

// TestAliasEscalation tries to gain permissions through either group of roles and bindings, as a
// user who may write all of them, but holds nothing else.
func TestAliasEscalation(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	namespace(t, s, "n")
	for _, group := range []string{ownGroup, aliasGroup} {
		t.Run(group, func(t *testing.T) {
			t.Parallel()
			other := aliasGroup
			if group == aliasGroup {
				other = ownGroup
			}
			user := "user-of-" + group
			header := "Authorization: Bearer " + s.IssueToken(user)
			do := func(method, path, body string, headers ...string) testserver.Answer {
				return s.Do(method, path, body, append(headers, header)...)
			}
			grant := func(name, rules string) {
				t.Helper()
				check(t, s.Do("POST", "/apis/"+ownGroup+"/v1/clusterroles", `{"metadata":{"name":"`+name+"."+group+`"},"rules":`+rules+`}`), want{code: 200})
				check(t, s.Do("POST", "/apis/"+ownGroup+"/v1/clusterrolebindings", bindingTo(name+"."+group, "ClusterRole/"+name+"."+group, user)), want{code: 200})
			}
			local := "/apis/" + group + "/v1/namespaces/n/"
			wide := "/apis/" + group + "/v1/"
			all := `"rules":[{"apiGroups":["*"],"resources":["*"],"verbs":["*"]}]`
			none := `"rules":[]`
			named := func(name string) string { return name + "-" + strings.Split(group, ".")[2] }

			// Without a rule for the group nothing is allowed, whatever the rules say of the other.
			grant("other", `[{"apiGroups":["`+other+`"],"resources":["*"],"verbs":["*"]}]`)
			for _, path := range []string{local + "roles", local + "rolebindings", wide + "clusterroles", wide + "clusterrolebindings"} {
				check(t, do("POST", path, `{"metadata":{"name":"x"}}`), want{403, "Forbidden", "in API group \"" + group + "\"", nil})
				check(t, do("GET", path, ""), want{code: 403, reason: "Forbidden"})
			}
			// The verbs escalate and bind of the other group, which the user holds, do not count.
			grant("writer", `[{"apiGroups":["`+group+`"],"resources":["roles","rolebindings","clusterroles","clusterrolebindings"],
				"verbs":["create","update","patch","get","delete"]}]`)
			check(t, s.Do("POST", local+"roles", `{"metadata":{"name":"`+named("r")+`"},`+none+`}`), want{code: 200})
			check(t, s.Do("POST", local+"rolebindings", bindingTo(named("b"), "ClusterRole/cluster-admin", "nobody")), want{code: 200})
			merge := "Content-Type: application/merge-patch+json"
			tries := map[string]func() testserver.Answer{
				"create a role": func() testserver.Answer {
					return do("POST", local+"roles", `{"metadata":{"name":"`+named("x")+`"},`+all+`}`)
				},
				"replace a role": func() testserver.Answer {
					return do("PUT", local+"roles/"+named("r"), `{"metadata":{"name":"`+named("r")+`"},`+all+`}`)
				},
				"create by replacing": func() testserver.Answer {
					return do("PUT", local+"roles/"+named("y"), `{"metadata":{"name":"`+named("y")+`"},`+all+`}`)
				},
				"patch a role": func() testserver.Answer { return do("PATCH", local+"roles/"+named("r"), `{`+all+`}`, merge) },
				"strategic patch": func() testserver.Answer {
					return do("PATCH", local+"roles/"+named("r"), `{`+all+`}`, "Content-Type: application/strategic-merge-patch+json")
				},
				"json patch": func() testserver.Answer {
					return do("PATCH", local+"roles/"+named("r"), `[{"op":"add","path":"/rules/-","value":{"apiGroups":["*"],"resources":["*"],"verbs":["*"]}}]`, "Content-Type: application/json-patch+json")
				},
				"apply a role": func() testserver.Answer {
					return do("PATCH", local+"roles/"+named("r")+byForce("m"), `{"apiVersion":"`+group+`/v1","kind":"Role","metadata":{"name":"`+named("r")+`"},`+all+`}`, applyPatch)
				},
				"create a cluster role": func() testserver.Answer {
					return do("POST", wide+"clusterroles", `{"metadata":{"name":"`+named("x")+`"},`+all+`}`)
				},
				"bind a cluster role": func() testserver.Answer {
					return do("POST", local+"rolebindings", bindingTo(named("c"), "ClusterRole/cluster-admin", user))
				},
				"bind one in the cluster": func() testserver.Answer {
					return do("POST", wide+"clusterrolebindings", bindingTo(named("c"), "ClusterRole/cluster-admin", user))
				},
				"bind what is not there": func() testserver.Answer {
					return do("POST", local+"rolebindings", bindingTo(named("d"), "Role/later", user))
				},
				"add a subject": func() testserver.Answer {
					return do("PATCH", local+"rolebindings/"+named("b"), `{"subjects":[{"kind":"User","name":"`+user+`"}]}`, merge)
				},
				"dry run": func() testserver.Answer {
					return do("POST", local+"roles?dryRun=All", `{"metadata":{"name":"`+named("x")+`"},`+all+`}`)
				},
			}
			for what, try := range tries {
				if a := try(); a.Code != 403 || !strings.Contains(a.Body, "is attempting to") {
					t.Errorf("%s: %d %s", what, a.Code, a.Body)
				}
			}
			// What grants nothing new may be written; so may, with the verbs in this group,
			// everything.
			check(t, do("PATCH", local+"rolebindings/"+named("b"), `{"metadata":{"labels":{"l":"y"}}}`, merge), want{code: 200})
			grant("verbs", `[{"apiGroups":["`+group+`"],"resources":["roles","clusterroles"],"verbs":["escalate","bind"]}]`)
			for _, what := range []string{"create a role", "replace a role", "create a cluster role", "bind a cluster role", "bind one in the cluster", "add a subject"} {
				if a := tries[what](); !a.OK() {
					t.Errorf("%s with the verbs: %d %s", what, a.Code, a.Body)
				}
			}
			// The index follows what was written in either group.
			check(t, do("GET", "/api/v1/secrets", ""), want{code: 200})
			check(t, s.Do("DELETE", inGroup(other, wide)+"clusterrolebindings/"+named("c"), ""), want{code: 200})
			check(t, do("GET", "/api/v1/secrets", ""), want{code: 403, reason: "Forbidden"})
		})
	}
}

// TestAliasBuiltinRoles checks that the roles for namespaces treat both groups alike: an editor may
// not read, and an admin may write, roles and bindings.
func TestAliasBuiltinRoles(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	namespace(t, s, "n")
	for role, may := range map[string]bool{"view": false, "edit": false, "admin": true} {
		check(t, s.Do("POST", "/apis/"+aliasGroup+"/v1/namespaces/n/rolebindings", bindingTo(role, "ClusterRole/"+role, role)), want{code: 201})
		header := "Authorization: Bearer " + s.IssueToken(role)
		for _, group := range []string{ownGroup, aliasGroup} {
			for _, plural := range []string{"roles", "rolebindings"} {
				path := "/apis/" + group + "/v1/namespaces/n/" + plural
				if got := s.Do("GET", path, "", header).OK(); got != may {
					t.Errorf("%s reads %s of %s: %v", role, plural, group, got)
				}
				if got := s.Do("DELETE", path+"/none", "", header).Code == 404; got != may {
					t.Errorf("%s deletes %s of %s: %v", role, plural, group, got)
				}
			}
		}
	}
}
