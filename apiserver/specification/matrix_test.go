package specification

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"quorate/apiserver"
	"quorate/apiserver/access/auth"
	"quorate/apiserver/internal/testserver"
	"quorate/raftstore"
	"quorate/raftstore/testcluster"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const matrixFile = "testdata/authorization.txt"

// TestAuthorizationMatrix sends each operation as each subject, to the leader and to a follower of
// three nodes. Every code must equal the one that the model derives from the roles. The golden file
// shows all codes to readers, and must match.
func TestAuthorizationMatrix(t *testing.T) {
	t.Parallel()
	cluster := testcluster.New(t, 3, func(cfg *raftstore.Config) { cfg.RaftMultiplier = 1 })
	servers := testserver.StartOnNodes(t, cluster.Nodes, func(cfg *apiserver.Config) {
		quiet(cfg)
		cfg.Cluster = quietCluster{}
	})
	cluster.Ready()
	leader := cluster.Leader()
	follower := cluster.Follower(leader)
	m := &matrix{t: t}
	for i, n := range cluster.Nodes {
		switch n {
		case leader:
			m.nodes[0] = servers[i]
		case follower:
			m.nodes[1] = servers[i]
		}
	}
	m.prepare()
	got := m.table()
	if *update {
		if err := os.WriteFile(matrixFile, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(matrixFile)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the codes differ from %s; with -update they become\n%s", matrixFile, got)
	}
}

// matrix sends the requests.
type matrix struct {
	t       *testing.T
	nodes   [2]*testserver.Server // the leader's and a follower's
	headers map[string]string     // Authorization, by subject
	objects int                   // made so far
}

// matrixUser is the name of the user to whom a role is bound.
func matrixUser(role string) string { return "matrix-" + role }

// prepare makes the namespaces and bindings, and waits until they hold on both nodes.
func (m *matrix) prepare() {
	t, s := m.t, m.nodes[0]
	for _, ns := range []string{team, other} {
		create(t, s, "Namespace", "", ns)
	}
	create(t, s, "ServiceAccount", team, "builder")
	m.headers = map[string]string{"anonymous": "Authorization: ", "bad token": "Authorization: Bearer wrong"}
	expired, err := auth.NewIssuer(signingKey()).Issue(auth.Identity{Name: "admin", Groups: []string{auth.MastersGroup}}, time.Nanosecond)
	if err != nil {
		t.Fatal(err)
	}
	m.headers["expired"] = "Authorization: Bearer " + expired
	m.headers["account"] = "Authorization: Bearer " + s.IssueToken("system:serviceaccount:team:builder",
		"system:serviceaccounts", "system:serviceaccounts:team")
	for _, role := range []string{"nothing", "view", "edit", "admin", "node", "all"} {
		m.headers[role] = "Authorization: Bearer " + s.IssueToken(matrixUser(role))
	}
	user := func(role string) string { return `"subjects":[{"kind":"User","name":"` + matrixUser(role) + `"}]}` }
	for _, role := range []string{"view", "edit", "admin"} {
		create(t, s, "RoleBinding", team, role, `{"roleRef":{"kind":"ClusterRole","name":"`+role+`"},`+user(role))
	}
	create(t, s, "ClusterRoleBinding", "", "matrix-node", `{"roleRef":{"kind":"ClusterRole","name":"system:node"},`+user("node"))
	create(t, s, "ClusterRoleBinding", "", "matrix-all", `{"roleRef":{"kind":"ClusterRole","name":"cluster-admin"},`+user("all"))
	for _, node := range m.nodes {
		for _, role := range []string{"view", "edit", "admin", "node", "all"} {
			node.Eventually(role+" is bound", func() bool { return node.Do("GET", matrixMaps, "", m.headers[role]).Code == 200 })
		}
	}
}

// table returns the matrix as text. A cell has one code, as both nodes must answer alike.
func (m *matrix) table() string {
	m.t.Helper()
	var b strings.Builder
	b.WriteString("# The code of each operation for each subject, on the leader and on a follower alike.\n" +
		"# view, edit and admin are bound in the namespace team, node (system:node) and all (cluster-admin)\n" +
		"# everywhere; nothing is a user without bindings, account a service account of team without any.\n" +
		"# go test ./apiserver/specification -run TestAuthorizationMatrix -update rewrites this file.\n\n")
	subjects := matrixSubjects()
	line := func(name string, cell func(s subject) any) {
		cells := fmt.Sprintf("%-48s", name)
		for _, s := range subjects {
			cells += fmt.Sprintf(" %-9v", cell(s))
		}
		b.WriteString(strings.TrimRight(cells, " ") + "\n")
	}
	line("operation", func(s subject) any { return s.name })
	for _, row := range matrixRows() {
		line(row.name, func(s subject) any { return m.cell(row, s) })
	}
	return b.String()
}

// cell returns the code of one operation for one subject, which it compares with the model.
func (m *matrix) cell(row matrixRow, s subject) int {
	m.t.Helper()
	want := row.expected(s)
	var codes [2]int
	for i, node := range m.nodes {
		m.objects++
		name := fmt.Sprintf("m%d", m.objects)
		if row.prepared != "" && want == row.code { // a refusal does not tell whether there is one
			create(m.t, m.nodes[0], row.prepared, row.ns, name)
		}
		named := strings.NewReplacer("$name", name)
		codes[i] = m.send(node, row.method, named.Replace(row.path), named.Replace(row.body), append(row.headers, m.headers[s.name])...)
		if codes[i] != want {
			m.t.Errorf("%s as %s on node %d: code %d, want %d", row.name, s.name, i, codes[i], want)
		}
	}
	return codes[0]
}

// expected returns the code that the model derives.
func (row matrixRow) expected(s subject) int {
	switch {
	case !s.authenticated && s.name == "anonymous" && openToAll(row.path):
		return 200
	case !s.authenticated:
		return 401
	case !s.may(row.needs):
		return 403
	}
	return row.code
}

// openToAll: health and version need no credentials, but wrong ones are refused (J5).
func openToAll(path string) bool {
	return path == "/healthz" || path == "/livez" || path == "/readyz" || path == "/version"
}

// send returns the code of a request, and ends it once that is known: a watch would go on.
func (m *matrix) send(s *testserver.Server, method, path, body string, headers ...string) int {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(m.t.Context(), time.Minute)
	defer cancel()
	resp, err := s.Client.Do(s.Request(method, path, body, headers...).WithContext(ctx))
	if err != nil {
		m.t.Fatalf("%s %s: %v", method, path, err)
	}
	_ = resp.Body.Close() // what is left of it is of no interest
	return resp.StatusCode
}
