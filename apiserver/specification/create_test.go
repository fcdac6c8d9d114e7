package specification

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"quorate/apiserver"
	"quorate/apiserver/internal/testserver"
	"quorate/raftstore"
	"quorate/raftstore/state"
)

// createRows: where a new object goes and what it is called.
var createRows = []row{
	{"A1 Z1", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		for _, k := range catalog() {
			name := rowName(k.kind, "a1")
			made := create(t, s, k.kind, ns, name)
			if got := ok(t, s.Do("GET", item(k.kind, ns, name), "")); got != made {
				t.Errorf("%s: stored as %s, answered with %s", k.kind, got, made)
			}
		}
		// Z1: the same code for a create by PUT.
		ok(t, s.Do("PUT", item("Endpoints", ns, "put"), minimal("Endpoints", ns, "put")))
	}},
	{"§4.2-namespaced-create-cluster-wide A4", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		for _, k := range namespacedKinds() {
			made := ok(t, s.Do("POST", collection(k.kind, ""), minimal(k.kind, ns, "a4")))
			want(t, made, "kind", k.realKind(), "metadata.namespace", ns)
			if got := ok(t, s.Do("GET", item(k.kind, ns, "a4"), "")); got != made {
				t.Errorf("%s: stored as %s, answered with %s", k.kind, got, made)
			}
		}
	}},
	{"§4.2-namespaced-create-in-namespace A2", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		for _, k := range namespacedKinds() {
			body := with(minimal(k.kind, ns, "a2"), `{"metadata":{"namespace":null}}`)
			want(t, ok(t, s.Do("POST", collection(k.kind, ns), body)), "kind", k.realKind(), "metadata.namespace", ns)
		}
	}},
	{"§4.2-cluster-create A7", func(t *testing.T, s *testserver.Server) {
		for _, k := range catalog() {
			if k.namespaced {
				continue
			}
			name := rowName(k.kind, "a7")
			made := create(t, s, k.kind, "", name, `{"metadata":{"namespace":"default"}}`)
			want(t, made, "kind", k.realKind(), "metadata.name", name, "metadata.namespace", "")
		}
	}},
	{"A3", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		expect(t, s.Do("POST", collection("Pod", ns), minimal("Pod", "other", "p")), 400, "BadRequest",
			"the namespace of the provided object does not match the namespace sent on the request")
	}},
	{"A5 Z2", func(t *testing.T, s *testserver.Server) {
		made := ok(t, s.Do("POST", collection("ConfigMap", ""), minimal("ConfigMap", "", "a5")))
		want(t, made, "metadata.namespace", "default", "metadata.selfLink", "/api/v1/namespaces/default/configmaps/a5")
	}},
	{"A6", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		base := "/apis/rbac.authorization.platform.io/v1/namespaces/" + ns
		ok(t, s.Do("POST", base+"/roles", `{"metadata":{"name":"a6"},"rules":[{"apiGroups":[""],"resources":["configmaps"],"verbs":["create"]}]}`))
		ok(t, s.Do("POST", base+"/rolebindings", `{"metadata":{"name":"a6"},"subjects":[{"kind":"User","name":"jane"}],"roleRef":{"kind":"Role","name":"a6"}}`))
		jane := "Authorization: Bearer " + s.IssueToken("jane")
		mary := "Authorization: Bearer " + s.IssueToken("mary") // who may create none anywhere: her body is not read
		expect(t, s.Do("POST", collection("ConfigMap", ""), "no ConfigMap", mary), 403, "Forbidden",
			`configmaps is forbidden: User "mary" cannot create resource "configmaps" in API group "" in the namespace "default"`)
		ok(t, s.Do("POST", collection("ConfigMap", ""), minimal("ConfigMap", ns, "a6"), jane))
		for body, ns := range map[string]string{
			minimal("ConfigMap", "elsewhere", "a6"): "elsewhere", minimal("ConfigMap", "", "a6"): "default",
		} {
			expect(t, s.Do("POST", collection("ConfigMap", ""), body, jane), 403, "Forbidden",
				`configmaps is forbidden: User "jane" cannot create resource "configmaps" in API group "" in the namespace "`+ns+`"`)
		}
	}},
	{"A8", func(t *testing.T, s *testserver.Server) {
		expect(t, s.Do("POST", "/api/v1/namespaces/"+namespace(t, s)+"/nodes", minimal("Node", "", "n")), 404, "NotFound")
		expect(t, s.Do("GET", "/api/v1/nodes/n", ""), 404, "NotFound")
	}},
	{"A9", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		for _, k := range catalog() {
			name := rowName(k.kind, "a9")
			a := s.Do("POST", item(k.kind, ns, name), minimal(k.kind, ns, name))
			expect(t, a, 405, "MethodNotAllowed")
			if allow := a.Header.Get("Allow"); !strings.Contains(allow, "GET") || strings.Contains(allow, "POST") {
				t.Errorf("%s: Allow: %s", k.kind, allow)
			}
		}
	}},
	{"A10", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		for kind, subject := range map[string]string{
			"ConfigMap": `configmaps "a10"`, "StatefulSet": `statefulsets.apps "a10"`, "Role": `roles.rbac.authorization.platform.io "a10"`,
		} {
			create(t, s, kind, ns, "a10", `{"metadata":{"finalizers":["example.com/hold"]}}`)
			a := s.Do("POST", collection(kind, ns), minimal(kind, ns, "a10"))
			st := refusal(t, a, 409, "AlreadyExists")
			k := kindNamed(kind)
			if st.Message != subject+" already exists" || st.Details.Kind != k.plural || st.Details.Group != k.group() ||
				st.Details.Name != "a10" {
				t.Error(a.Body)
			}
			ok(t, s.Do("DELETE", item(kind, ns, "a10"), ""))
			a = s.Do("POST", collection(kind, ns), minimal(kind, ns, "a10"))
			if m := refusal(t, a, 409, "AlreadyExists").Message; m != "object is being deleted: "+subject+" already exists" {
				t.Error(a.Body)
			}
		}
	}},
	{"A11", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		for prefix, kept := range map[string]string{"p-": "p-", strings.Repeat("x", 70): strings.Repeat("x", 58)} {
			made := ok(t, s.Do("POST", collection("ConfigMap", ns), `{"metadata":{"generateName":"`+prefix+`"}}`))
			name := get(t, made, "metadata.name")
			if !regexp.MustCompile(`^` + kept + `[bcdfghjklmnpqrstvwxz2456789]{5}$`).MatchString(name) {
				t.Errorf("name %q of %q", name, prefix)
			}
			want(t, made, "metadata.generateName", prefix)
		}
	}},
	{"A12", func(t *testing.T, s *testserver.Server) {
		for _, tc := range []struct{ taken, tries int64 }{{7, 8}, {8, 8}, {100, 8}} {
			store := &takenNames{Store: s.Store, taken: tc.taken}
			other := testserver.StartOn(t, s.Store, func(cfg *apiserver.Config) { cfg.Store = store })
			a := other.Do("POST", collection("ConfigMap", "default"), `{"metadata":{"generateName":"a12-"}}`)
			if tries := store.tries.Load(); tries != tc.tries {
				t.Errorf("%d tries, want %d", tries, tc.tries)
			}
			if tc.taken < tc.tries {
				ok(t, a)
				continue
			}
			st := refusal(t, a, 409, "AlreadyExists")
			if st.Details.RetryAfterSeconds != 1 || a.Header.Get("Retry-After") != "1" ||
				!strings.Contains(st.Message, "was not able to generate a unique name") {
				t.Errorf("%s %v", a.Body, a.Header)
			}
		}
	}},
	{"A13", func(t *testing.T, s *testserver.Server) {
		made := create(t, s, "ConfigMap", namespace(t, s), "a13", `{"metadata":{"generateName":"g-"}}`)
		want(t, made, "metadata.name", "a13", "metadata.generateName", "g-")
	}},
	{"A14", func(t *testing.T, s *testserver.Server) {
		a := s.Do("POST", collection("ConfigMap", namespace(t, s)), `{"metadata":{}}`)
		expectInvalid(t, a, "metadata.name", "FieldValueRequired", "name or generateName is required")
	}},
	{"A15", func(t *testing.T, s *testserver.Server) {
		cms := collection("ConfigMap", namespace(t, s))
		expectInvalid(t, s.Do("POST", cms, `{"metadata":{"name":"No"}}`), "metadata.name", "FieldValueInvalid")
		expectInvalid(t, s.Do("POST", cms, `{"metadata":{"generateName":"No"}}`), "metadata.generateName", "FieldValueInvalid")
	}},
	{"A16", func(t *testing.T, s *testserver.Server) {
		checkNames(t, s, []string{"Namespace"}, []string{strings.Repeat("n", 63), "0"}, []string{"a.b", "-a", "a-", "A", strings.Repeat("n", 64)})
	}},
	{"A17", func(t *testing.T, s *testserver.Server) {
		// The kind files, which decide on names, give OAuthClient this rule, and Event, HostSubnet
		// and ClusterNetwork that of A19.
		long := strings.Repeat(strings.Repeat("a", 60)+".", 4) + strings.Repeat("b", 9)
		checkNames(t, s, []string{"Pod", "Node", "ConfigMap", "Endpoints", "PersistentVolume", "DaemonSet", "StatefulSet",
			"HorizontalPodAutoscaler", "OAuthClient"}, []string{"a.b-c.d", long}, []string{"a..b", ".a", "a_b", "A", "a:b", long + "c"})
		checkNames(t, s, []string{"ThirdPartyResource"}, []string{"a-b.example.com"}, []string{"a..b.com", "a_b.example.com", "A.example.com"})
	}},
	{"A18", func(t *testing.T, s *testserver.Server) {
		checkNames(t, s, []string{"CronJob"}, []string{"a.b", strings.Repeat("c", 52)}, []string{"A", strings.Repeat("c", 53)})
	}},
	{"A19", func(t *testing.T, s *testserver.Server) {
		checkNames(t, s, []string{"ClusterRole", "Role", "ClusterRoleBinding", "Image", "Event", "HostSubnet", "ClusterNetwork"},
			[]string{"system:admin", "sha256:0a", "Any Thing", "..."}, []string{".", "..", "a/b", "a%b"})
		checkNames(t, s, []string{"LegacyBinding"}, []string{"system:legacy", "Another_One"}, []string{".", "..", "a/b", "a%b"})
	}},
	{"A31", func(t *testing.T, s *testserver.Server) {
		for _, path := range []string{collection("ConfigMap", "nope"), collection("ConfigMap", "")} {
			a := s.Do("POST", path, minimal("ConfigMap", "nope", "a31"))
			if st := refusal(t, a, 404, "NotFound"); st.Details.Kind != "namespaces" || st.Message != `namespaces "nope" not found` {
				t.Error(a.Body)
			}
		}
		expect(t, s.Do("GET", "/api/v1/namespaces/nope", ""), 404, "NotFound")
	}},
	{"A32", func(t *testing.T, s *testserver.Server) {
		ns := going(t, s)
		for kind, subject := range map[string]string{"ConfigMap": "configmaps", "DaemonSet": "daemonsets.apps"} {
			a := s.Do("POST", collection(kind, ns), minimal(kind, ns, "a32"))
			st := refusal(t, a, 403, "Forbidden")
			wanted := fmt.Sprintf("%s %q is forbidden: unable to create new content in namespace %s because it is being terminated", subject, "a32", ns)
			if st.Message != wanted || st.Details.Causes[0].Reason != "NamespaceTerminating" ||
				st.Details.Causes[0].Field != "metadata.namespace" {
				t.Error(a.Body)
			}
		}
	}},
	{"A33", func(t *testing.T, s *testserver.Server) {
		ns := namespace(t, s)
		// The namespace begins to go after the server has looked at it, and before it writes.
		store := &interrupted{Store: s.Store, before: func() {
			ok(t, s.Do("PUT", item("Namespace", "", ns), minimal("Namespace", "", ns, `{"metadata":{"finalizers":["example.com/hold"]}}`)))
			ok(t, s.Do("DELETE", item("Namespace", "", ns), ""))
		}}
		other := testserver.StartOn(t, s.Store, func(cfg *apiserver.Config) { cfg.Store = store })
		store.armed.Store(true)
		expect(t, other.Do("POST", collection("ConfigMap", ns), minimal("ConfigMap", ns, "a33")), 403, "Forbidden", "NamespaceTerminating")
		expect(t, s.Do("GET", item("ConfigMap", ns, "a33"), ""), 404, "NotFound")
	}},
}

// takenNames is a store in which the first names that are made up are taken.
type takenNames struct {
	*raftstore.Store
	taken int64
	tries atomic.Int64
}

func (s *takenNames) Create(ctx context.Context, c raftstore.Create) (*state.Object, error) {
	if !strings.Contains(string(c.Key), "a12-") {
		return s.Store.Create(ctx, c)
	}
	if s.tries.Add(1) <= s.taken {
		return nil, &state.Exists{Key: c.Key}
	}
	return s.Store.Create(ctx, c)
}

// interrupted is a store to which something happens before a create.
type interrupted struct {
	*raftstore.Store
	before func()
	armed  atomic.Bool
}

func (s *interrupted) Create(ctx context.Context, c raftstore.Create) (*state.Object, error) {
	if s.armed.Swap(false) {
		s.before()
	}
	return s.Store.Create(ctx, c)
}

// namespacedKinds are the namespaced kinds of the catalog.
func namespacedKinds() []kindOf {
	var found []kindOf
	for _, k := range catalog() {
		if k.namespaced {
			found = append(found, k)
		}
	}
	return found
}

// rowName is a name of the row's own that the kind takes. The two forms of ClusterRoleBinding are
// one collection.
func rowName(kind, name string) string {
	switch kind {
	case "ThirdPartyResource":
		return name + ".example.com"
	case "LegacyBinding":
		return name + "-legacy"
	}
	return name
}

// going makes a namespace that is being deleted, and stays.
func going(t *testing.T, s *testserver.Server) (name string) {
	t.Helper()
	name = get(t, ok(t, s.Do("POST", "/api/v1/namespaces",
		`{"metadata":{"generateName":"going-","finalizers":["example.com/hold"]}}`)), "metadata.name")
	ok(t, s.Do("DELETE", "/api/v1/namespaces/"+name, ""))
	return name
}

// checkNames tries names that kinds take and names that they refuse.
func checkNames(t *testing.T, s *testserver.Server, kinds, good, bad []string) {
	t.Helper()
	ns := namespace(t, s)
	for _, kind := range kinds {
		for _, name := range good {
			a := s.Do("POST", collection(kind, ns)+"?dryRun=All", minimal(kind, ns, name))
			if a.Code != 200 {
				t.Errorf("%s %q: %s", kind, name, a.Body)
			}
		}
		for _, name := range bad {
			expectInvalid(t, s.Do("POST", collection(kind, ns), minimal(kind, ns, name)), "metadata.name", "FieldValueInvalid")
		}
	}
}

// soon is near enough to now for a timestamp of a row.
func soon(t *testing.T, timestamp string) {
	t.Helper()
	at, err := time.Parse(time.RFC3339, timestamp)
	if err != nil || time.Since(at).Abs() > time.Minute {
		t.Errorf("timestamp %q: %v", timestamp, err)
	}
}
