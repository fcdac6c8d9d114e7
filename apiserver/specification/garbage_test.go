package specification

import (
	"fmt"
	"testing"

	"quorate/apiserver/internal/testserver"
)

// dependsOn is a change that makes an object a dependent of a stored one. More is members of the
// reference, as JSON.
func dependsOn(t *testing.T, owner, more string) string {
	t.Helper()
	return fmt.Sprintf(`{"metadata":{"ownerReferences":[%s]}}`, reference(t, owner, more))
}

func reference(t *testing.T, owner, more string) string {
	t.Helper()
	return fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"name":%q,"uid":%q%s}`, get(t, owner, "apiVersion"), get(t, owner, "kind"),
		get(t, owner, "metadata.name"), get(t, owner, "metadata.uid"), more)
}

const blocks = `,"blockOwnerDeletion":true`

// gone waits until an object is.
func gone(t *testing.T, s *testserver.Server, path string) {
	t.Helper()
	s.Eventually(path+" is gone", func() bool { return s.Do("GET", path, "").Code == 404 })
}

// settled waits until the collector has done what was there to do: what was made and is certain
// garbage has been collected.
func settled(t *testing.T, s *testserver.Server, ns string) {
	t.Helper()
	create(t, s, "ConfigMap", ns, "litter", `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"none","uid":"none"}]}}`)
	gone(t, s, item("ConfigMap", ns, "litter"))
}

// garbageRows prove what becomes of dependents (§3 rules 3–5, G21–G28, G43–G49).
var garbageRows = []row{
	{"G21", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		owner := create(t, s, "ConfigMap", ns, "owner")
		dependent := create(t, s, "Pod", ns, "p", dependsOn(t, owner, blocks))
		w := watch(t, s, watchPath("ConfigMap", ns)+"?resourceVersion="+get(t, dependent, "metadata.resourceVersion"))
		ok(t, s.Do("DELETE", item("ConfigMap", ns, "owner")+"?propagationPolicy=Orphan", ""))
		want(t, w.want("MODIFIED owner"), "metadata.finalizers", `["orphan"]`)
		w.want("DELETED owner")
		settled(t, s, ns)
		want(t, ok(t, s.Do("GET", item("Pod", ns, "p"), "")), "metadata.ownerReferences", "")
	}},
	{"G22", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		owner := create(t, s, "ConfigMap", ns, "owner")
		create(t, s, "ConfigMap", ns, "blocking", dependsOn(t, owner, blocks), finalized)
		last := create(t, s, "ConfigMap", ns, "other", dependsOn(t, owner, ""))
		w := watch(t, s, watchPath("ConfigMap", ns)+"/owner?resourceVersion="+get(t, last, "metadata.resourceVersion"))
		ok(t, s.Do("DELETE", item("ConfigMap", ns, "owner"), `{"propagationPolicy":"Foreground"}`))
		want(t, w.want("MODIFIED owner"), "metadata.finalizers", `["foregroundDeletion"]`)
		gone(t, s, item("ConfigMap", ns, "other"))
		s.Eventually("the other is going", func() bool {
			return get(t, s.Do("GET", item("ConfigMap", ns, "blocking"), "").Body, "metadata.deletionTimestamp") != ""
		})
		settled(t, s, ns)
		going := ok(t, s.Do("GET", item("ConfigMap", ns, "blocking"), ""))
		ok(t, s.Do("GET", item("ConfigMap", ns, "owner"), ""))
		ok(t, s.Do("PUT", item("ConfigMap", ns, "blocking"), with(going, `{"metadata":{"finalizers":null}}`)))
		w.want("DELETED owner")
	}},
	{"G23 G43", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		owner := create(t, s, "ConfigMap", ns, "owner", `{"metadata":{"finalizers":["orphan"]}}`)
		keeper := create(t, s, "ConfigMap", ns, "keeper")
		create(t, s, "Pod", ns, "p", dependsOn(t, owner, blocks))
		both := fmt.Sprintf(`{"metadata":{"ownerReferences":[%s,%s]}}`, reference(t, owner, ""), reference(t, keeper, ""))
		create(t, s, "Pod", ns, "shared", both)
		ok(t, s.Do("DELETE", item("ConfigMap", ns, "owner")+"?propagationPolicy=Background", ""))
		expect(t, s.Do("GET", item("ConfigMap", ns, "owner"), ""), 404, "NotFound")
		gone(t, s, item("Pod", ns, "p"))
		s.Eventually("the dead reference is dropped", func() bool {
			return get(t, ok(t, s.Do("GET", item("Pod", ns, "shared"), "")), "metadata.ownerReferences.1.uid") == ""
		})
		want(t, ok(t, s.Do("GET", item("Pod", ns, "shared"), "")), "metadata.ownerReferences.0.name", "keeper")
		ok(t, s.Do("DELETE", item("ConfigMap", ns, "keeper"), ""))
		gone(t, s, item("Pod", ns, "shared"))
	}},
	{"G24 §3.3 §4.4-propagationPolicy", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		for _, tc := range []struct {
			kind, finalizer, query string
			kept                   bool
		}{
			{"ConfigMap", "orphan", "", true}, {"ConfigMap", "foregroundDeletion", "", false}, {"ConfigMap", "", "", false},
			{"StatefulSet", "", "", false}, {"ConfigMap", "foregroundDeletion", "?propagationPolicy=Orphan", true},
			{"ConfigMap", "orphan", "?propagationPolicy=Foreground", false},
			{"HostSubnet", "", "?propagationPolicy=Orphan", false}, {"Event", "orphan", "", false},
		} {
			change := `{}`
			if tc.finalizer != "" {
				change = `{"metadata":{"finalizers":["` + tc.finalizer + `"]}}`
			}
			owner := create(t, s, tc.kind, ns, "g24", change)
			if tc.kind != "Event" { // which can't be an owner
				create(t, s, "ConfigMap", ns, "dependent", dependsOn(t, owner, blocks))
			}
			ok(t, s.Do("DELETE", item(tc.kind, ns, "g24")+tc.query, ""))
			gone(t, s, item(tc.kind, ns, "g24"))
			if tc.kept {
				settled(t, s, ns)
				want(t, ok(t, s.Do("GET", item("ConfigMap", ns, "dependent"), "")), "metadata.ownerReferences", "")
				ok(t, s.Do("DELETE", item("ConfigMap", ns, "dependent"), ""))
			}
			gone(t, s, item("ConfigMap", ns, "dependent"))
		}
	}},
	{"G25 §3.4 §4.4-orphanDependents", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		for _, tc := range []struct {
			finalizer, query, left string
		}{
			{"x.io/held", "?orphanDependents=true", `["x.io/held","orphan"]`},
			{"orphan", "?orphanDependents=false", ""},
			{"foregroundDeletion", "?orphanDependents=false", ""},
		} {
			owner := create(t, s, "ConfigMap", ns, "owner", `{"metadata":{"finalizers":["`+tc.finalizer+`"]}}`)
			w := watch(t, s, watchPath("ConfigMap", ns)+"/owner?resourceVersion="+get(t, owner, "metadata.resourceVersion"))
			ok(t, s.Do("DELETE", item("ConfigMap", ns, "owner")+tc.query, ""))
			if tc.left == "" {
				w.want("DELETED owner")
				continue
			}
			want(t, w.want("MODIFIED owner"), "metadata.finalizers", tc.left)
			served := w.want("MODIFIED owner") // the collector has nobody to tell
			want(t, served, "metadata.finalizers", `["x.io/held"]`)
			ok(t, s.Do("PUT", item("ConfigMap", ns, "owner"), with(served, `{"metadata":{"finalizers":null}}`)))
			w.want("DELETED owner")
		}
	}},
	{"G26 §3.5", func(t *testing.T, s *testserver.Server) {
		path := item("ConfigMap", namespace(t, s), "x")
		for _, a := range []testserver.Answer{
			s.Do("DELETE", path+"?orphanDependents=false&propagationPolicy=Background", ""),
			s.Do("DELETE", path, `{"orphanDependents":true,"propagationPolicy":"Orphan"}`),
			s.Do("DELETE", path+"?orphanDependents=true", `{"propagationPolicy":"Orphan"}`),
		} {
			expectInvalid(t, a, "propagationPolicy", "FieldValueInvalid", "orphanDependents and deletionPropagation cannot be both set")
			want(t, a.Body, "details.group", "meta.k8s.io", "details.kind", "DeleteOptions")
		}
	}},
	{"G27", func(t *testing.T, s *testserver.Server) {
		expectInvalid(t, s.Do("DELETE", item("ConfigMap", namespace(t, s), "x")+"?propagationPolicy=foreground", ""),
			"propagationPolicy", "FieldValueNotSupported")
	}},
	{"G28", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		create(t, s, "Pod", ns, "p", scheduled)
		ok(t, s.Do("DELETE", item("Pod", ns, "p")+"?gracePeriodSeconds=600", ""))
		going := ok(t, s.Do("GET", item("Pod", ns, "p"), ""))
		for _, policy := range []string{"Orphan", "Foreground", "Background"} {
			ok(t, s.Do("DELETE", item("Pod", ns, "p")+"?propagationPolicy="+policy, ""))
			if again := ok(t, s.Do("GET", item("Pod", ns, "p"), "")); again != going {
				t.Errorf("%s changed it: %s", policy, again)
			}
		}
	}},
	{"G44 G45 G46 G48", func(t *testing.T, s *testserver.Server) {
		ns, elsewhere := namespace(t, s), namespace(t, s)
		owner := create(t, s, "ConfigMap", ns, "owner")
		node := create(t, s, "Node", "", "g45")
		owned := func(changes string) string { return with(dependsOn(t, owner, blocks), changes) }
		create(t, s, "ConfigMap", elsewhere, "stranger", owned(`{}`))
		create(t, s, "ConfigMap", ns, "other-uid", with(`{"metadata":{}}`,
			`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"owner","uid":"other"}]}}`))
		create(t, s, "Node", "", "g46", owned(`{}`))
		create(t, s, "ConfigMap", ns, "of-node", dependsOn(t, node, ""))
		create(t, s, "ConfigMap", ns, "of-unknown", `{"metadata":{"ownerReferences":[{"apiVersion":"toys/v1","kind":"Toy","name":"t","uid":"u"}]}}`)
		gone(t, s, item("ConfigMap", elsewhere, "stranger"))
		gone(t, s, item("ConfigMap", ns, "other-uid"))
		ok(t, s.Do("GET", item("ConfigMap", ns, "of-node"), ""))
		ok(t, s.Do("DELETE", item("Node", "", "g45"), ""))
		gone(t, s, item("ConfigMap", ns, "of-node"))
		ok(t, s.Do("DELETE", item("ConfigMap", ns, "owner"), ""))
		settled(t, s, ns)
		ok(t, s.Do("GET", item("Node", "", "g46"), ""))
		ok(t, s.Do("GET", item("ConfigMap", ns, "of-unknown"), ""))
	}},
	{"G47", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		owner := create(t, s, "ConfigMap", ns, "owner")
		made := create(t, s, "ConfigMap", ns, "m", dependsOn(t, owner, blocks))
		want(t, made, "metadata.ownerReferences.0.blockOwnerDeletion", "true")
		off := fmt.Sprintf(`{"metadata":{"ownerReferences":[%s]}}`, reference(t, owner, `,"blockOwnerDeletion":false`))
		want(t, ok(t, s.Do("PUT", item("ConfigMap", ns, "m"), with(made, off))), "metadata.ownerReferences.0.blockOwnerDeletion", "false")
	}},
}

// garbageReplicaRows prove that whoever leads goes on.
var garbageReplicaRows = []row{
	{"G49 N16", func(t *testing.T, _ *testserver.Server) {
		r := startReplicas(t)
		follower, leader := r.follower()
		s := r.on(follower)
		ns := namespace(t, s)
		owner := create(t, s, "ConfigMap", ns, "owner")
		create(t, s, "ConfigMap", ns, "held", dependsOn(t, owner, blocks), finalized)
		create(t, s, "Pod", ns, "p", scheduled, `{"spec":{"terminationGracePeriodSeconds":2}}`)
		ok(t, s.Do("DELETE", item("ConfigMap", ns, "owner")+"?propagationPolicy=Foreground", ""))
		ok(t, s.Do("DELETE", item("Pod", ns, "p"), ""))
		ok(t, s.Do("DELETE", item("Namespace", "", ns), ""))
		r.on(leader).Stop()
		leader.Kill()
		s = r.on(r.Leader())
		s.Eventually("the dependent is going", func() bool {
			return get(t, s.Do("GET", item("ConfigMap", ns, "held"), "").Body, "metadata.deletionTimestamp") != ""
		})
		going := ok(t, s.Do("GET", item("ConfigMap", ns, "held"), ""))
		ok(t, s.Do("GET", item("ConfigMap", ns, "owner"), ""))
		ok(t, s.Do("PUT", item("ConfigMap", ns, "held"), with(going, `{"metadata":{"finalizers":null}}`)))
		for _, path := range []string{item("ConfigMap", ns, "owner"), item("Pod", ns, "p"), item("Namespace", "", ns)} {
			gone(t, s, path)
		}
	}},
}
