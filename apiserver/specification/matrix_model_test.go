package specification

import (
	"slices"
	"strings"
)

// right is what a request needs: a verb on a resource, or on a path.
type right struct {
	verb, group, resource string // with its subresource, as in "pods/status"
	ns                    string // "" is the whole cluster
	path                  string // of a non-resource request; the fields above but verb are empty then
}

// subject is somebody who sends requests, by what is bound to it.
type subject struct {
	name string
	// authenticated is false for credentials that are missing or wrong.
	authenticated bool
	// ns is where the role is bound; "" is everywhere.
	ns     string
	grants func(right) bool
}

// matrixSubjects are the columns of the matrix: roles as the specification's J33 and the comments
// of package rbac describe them in words, written down a second time.
func matrixSubjects() []subject {
	nothing := func(right) bool { return false }
	return []subject{
		{"anonymous", false, "", nothing},
		{"bad token", false, "", nothing},
		{"expired", false, "", nothing},
		{"nothing", true, "", nothing},
		{"account", true, "", nothing}, // a service account of the namespace, with no binding
		{"view", true, team, func(r right) bool {
			return reads(r) && (ofNamespaces(r) || inTeam(r) && !keepsSecrets(r) && !grantsRights(r))
		}},
		{"edit", true, team, func(r right) bool {
			return (ofNamespaces(r) && reads(r)) || inTeam(r) && !grantsRights(r) && readsOrWrites(r)
		}},
		{"admin", true, team, func(r right) bool { return (ofNamespaces(r) && reads(r)) || inTeam(r) && readsOrWrites(r) }},
		{"node", true, "", nodeMay},
		{"all", true, "", func(right) bool { return true }},
	}
}

// team is the namespace in which view, edit and admin are bound; nothing is in the other one.
const (
	team  = "team"
	other = "other"
)

// may reports whether a subject has all of the rights.
func (s subject) may(rights []right) bool {
	for _, r := range rights {
		bound := s.ns == "" || r.path == "" && r.ns == s.ns
		if !forEverybody(r) && !(bound && s.grants(r)) {
			return false
		}
	}
	return true
}

// forEverybody: whoever is authenticated may discover the API and ask about himself.
func forEverybody(r right) bool {
	if r.path != "" {
		return r.verb == "get" && (slices.Contains([]string{"/healthz", "/livez", "/readyz", "/version", "/api", "/apis"}, r.path) ||
			strings.HasPrefix(r.path, "/apis/") || strings.HasPrefix(r.path, "/openapi/"))
	}
	return r.verb == "create" && strings.HasPrefix(r.resource, "self")
}

func reads(r right) bool { return slices.Contains([]string{"get", "list", "watch"}, r.verb) }

// readsOrWrites excludes the verbs that are neither, such as bind, and leaves the status to those
// who report it.
func readsOrWrites(r right) bool {
	writes := slices.Contains([]string{"create", "update", "patch", "delete", "deletecollection"}, r.verb)
	return reads(r) || writes && !strings.HasSuffix(r.resource, "/status")
}

// ofNamespaces: in its namespace, a role for namespaces reads the Namespace itself, too.
func ofNamespaces(r right) bool {
	return r.group == "" && (r.resource == "namespaces" || r.resource == "namespaces/status")
}

func keepsSecrets(r right) bool { return r.resource == "secrets" }

func grantsRights(r right) bool { return r.group == rbacGroup }

// inTeam: the resources that roles for namespaces are about: those of namespaced kinds.
func inTeam(r right) bool {
	return slices.Contains([]string{
		"configmaps", "secrets", "pods", "pods/status", "statefulsets", "statefulsets/scale", "statefulsets/status",
		"serviceaccounts", "roles", "rolebindings", "events", "services",
	}, r.resource)
}

// nodeMay: an agent reads what its pods need, and reports on its node and its pods.
func nodeMay(r right) bool {
	allowed := map[string]string{
		"nodes": "get list watch create delete patch update", "nodes/status": "patch update",
		"pods": "get list watch create delete", "pods/status": "patch update", "events": "create patch update",
		"configmaps": "get list watch", "persistentvolumes": "get list watch", "secrets": "get list watch", "services": "get list watch",
	}
	return r.group == "" && slices.Contains(strings.Fields(allowed[r.resource]), r.verb)
}

// rbacGroup is the API group of roles and bindings.
const rbacGroup = "rbac.authorization.platform.io"
