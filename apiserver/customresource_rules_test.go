package apiserver_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"quorate/apiserver/internal/testserver"
	"quorate/raftstore"
	"quorate/raftstore/testcluster"
)

// TestCustomResourceAccess: rules name the subresources of custom resources as they name those of
// other kinds: a right to the object is none to its status or scale, and the other way round.
func TestCustomResourceAccess(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	establish(t, s, widgetsName, widgetDefinition())
	check(t, s.Do("POST", widgets, widget("a", `{"size":1,"replicas":1}`)), want{code: 201})
	const rbac = "/apis/rbac.authorization.platform.io/v1/namespaces/default"
	users := map[string]string{}
	for user, resource := range map[string]string{"object": "widgets", "status": "widgets/status", "scale": "widgets/scale"} {
		check(t, s.Do("POST", rbac+"/roles", fmt.Sprintf(`{"metadata":{"name":%q},"rules":[{"apiGroups":["shop.example.com"],"resources":[%q],"verbs":["get","update","patch"]}]}`, user, resource)), want{code: 200})
		check(t, s.Do("POST", rbac+"/rolebindings", fmt.Sprintf(`{"metadata":{"name":%q},"subjects":[{"kind":"User","name":%[1]q}],"roleRef":{"kind":"Role","name":%[1]q}}`, user)), want{code: 200})
		users[user] = "Authorization: Bearer " + s.IssueToken(user)
	}
	patches := map[string]string{"object": `{"metadata":{"labels":{"l":"v"}}}`, "status": `{"status":{"phase":"x"}}`, "scale": `{"spec":{"replicas":2}}`}
	paths := map[string]string{"object": widgets + "/a", "status": widgets + "/a/status", "scale": widgets + "/a/scale"}
	for user, token := range users {
		for what, path := range paths {
			code := 403
			if what == user {
				code = 200
			}
			check(t, s.Do("GET", path, "", token), want{code: code})
			check(t, s.Do("PATCH", path, patches[what], token, "Content-Type: application/merge-patch+json"), want{code: code})
		}
		check(t, s.Do("GET", widgets, "", token), want{code: 403, reason: "Forbidden", message: fmt.Sprintf(
			`widgets.shop.example.com is forbidden: User %q cannot list resource "widgets" in API group "shop.example.com" in the namespace "default"`, user)})
	}
}

// TestCustomResourceFinalizers: custom resources have finalizers of any qualified name, since there
// are no standard ones that an unqualified name could be mistaken for.
func TestCustomResourceFinalizers(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	establish(t, s, widgetsName, widgetDefinition())
	check(t, s.Do("POST", widgets, widget("a", `{"size":1}`)), want{code: 201})
	finalize := func(path, name string) testserver.Answer {
		return s.Do("PATCH", path, fmt.Sprintf(`{"metadata":{"finalizers":[%q]}}`, name), "Content-Type: application/merge-patch+json")
	}
	check(t, finalize(widgets+"/a", "mine"), want{code: 200})
	check(t, finalize(widgets+"/a", "mine!"), want{code: 422, reason: "Invalid"})
	check(t, finalize("/api/v1/namespaces/default", "mine"), want{code: 422, reason: "Invalid"})
}

// TestOpenCustomResource: OpenAPI in version 2 lists no members of a kind that has any, because
// kubectl would refuse those that are not listed.
func TestOpenCustomResource(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	open := `{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}`
	establish(t, s, "crates.shop.example.com", definitionOf("crates", "Crate", "Namespaced", open))
	s.Eventually("the kind is documented", func() bool {
		return strings.Contains(s.Do("GET", "/openapi/v2", "").Body, `"com.example.shop.v1.Crate":{"type":"object","x-kubernetes-group-version-kind":`)
	})
}

// TestDefinitionConditions: the status of a definition takes conditions that lack a type and a
// status, as upstream's does.
func TestDefinitionConditions(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	establish(t, s, widgetsName, widgetDefinition())
	check(t, patchAs(s, "json", definitions+"/"+widgetsName+"/status", `[{"op":"add","path":"/status/conditions/-","value":{"message":"checked"}}]`),
		want{code: 200, body: []string{`"message":"checked"`}})
}

// TestCustomResourceQuota: a quota names custom resources as it names others, whichever definition
// they belong to.
func TestCustomResourceQuota(t *testing.T) {
	t.Parallel()
	cluster := testcluster.New(t, 1, func(cfg *raftstore.Config) {
		cfg.Quota = raftstore.Quota{Objects: map[string]int{"shop.example.com/widgets": 2}}
	})
	s := testserver.StartOnNodes(t, cluster.Nodes, nil)[0]
	for range 2 {
		establish(t, s, widgetsName, widgetDefinition())
		for i := range 2 {
			check(t, s.Do("POST", widgets, widget(fmt.Sprint("w", i), `{"size":1}`)), want{code: 201})
		}
		check(t, s.Do("POST", widgets, widget("w2", `{"size":1}`)), want{403, "Forbidden",
			`widgets.shop.example.com "w2" is forbidden: exceeded quota: object-quota, requested: count/widgets.shop.example.com=1, ` +
				`used: count/widgets.shop.example.com=2, limited: count/widgets.shop.example.com=2`, nil})
		check(t, s.Do("DELETE", widgets+"/w0", ""), want{code: 200})
		check(t, s.Do("POST", widgets, widget("w2", `{"size":1}`)), want{code: 201})
		check(t, s.Do("DELETE", definitions+"/"+widgetsName, ""), want{code: 200})
		s.Eventually("the definition is gone", func() bool { return s.Do("GET", definitions+"/"+widgetsName, "").Code == 404 })
	}
}

// TestCustomResourceGarbage: custom resources own custom and other resources, under each policy.
func TestCustomResourceGarbage(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	establish(t, s, widgetsName, widgetDefinition())
	const configMaps = "/api/v1/namespaces/default/configmaps"
	for _, policy := range []string{"Background", "Foreground", "Orphan"} {
		t.Run(policy, func(t *testing.T) {
			owner := s.Do("POST", widgets, widget("owner", `{"size":1}`))
			check(t, owner, want{code: 201})
			references := fmt.Sprintf(`"ownerReferences":[{"apiVersion":"shop.example.com/v1","kind":"Widget","name":"owner","uid":%q,"blockOwnerDeletion":true}],"name"`,
				field(t, owner.Body, "metadata.uid"))
			check(t, s.Do("POST", widgets, strings.Replace(widget("dependent", `{"size":1}`), `"name"`, references, 1)), want{code: 201})
			check(t, s.Do("POST", configMaps, strings.Replace(configMap("dependent"), `"name"`, references, 1)), want{code: 200})
			check(t, s.Do("DELETE", widgets+"/owner?propagationPolicy="+policy, ""), want{code: 200})
			s.Eventually("the owner is gone", func() bool { return s.Do("GET", widgets+"/owner", "").Code == 404 })
			for _, path := range []string{widgets, configMaps} {
				if policy == "Orphan" {
					got := s.Do("GET", path+"/dependent", "")
					check(t, got, want{code: 200})
					if strings.Contains(got.Body, "ownerReferences") {
						t.Errorf("an orphan still has an owner: %s", got.Body)
					}
					check(t, s.Do("DELETE", path+"/dependent", ""), want{code: 200})
					continue
				}
				gone := func() bool { return s.Do("GET", path+"/dependent", "").Code == 404 }
				if policy == "Foreground" && !gone() {
					t.Errorf("%s: the owner went first", path)
				}
				s.Eventually("the dependent is gone", gone)
			}
		})
	}
}

// TestCustomResourcePages: pages of custom resources are of one state, with selectors of fields and
// labels too.
func TestCustomResourcePages(t *testing.T) {
	t.Parallel()
	s := testserver.Start(t, nil)
	establish(t, s, widgetsName, widgetDefinition())
	for i := range 25 {
		check(t, s.Do("POST", widgets, widget(fmt.Sprintf("w%02d", i), fmt.Sprintf(`{"size":1,"color":"%s"}`, []string{"red", "blue"}[i%2]))), want{code: 201})
	}
	pages := func(query string) (names []string) {
		t.Helper()
		for next := ""; ; {
			got := s.Do("GET", widgets+"?limit=4"+query+next, "")
			check(t, got, want{code: 200})
			names = append(names, itemNames(t, got.Body)...)
			if next = field(t, got.Body, "metadata.continue"); next == "" {
				return names
			}
			check(t, s.Do("POST", widgets, widget(fmt.Sprintf("x%d", len(names)), `{"size":1,"color":"blue"}`)), want{code: 201})
			check(t, s.Do("DELETE", widgets+fmt.Sprintf("/x%d", len(names)), ""), want{code: 200})
			next = "&continue=" + next
		}
	}
	if all := pages(""); len(all) != 25 || !slices.IsSorted(all) {
		t.Errorf("all: %q", all)
	}
	for query, count := range map[string]int{"&fieldSelector=spec.color%3Dblue": 12, "&fieldSelector=spec.color!%3Dblue": 13, "&fieldSelector=metadata.name%3Dw07,spec.color%3Dblue": 1,
		"&fieldSelector=metadata.namespace%3Ddefault": 25} {
		if names := pages(query); len(names) != count {
			t.Errorf("%s: %q", query, names)
		}
	}
	check(t, s.Do("GET", widgets+"?fieldSelector=spec.size%3D1", ""), want{code: 400})
}

// TestCustomResourceWarnsOnce: a request that was routed by a former definition has the warning of
// the current one, once.
func TestCustomResourceWarnsOnce(t *testing.T) {
	t.Parallel()
	servers := testserver.StartReplicas(t, 3, nil)
	deprecated := func(warning string) string {
		return strings.Replace(widgetDefinition(), `{"name":"v1"`, `{"name":"v1","deprecated":true,"deprecationWarning":"`+warning+`"`, 1)
	}
	establish(t, servers[0], widgetsName, deprecated("warning 0"))
	for i := range 30 {
		text := fmt.Sprint("warning ", i+1)
		check(t, patchAs(servers[i%3], "json", definitions+"/"+widgetsName,
			`[{"op":"replace","path":"/spec/versions/0/deprecationWarning","value":"`+text+`"}]`), want{code: 200})
		for _, s := range servers {
			got := s.Do("GET", widgets, "")
			check(t, got, want{code: 200})
			if have, want := got.Header.Values("Warning"), []string{`299 - "` + text + `"`}; !slices.Equal(have, want) {
				t.Errorf("warnings %q, not %q", have, want)
			}
		}
	}
}
