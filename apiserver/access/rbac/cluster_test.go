package rbac_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quorate/apiserver"
	"quorate/apiserver/internal/testserver"
)

// tokens are the tokens of users without built-in permissions.
const tokens = `jane-token,jane,1,"devs"
joe-token,joe,2
robot-token,system:serviceaccount:shop:robot,3
`

const (
	rbacPath = "/apis/rbac.authorization.platform.io/v1/"
	pods     = "/api/v1/namespaces/shop/pods"
)

// replicas are three servers that accept tokens.
type replicas struct {
	t       *testing.T
	servers []*testserver.Server
}

func startReplicas(t *testing.T) *replicas {
	t.Helper()
	file := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(file, []byte(tokens), 0o600); err != nil {
		t.Fatal(err)
	}
	r := &replicas{t, testserver.StartReplicas(t, 3, func(cfg *apiserver.Config) { cfg.TokenFile = file })}
	r.done(r.as("", "POST", "/api/v1/namespaces", `{"metadata":{"name":"shop"}}`))
	return r
}

// as sends a request to the first server as the user of a token, or as a master if there is none.
func (r *replicas) as(user, method, path, body string) testserver.Answer {
	r.t.Helper()
	return on(r.servers[0], user, method, path, body)
}

func on(s *testserver.Server, user, method, path, body string) testserver.Answer {
	if user == "" {
		return s.Do(method, path, body)
	}
	return s.Do(method, path, body, "Authorization: Bearer "+user+"-token")
}

func (r *replicas) done(a testserver.Answer) {
	r.t.Helper()
	if !a.OK() {
		r.t.Fatalf("%d %s", a.Code, a.Body)
	}
}

// everywhere waits until all nodes respond to a user's request with code. The first node must do so
// at once (J37).
func (r *replicas) everywhere(user, method, path string, code int) {
	r.t.Helper()
	if a := on(r.servers[0], user, method, path, "{}"); a.Code != code {
		r.t.Errorf("%s %s by %s: %d %s", method, path, user, a.Code, a.Body)
	}
	for i, s := range r.servers[1:] {
		s.Eventually(fmt.Sprintf("node %d answers %s %s by %s with %d", i+1, method, path, user, code), func() bool {
			return on(s, user, method, path, "{}").Code == code
		})
	}
}

func bindingOf(name, role, subjects string) string {
	kind, name2, _ := strings.Cut(role, "/")
	return fmt.Sprintf(`{"metadata":{"name":%q},"roleRef":{"kind":%q,"name":%q},"subjects":[%s]}`, name, kind, name2, subjects)
}

// TestReplicas checks on all nodes of a cluster what bindings allow users.
func TestReplicas(t *testing.T) {
	t.Parallel()
	r := startReplicas(t)
	local := rbacPath + "namespaces/shop/"
	for _, user := range []string{"jane", "joe", "robot"} {
		r.everywhere(user, "GET", pods, 403)
		r.everywhere(user, "GET", "/apis", 200) // L20
	}

	// J36: the built-in objects are created once and are the same on all nodes.
	want := r.as("", "GET", rbacPath+"clusterroles/view", "").Body
	for _, s := range r.servers {
		if a := on(s, "", "GET", rbacPath+"clusterroles/view", ""); a.Body != want {
			t.Errorf("got  %s\nwant %s", a.Body, want)
		}
	}

	// J22–J24: by user, group and service account.
	r.done(r.as("", "POST", local+"rolebindings", bindingOf("devs", "ClusterRole/edit", `{"kind":"Group","name":"devs"}`)))
	r.done(r.as("", "POST", local+"rolebindings", bindingOf("robot", "ClusterRole/view", `{"kind":"ServiceAccount","name":"robot"}`)))
	r.everywhere("jane", "GET", pods, 200)
	r.everywhere("jane", "POST", pods, 422)
	r.everywhere("robot", "GET", pods, 200)
	r.everywhere("robot", "POST", pods, 403)
	r.everywhere("joe", "GET", pods, 403)
	r.everywhere("jane", "GET", "/api/v1/pods", 403)

	// J28, J29: an editor cannot grant permissions; an admin of the namespace can grant those that
	// he has.
	grant := bindingOf("joe", "ClusterRole/view", `{"kind":"User","name":"joe"}`)
	if a := r.as("jane", "POST", local+"rolebindings", grant); a.Code != 403 || !strings.Contains(a.Body, "cannot create resource") {
		t.Errorf("%d %s", a.Code, a.Body)
	}
	r.done(r.as("", "POST", local+"rolebindings", bindingOf("admins", "ClusterRole/admin", `{"kind":"User","name":"jane"}`)))
	r.done(r.as("jane", "POST", local+"rolebindings", grant))
	r.everywhere("joe", "GET", pods, 200)
	if a := r.as("jane", "POST", local+"rolebindings", bindingOf("more", "ClusterRole/cluster-admin", `{"kind":"User","name":"joe"}`)); a.Code != 403 || !strings.Contains(a.Body, "not currently held") {
		t.Errorf("%d %s", a.Code, a.Body)
	}

	// Permissions are revoked in each of the possible ways.
	r.done(r.as("jane", "DELETE", local+"rolebindings/joe", ""))
	r.everywhere("joe", "GET", pods, 403)
	r.done(r.as("", "DELETE", local+"rolebindings?labelSelector=!no", ""))
	r.everywhere("jane", "GET", pods, 403)
	r.everywhere("robot", "GET", pods, 403)
}

// TestReplicasWithCustomRoles checks on all nodes that changes of roles take effect, for legacy
// bindings, too (J39).
func TestReplicasWithCustomRoles(t *testing.T) {
	t.Parallel()
	r := startReplicas(t)
	role := func(verbs string) string {
		return `{"metadata":{"name":"own"},"rules":[{"apiGroups":[""],"resources":["pods"],"verbs":[` + verbs + `]},{"nonResourceURLs":["/metrics"],"verbs":["get"]}]}`
	}
	r.done(r.as("", "POST", rbacPath+"clusterroles", role(`"get","list"`)))
	r.done(r.as("", "POST", "/oapi/v1/clusterrolebindings", `{"metadata":{"name":"own"},"roleRef":{"name":"own"},"userNames":["joe"],"groupNames":["devs"]}`))
	r.everywhere("joe", "GET", "/api/v1/pods", 200)
	r.everywhere("jane", "GET", "/metrics", 200)
	r.everywhere("joe", "DELETE", pods+"/none", 403)
	r.done(r.as("", "PUT", rbacPath+"clusterroles/own", role(`"delete"`)))
	r.everywhere("joe", "DELETE", pods+"/none", 404)
	r.everywhere("joe", "GET", "/api/v1/pods", 403)
}
