package specification

import "fmt"

// matrixRow is a row of the matrix: a request, what it needs, and the code of those who may. In the
// path and the body, $name is an object of the row's own, of the kind prepared.
type matrixRow struct {
	name, method, path, body string
	headers                  []string
	prepared                 string // kind of the object that must be there; "" is none
	ns                       string // of the object
	code                     int
	needs                    []right
}

const (
	matrixMaps  = "/api/v1/namespaces/" + team + "/configmaps"
	matrixOther = "/api/v1/namespaces/" + other + "/configmaps"
	matrixNodes = "/api/v1/nodes"
	matrixPatch = "Content-Type: application/merge-patch+json"
	// matrixLabel is on no object, so that a deletion of the collection deletes nothing.
	matrixLabel = "?labelSelector=matrix%3Dnone"
)

// matrixRows returns the rows in the order of the golden file.
func matrixRows() []matrixRow {
	rows := append(operationsOf("ConfigMap", team, matrixMaps, "configmaps"), operationsOf("ConfigMap", other, matrixOther, "configmaps")...)
	rows = append(rows, operationsOf("Node", "", matrixNodes, "nodes")...)
	rows = append(rows, matrixSubresources()...)
	rows = append(rows, matrixGrants()...)
	return append(rows, matrixPaths()...)
}

// operationsOf returns the operations of §4.2 of a kind of the core group.
func operationsOf(kind, ns, all, plural string) []matrixRow {
	where, watched, anywhere := ns, "/api/v1/watch"+all[len("/api/v1"):], "/api/v1/"+plural
	need := func(verb string) []right { return []right{{verb: verb, resource: plural, ns: ns}} }
	everywhere := func(verb string) []right { return []right{{verb: verb, resource: plural}} }
	if ns == "" {
		where = "the cluster"
	}
	called := func(what string) string { return fmt.Sprintf(what+" in %s", plural, where) }
	object := minimal(kind, ns, "$name")
	rows := []matrixRow{
		{name: called("create %s"), method: "POST", path: all, body: object, code: 200, needs: need("create")},
		{name: called("read %s"), method: "GET", path: all + "/$name", prepared: kind, code: 200, needs: need("get")},
		{name: called("read missing %s"), method: "GET", path: all + "/missing", code: 404, needs: need("get")},
		{name: called("list %s"), method: "GET", path: all, code: 200, needs: need("list")},
		{name: called("list %s as a Table"), method: "GET", path: all, code: 200, needs: need("list"),
			headers: []string{"Accept: application/json;as=Table;v=v1;g=meta.k8s.io"}},
		{name: called("list %s with watch=true"), method: "GET", path: all + "?watch=true", code: 200, needs: need("watch")},
		{name: called("watch one of %s"), method: "GET", path: watched + "/$name", prepared: kind, code: 200, needs: need("watch")},
		{name: called("watch %s"), method: "GET", path: watched, code: 200, needs: need("watch")},
		{name: called("replace %s"), method: "PUT", path: all + "/$name", body: object, prepared: kind, code: 200, needs: need("update")},
		{name: called("patch %s"), method: "PATCH", path: all + "/$name", body: `{"metadata":{"labels":{"a":"b"}}}`, headers: []string{matrixPatch},
			prepared: kind, code: 200, needs: need("patch")},
		{name: called("delete %s"), method: "DELETE", path: all + "/$name", prepared: kind, code: 200, needs: need("delete")},
		{name: called("delete missing %s"), method: "DELETE", path: all + "/missing", code: 404, needs: need("delete")},
		{name: called("delete the collection of %s"), method: "DELETE", path: all + matrixLabel, code: 200, needs: need("deletecollection")},
	}
	for i := range rows {
		rows[i].ns = ns
	}
	if ns == team {
		rows = append(rows,
			matrixRow{name: "create " + plural + " by a body in " + ns, method: "POST", path: anywhere, body: object, code: 200, needs: need("create")},
			matrixRow{name: "list " + plural + " in all namespaces", method: "GET", path: anywhere, code: 200, needs: everywhere("list")},
			matrixRow{name: "watch " + plural + " in all namespaces", method: "GET", path: "/api/v1/watch/" + plural, code: 200, needs: everywhere("watch")},
		)
	}
	return rows
}

// matrixSubresources are status, finalize and scale, and subresources that are not served.
func matrixSubresources() []matrixRow {
	const status = `{"status":{}}`
	in := func(ns, verb, group, resource string) []right {
		return []right{{verb: verb, group: group, resource: resource, ns: ns}}
	}
	pod, set, node := item("Pod", team, "$name"), item("StatefulSet", team, "$name"), item("Node", "", "$name")
	// A path that is not served is the same 404 to all who are authenticated, as no role is asked.
	rows := []matrixRow{
		{name: "read nodes/status", method: "GET", path: node + "/status", prepared: "Node", code: 200, needs: in("", "get", "", "nodes/status")},
		{name: "replace nodes/status", method: "PUT", path: node + "/status", body: minimal("Node", "", "$name"), prepared: "Node", code: 200,
			needs: in("", "update", "", "nodes/status")},
		{name: "patch nodes/status", method: "PATCH", path: node + "/status", body: status, headers: []string{matrixPatch}, prepared: "Node", code: 200,
			needs: in("", "patch", "", "nodes/status")},
		{name: "read namespaces", method: "GET", path: "/api/v1/namespaces/" + team, code: 200, needs: in(team, "get", "", "namespaces")},
		{name: "read namespaces, the other", method: "GET", path: "/api/v1/namespaces/" + other, code: 200, needs: in(other, "get", "", "namespaces")},
		{name: "list namespaces", method: "GET", path: "/api/v1/namespaces", code: 200, needs: in("", "list", "", "namespaces")},
		{name: "read namespaces/status", method: "GET", path: "/api/v1/namespaces/" + team + "/status", code: 200,
			needs: in(team, "get", "", "namespaces/status")},
		{name: "patch namespaces/status", method: "PATCH", path: "/api/v1/namespaces/" + team + "/status", body: status, headers: []string{matrixPatch},
			code: 200, needs: in(team, "patch", "", "namespaces/status")},
		{name: "patch namespaces", method: "PATCH", path: "/api/v1/namespaces/" + team, body: `{"metadata":{"labels":{"a":"b"}}}`,
			headers: []string{matrixPatch}, code: 200, needs: in(team, "patch", "", "namespaces")},
		{name: "finalize namespaces", method: "PUT", path: "/api/v1/namespaces/" + team + "/finalize",
			body: `{"metadata":{"name":"team"},"spec":{"finalizers":["platform"]}}`, code: 200, needs: in(team, "update", "", "namespaces/finalize")},
		{name: "delete namespaces", method: "DELETE", path: "/api/v1/namespaces/missing", code: 404, needs: in("missing", "delete", "", "namespaces")},
		{name: "read pods/status", method: "GET", path: pod + "/status", prepared: "Pod", code: 200, needs: in(team, "get", "", "pods/status")},
		{name: "patch pods/status", method: "PATCH", path: pod + "/status", body: status, headers: []string{matrixPatch}, prepared: "Pod", code: 200,
			needs: in(team, "patch", "", "pods/status")},
		{name: "bind pods, not served", method: "POST", path: pod + "/binding", body: "{}", code: 404},
		{name: "exec in pods, not served", method: "POST", path: pod + "/exec", body: "{}", code: 404},
		{name: "read statefulsets/scale", method: "GET", path: set + "/scale", prepared: "StatefulSet", code: 200,
			needs: in(team, "get", "apps", "statefulsets/scale")},
		{name: "patch statefulsets/scale", method: "PATCH", path: set + "/scale", body: `{"spec":{"replicas":2}}`, headers: []string{matrixPatch},
			prepared: "StatefulSet", code: 200, needs: in(team, "patch", "apps", "statefulsets/scale")},
		{name: "patch statefulsets/status", method: "PATCH", path: set + "/status", body: status, headers: []string{matrixPatch},
			prepared: "StatefulSet", code: 200, needs: in(team, "patch", "apps", "statefulsets/status")},
		{name: "token of serviceaccounts, not served", method: "POST", path: item("ServiceAccount", team, "builder") + "/token", body: "{}", code: 404},
		{name: "read secrets", method: "GET", path: item("Secret", team, "$name"), prepared: "Secret", code: 200, needs: in(team, "get", "", "secrets")},
		{name: "list secrets", method: "GET", path: collection("Secret", team), code: 200, needs: in(team, "list", "", "secrets")},
		{name: "create secrets", method: "POST", path: collection("Secret", team), body: minimal("Secret", team, "$name"), code: 201,
			needs: in(team, "create", "", "secrets")},
	}
	for i := range rows {
		if rows[i].prepared != "Node" {
			rows[i].ns = team
		}
	}
	return rows
}

// matrixGrants are roles and bindings, impersonation and reviews.
func matrixGrants() []matrixRow {
	needs := func(ns, verb, group, resource string) right {
		return right{verb: verb, group: group, resource: resource, ns: ns}
	}
	roles, bindings := collection("Role", team), collection("RoleBinding", team)
	role := func(rule string) string { return minimal("Role", team, "$name", `{"rules":[`+rule+`]}`) }
	binding := func(to string) string {
		return minimal("RoleBinding", team, "$name", `{"roleRef":{"kind":"ClusterRole","name":"`+to+`"}}`)
	}
	review := func(name string, rights ...right) matrixRow {
		return matrixRow{name: "create " + name, method: "POST", path: accessReviews + name, code: 201, needs: rights,
			body: `{"spec":{"user":"jane","namespace":"team","resourceAttributes":{"verb":"get","resource":"pods","namespace":"team"}}}`}
	}
	createRole, createBinding := needs(team, "create", rbacGroup, "roles"), needs(team, "create", rbacGroup, "rolebindings")
	readMap := right{verb: "list", resource: "configmaps", ns: team}
	return []matrixRow{
		{name: "list roles", method: "GET", path: roles, code: 200, needs: []right{needs(team, "list", rbacGroup, "roles")}},
		{name: "create roles, of rights held in the namespace", method: "POST", path: roles, code: 200, needs: []right{createRole},
			body: role(`{"apiGroups":[""],"resources":["secrets"],"verbs":["get"]}`)},
		{name: "create roles, of rights to nodes", method: "POST", path: roles, code: 200,
			body: role(`{"apiGroups":[""],"resources":["nodes"],"verbs":["get"]}`), needs: []right{createRole, needs(team, "get", "", "nodes")}},
		{name: "create roles, of pods/status", method: "POST", path: roles, code: 200,
			body:  role(`{"apiGroups":[""],"resources":["pods/status"],"verbs":["patch"]}`),
			needs: []right{createRole, needs(team, "patch", "", "pods/status")}},
		{name: "bind view in the namespace", method: "POST", path: bindings, body: binding("view"), code: 201, needs: []right{createBinding}},
		{name: "bind cluster-admin in the namespace", method: "POST", path: bindings, body: binding("cluster-admin"), code: 201,
			needs: []right{createBinding, needs(team, "bind", rbacGroup, "clusterroles")}},
		{name: "create clusterroles", method: "POST", path: collection("ClusterRole", ""), body: minimal("ClusterRole", "", "$name"), code: 200,
			needs: []right{needs("", "create", rbacGroup, "clusterroles")}},
		{name: "create clusterrolebindings", method: "POST", path: collection("ClusterRoleBinding", ""), code: 200,
			body:  minimal("ClusterRoleBinding", "", "$name", `{"roleRef":{"kind":"ClusterRole","name":"cluster-admin"}}`),
			needs: []right{needs("", "create", rbacGroup, "clusterrolebindings")}},
		{name: "list configmaps as one who may", method: "GET", path: matrixMaps, headers: []string{"Impersonate-User: " + matrixUser("view")}, code: 200,
			needs: []right{needs("", "impersonate", "", "users")}},
		{name: "list configmaps as one who may not", method: "GET", path: matrixMaps, headers: []string{"Impersonate-User: nobody"}, code: 403,
			needs: []right{needs("", "impersonate", "", "users")}},
		{name: "list configmaps as system:masters", method: "GET", path: matrixMaps, code: 200,
			headers: []string{"Impersonate-User: nobody", "Impersonate-Group: system:masters"}, needs: []right{needs("", "impersonate", "", "groups"), readMap}},
		review("selfsubjectaccessreviews", right{verb: "create", resource: "selfsubjectaccessreviews"}),
		review("selfsubjectrulesreviews", right{verb: "create", resource: "selfsubjectrulesreviews"}),
		review("subjectaccessreviews", needs("", "create", "authorization.k8s.io", "subjectaccessreviews")),
		review("namespaces/team/localsubjectaccessreviews", needs(team, "create", "authorization.k8s.io", "localsubjectaccessreviews")),
		{name: "create selfsubjectreviews", method: "POST", path: userReviews + "selfsubjectreviews", body: "{}", code: 201,
			needs: []right{{verb: "create", resource: "selfsubjectreviews"}}},
		{name: "create tokenreviews", method: "POST", path: userReviews + "tokenreviews", body: `{"spec":{"token":"x"}}`, code: 201,
			needs: []right{needs("", "create", "authentication.k8s.io", "tokenreviews")}},
	}
}

// matrixPaths are non-resource paths and the operations of cluster.platform.io.
func matrixPaths() []matrixRow {
	var rows []matrixRow
	for _, p := range []struct {
		path string
		code int
	}{
		{"/healthz", 200}, {"/livez", 200}, {"/readyz", 200}, {"/version", 200}, {"/api", 200}, {"/apis", 200}, {"/apis/apps", 200},
		{"/openapi/v2", 200}, {"/metrics", 200}, {"/cluster/v1/members", 200}, {"/cluster/v1/log", 200},
		{"/cluster/v1/rates", 200},
	} {
		rows = append(rows, matrixRow{name: "get " + p.path, method: "GET", path: p.path, code: p.code, needs: []right{{verb: "get", path: p.path}}})
	}
	rows = append(rows, matrixRow{name: "get /missing", method: "GET", path: "/missing", code: 404})
	for _, o := range [][3]string{
		{"GET", "/cluster/v1/backup", "backup"}, {"POST", "/cluster/v1/snapshot", "snapshot"}, {"POST", "/cluster/v1/checksum", "checksum"},
		{"POST", "/cluster/v1/transfer-leader", "transfer-leader"}, {"POST", "/cluster/v1/remove?name=x", "remove"},
		{"POST", "/cluster/v1/leave", "leave"}, {"GET", "/debug/pprof/heap", "profile"}, {"GET", "/cluster/v1/log/entries", "log"},
	} {
		rows = append(rows, matrixRow{name: "operation " + o[2], method: o[0], path: o[1], code: 200,
			needs: []right{{verb: o[2], group: "cluster.platform.io", resource: "operations"}}})
	}
	return rows
}
