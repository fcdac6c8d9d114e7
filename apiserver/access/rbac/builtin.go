package rbac

import (
	"maps"
	"slices"

	"quorate/apiserver/access/auth"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/rest"
	"quorate/apiserver/rest/route"
)

// builtinRole is a cluster role that every cluster has.
type builtinRole struct {
	name  string
	rules []rule
}

// builtinBinding binds a built-in cluster role to a group in the whole cluster. The binding has the
// name of the role.
type builtinBinding struct{ role, group string }

// builtinBindings returns the built-in bindings (J34): cluster-admin for system:masters, and
// discovery and reviews about oneself for all authenticated users.
func builtinBindings() []builtinBinding {
	return []builtinBinding{
		{"cluster-admin", auth.MastersGroup},
		{"system:discovery", auth.AuthenticatedGroup},
		{"system:basic-user", auth.AuthenticatedGroup},
	}
}

// builtinRoles returns the built-in cluster roles (J33). The roles for use in namespaces cover the
// namespaced kinds of the catalog.
func builtinRoles(c *schema.Catalog) []builtinRole {
	reviews := func(group string, resources ...string) rule {
		return rule{verbs: []string{route.VerbCreate}, groups: []string{group}, resources: resources}
	}
	return []builtinRole{
		{"cluster-admin", everyRule()},
		{"admin", inNamespaces(c, true, anything)},
		{"edit", inNamespaces(c, true, grantsNothing)},
		{"view", inNamespaces(c, false, keepsNoSecrets)},
		{"system:discovery", []rule{{verbs: []string{route.VerbGet}, paths: []string{
			"/api", "/api/*", "/apis", "/apis/*", "/oapi", "/oapi/*", "/openapi", "/openapi/*",
			"/healthz", "/livez", "/readyz", "/version", "/version/",
		}}}},
		{"system:basic-user", []rule{
			reviews(authorizationGroup, "selfsubjectaccessreviews", "selfsubjectrulesreviews"),
			reviews(authenticationGroup, "selfsubjectreviews"),
		}},
		{"system:node", nodeRules(c)},
	}
}

// The API groups of reviews, which are the only ones that clients know (J58).
const (
	authorizationGroup  = "authorization.k8s.io"
	authenticationGroup = "authentication.k8s.io"
)

func anything(*schema.Kind) bool { return true }

// grantsNothing reports whether the kind is neither a role nor a binding, in whatever group they
// are served. Users who only work in a namespace must not write these.
func grantsNothing(k *schema.Kind) bool { return k.Storage().Group != group }

// keepsNoSecrets also excludes Secrets, because a user who can read a Secret can use the
// credentials in it.
func keepsNoSecrets(k *schema.Kind) bool { return grantsNothing(k) && k.Resource != "secrets" }

// inNamespaces returns rules for reading, and if write is set also for writing, the namespaced
// kinds for which wanted returns true. The subresource status is not writable, because other
// components report it. Namespaces are readable as well, because a request for a Namespace is
// authorized in that namespace (J16).
func inNamespaces(c *schema.Catalog, write bool, wanted func(*schema.Kind) bool) []rule {
	read, written := resources{"": {"namespaces": true, "namespaces/status": true}}, resources{}
	for _, k := range c.Kinds() {
		if !k.Namespaced || !wanted(k) {
			continue
		}
		read.add(k.Group, k.Plural)
		written.add(k.Group, k.Plural)
		for _, sub := range rest.Subresources(k) {
			read.add(k.Group, k.Plural+"/"+sub.Name)
			if sub.Name != "status" {
				written.add(k.Group, k.Plural+"/"+sub.Name)
			}
		}
	}
	rules := read.rules(route.VerbGet, route.VerbList, route.VerbWatch)
	if write {
		rules = append(rules, written.rules(route.VerbCreate, route.VerbDelete, route.VerbDeleteCollection, route.VerbPatch, route.VerbUpdate)...)
	}
	return rules
}

// resources maps groups to sets of resources.
type resources map[string]map[string]bool

func (r resources) add(group, resource string) {
	if r[group] == nil {
		r[group] = map[string]bool{}
	}
	r[group][resource] = true
}

// rules returns one rule for each group.
func (r resources) rules(verbs ...string) []rule {
	rules := make([]rule, 0, len(r))
	for _, group := range slices.Sorted(maps.Keys(r)) {
		rules = append(rules, rule{verbs: verbs, groups: []string{group}, resources: slices.Sorted(maps.Keys(r[group]))})
	}
	return rules
}

// nodeRules returns the rules for node agents, limited to the resources that the catalog contains.
func nodeRules(c *schema.Catalog) []rule {
	read := []string{route.VerbGet, route.VerbList, route.VerbWatch}
	change := []string{route.VerbPatch, route.VerbUpdate}
	var rules []rule
	for _, what := range []struct {
		plural, sub string
		verbs       []string
	}{
		{"nodes", "", slices.Concat(read, []string{route.VerbCreate, route.VerbDelete}, change)},
		{"nodes", "/status", change},
		{"pods", "", slices.Concat(read, []string{route.VerbCreate, route.VerbDelete})},
		{"pods", "/status", change},
		{"events", "", append([]string{route.VerbCreate}, change...)},
		{"leases", "", slices.Concat([]string{route.VerbGet, route.VerbCreate, route.VerbDelete}, change)},
		{"configmaps", "", read},
		{"endpoints", "", read},
		{"persistentvolumes", "", read},
		{"secrets", "", read},
		{"services", "", read},
	} {
		served := resources{}
		for _, k := range c.Kinds() {
			if k.Plural == what.plural {
				served.add(k.Group, k.Plural+what.sub)
			}
		}
		rules = append(rules, served.rules(what.verbs...)...)
	}
	return rules
}
