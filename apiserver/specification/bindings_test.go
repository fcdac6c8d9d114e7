package specification

import (
	"testing"

	"quorate/apiserver/internal/testserver"
)

const rbacForm, legacyForm = "ClusterRoleBinding", "LegacyBinding"

// bindingRows prove that the two forms of ClusterRoleBinding are one object (§2.16, J39–J45, D37).
var bindingRows = []row{
	{"J39 J43", func(t *testing.T, s *testserver.Server) {
		for _, kind := range []string{rbacForm, legacyForm} {
			other := rbacForm
			if kind == rbacForm {
				other = legacyForm
			}
			made := create(t, s, kind, "", "j39", label)
			seen := ok(t, s.Do("GET", item(other, "", "j39"), ""))
			want(t, seen, "kind", "ClusterRoleBinding", "apiVersion", kindNamed(other).apiVersion(), "roleRef.name", "r")
			for _, name := range []string{"name", "uid", "resourceVersion", "creationTimestamp", "labels"} {
				want(t, seen, "metadata."+name, get(t, made, "metadata."+name))
			}
			expect(t, s.Do("POST", collection(other, ""), minimal(other, "", "j39")), 409, "AlreadyExists")
			if back := ok(t, s.Do("PUT", item(other, "", "j39"), seen)); back != seen {
				t.Errorf("J43: %s became %s", seen, back)
			}
			if now := ok(t, s.Do("GET", item(kind, "", "j39"), "")); now != made {
				t.Errorf("J43: %s became %s", made, now)
			}
			changed := ok(t, s.Do("PUT", item(other, "", "j39"), with(seen, `{"metadata":{"annotations":{"a":"b"}}}`)))
			want(t, ok(t, s.Do("GET", item(kind, "", "j39"), "")), "metadata.annotations.a", "b",
				"metadata.resourceVersion", get(t, changed, "metadata.resourceVersion"))
			ok(t, s.Do("DELETE", item(other, "", "j39"), ""))
			expect(t, s.Do("GET", item(kind, "", "j39"), ""), 404, "NotFound")
		}
	}},
	{"J40", func(t *testing.T, s *testserver.Server) {
		create(t, s, legacyForm, "", "j40", `{"subjects":[{"kind":"User","name":"u"},{"kind":"SystemUser","name":"system:u"},
			{"kind":"Group","name":"g"},{"kind":"SystemGroup","name":"system:g"},{"kind":"ServiceAccount","namespace":"n","name":"sa"}]}`)
		seen := ok(t, s.Do("GET", item(rbacForm, "", "j40"), ""))
		want(t, seen, "roleRef", `{"apiGroup":"rbac.authorization.platform.io","kind":"ClusterRole","name":"r"}`,
			"subjects.0.kind", "User", "subjects.1.kind", "User", "subjects.1.name", "system:u",
			"subjects.2.kind", "Group", "subjects.3.kind", "Group", "subjects.3.apiGroup", "rbac.authorization.platform.io",
			"subjects.4", `{"kind":"ServiceAccount","name":"sa","namespace":"n"}`)
		expectInvalid(t, s.Do("POST", collection(legacyForm, ""), minimal(legacyForm, "", "j40n", `{"roleRef":{"namespace":"n"}}`)),
			"roleRef.namespace", "FieldValueInvalid", `attempts to reference role in namespace "n"`)
		expectInvalid(t, s.Do("POST", collection(legacyForm, ""), minimal(legacyForm, "", "j40k", `{"subjects":[{"kind":"Pod","name":"p"}]}`)),
			"subjects[0].kind", "FieldValueNotSupported")
	}},
	{"J41", func(t *testing.T, s *testserver.Server) {
		create(t, s, legacyForm, "", "j41", `{"userNames":["alice","system:serviceaccount:n:sa"],"groupNames":["team"]}`)
		want(t, ok(t, s.Do("GET", item(rbacForm, "", "j41"), "")), "subjects", `[{"apiGroup":"rbac.authorization.platform.io",`+
			`"kind":"User","name":"alice"},{"kind":"ServiceAccount","name":"sa","namespace":"n"},`+
			`{"apiGroup":"rbac.authorization.platform.io","kind":"Group","name":"team"}]`)
		ok(t, s.Do("PUT", item(legacyForm, "", "j41"), minimal(legacyForm, "", "j41", `{"userNames":[],"groupNames":null}`)))
		want(t, ok(t, s.Do("GET", item(rbacForm, "", "j41"), "")), "subjects", "")
		ok(t, s.Do("PUT", item(legacyForm, "", "j41"), minimal(legacyForm, "", "j41", `{"userNames":null}`)))
		want(t, ok(t, s.Do("GET", item(rbacForm, "", "j41"), "")), "subjects.0.name", "u")
		for _, media := range []string{mergePatch, strategicPatch} {
			patched := ok(t, s.Do("PATCH", item(legacyForm, "", "j41"), `{"userNames":["bob"],"groupNames":["team"]}`, media))
			want(t, patched, "apiVersion", "v1", "userNames", `["bob"]`, "subjects.1.name", "team")
			want(t, ok(t, s.Do("GET", item(rbacForm, "", "j41"), "")), "subjects.0.name", "bob", "subjects.1.kind", "Group")
			ok(t, s.Do("PATCH", item(rbacForm, "", "j41"), `{"subjects":[{"kind":"User","name":"carol"}]}`, media))
			want(t, ok(t, s.Do("GET", item(legacyForm, "", "j41"), "")), "userNames", `["carol"]`, "groupNames", "")
		}
	}},
	{"J42", func(t *testing.T, s *testserver.Server) {
		create(t, s, rbacForm, "", "j42", `{"subjects":[{"kind":"User","name":"alice"},{"kind":"User","name":"system:u"},
			{"kind":"Group","name":"team"},{"kind":"Group","name":"system:g"},{"kind":"ServiceAccount","name":"sa","namespace":"n"}]}`)
		seen := ok(t, s.Do("GET", item(legacyForm, "", "j42"), ""))
		want(t, seen, "roleRef", `{"name":"r"}`, "userNames", `["alice","system:u","system:serviceaccount:n:sa"]`,
			"groupNames", `["team","system:g"]`, "subjects", `[{"kind":"User","name":"alice"},{"kind":"SystemUser","name":"system:u"},`+
				`{"kind":"Group","name":"team"},{"kind":"SystemGroup","name":"system:g"},{"kind":"ServiceAccount","name":"sa","namespace":"n"}]`)
		ok(t, s.Do("PATCH", item(rbacForm, "", "j42"), `{"subjects":null}`, mergePatch))
		want(t, ok(t, s.Do("GET", item(legacyForm, "", "j42"), "")), "userNames", "", "groupNames", "")
		list := ok(t, s.Do("GET", collection(legacyForm, "")+"?fieldSelector=metadata.name%3Dj42", ""))
		want(t, list, "kind", "ClusterRoleBindingList", "apiVersion", "v1", "items.0.roleRef.name", "r")
	}},
	{"J44", func(t *testing.T, s *testserver.Server) {
		nobody := "Authorization: Bearer " + s.IssueToken("nobody")
		for kind, group := range map[string]string{legacyForm: "", rbacForm: "rbac.authorization.platform.io"} {
			for method, verb := range map[string]string{"GET": "get", "PUT": "update", "PATCH": "patch", "DELETE": "delete"} {
				expect(t, s.Do(method, item(kind, "", "j44"), "", nobody), 403, "Forbidden",
					`User "nobody" cannot `+verb+` resource "clusterrolebindings" in API group "`+group+`" at the cluster scope`)
			}
		}
	}},
	{"J45", func(t *testing.T, s *testserver.Server) {
		for _, kind := range []string{legacyForm, rbacForm} {
			name := nameFor(kind, "j45")
			want(t, create(t, s, kind, "", name, `{"metadata":{"namespace":"default"}}`), "metadata.namespace", "")
			expect(t, s.Do("GET", kindNamed(kind).prefix+"/namespaces/default/clusterrolebindings/"+name, ""), 404, "NotFound")
		}
	}},
	{"D37", func(t *testing.T, s *testserver.Server) {
		w := watch(t, s, watchPath(rbacForm, "")+"/d37?resourceVersion="+
			get(t, ok(t, s.Do("GET", collection(rbacForm, ""), "")), "metadata.resourceVersion"))
		create(t, s, legacyForm, "", "d37")
		want(t, w.want("ADDED d37"), "apiVersion", "rbac.authorization.platform.io/v1", "roleRef.kind", "ClusterRole")
		ok(t, s.Do("PATCH", item(legacyForm, "", "d37"), `{"userNames":["bob"]}`, mergePatch))
		want(t, w.want("MODIFIED d37"), "subjects.0.name", "bob")
		ok(t, s.Do("DELETE", item(legacyForm, "", "d37"), ""))
		w.want("DELETED d37")
	}},
}
