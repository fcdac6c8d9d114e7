package rbac

import (
	"slices"
	"strings"

	"quorate/apiserver/access/auth"
	"quorate/apiserver/objects/schema"
)

// everything is the wildcard for all verbs, groups, resources or paths.
const everything = "*"

// rule allows every combination of the values that it lists: verbs on resources of groups, limited
// to some names if there are any, or verbs on paths.
type rule struct{ verbs, groups, resources, names, paths []string }

// allows reports whether the rule allows a request (J18, J19). A rule with names never allows a
// request without a name (J20).
func (r *rule) allows(a *auth.Attributes) bool {
	if !holds(r.verbs, a.Verb) {
		return false
	}
	if a.Path != "" {
		return slices.ContainsFunc(r.paths, func(path string) bool { return coversPath(path, a.Path) })
	}
	return holds(r.groups, a.Group) && r.hasResource(a.Resource, a.Subresource) &&
		(len(r.names) == 0 || a.Name != "" && slices.Contains(r.names, a.Name))
}

// hasResource reports whether the rule lists a resource. A resource does not include its
// subresources. The only patterns are "*" and "*/subresource".
func (r *rule) hasResource(resource, subresource string) bool {
	for _, listed := range r.resources {
		if listed == everything {
			return true
		}
		name, sub, below := strings.Cut(listed, "/")
		if below == (subresource != "") && sub == subresource && (name == resource || name == everything) {
			return true
		}
	}
	return false
}

func holds(list []string, want string) bool {
	for _, s := range list {
		if s == want || s == everything {
			return true
		}
	}
	return false
}

// coversPath reports whether a listed path covers path: if they are equal, or if listed ends with a
// star and path begins with the part before the star.
func coversPath(listed, path string) bool {
	prefix, open := strings.CutSuffix(listed, everything)
	return listed == path || open && strings.HasPrefix(path, prefix)
}

// readRules returns the rules of a role. Their strings share memory with the decoded object.
func readRules(role *schema.Object) []rule {
	list := role.Field("rules")
	rules := make([]rule, 0, list.Len())
	for _, v := range list.Items() {
		rules = append(rules, rule{
			verbs: texts(v.Field("verbs")), groups: texts(v.Field("apiGroups")), resources: texts(v.Field("resources")),
			names: texts(v.Field("resourceNames")), paths: texts(v.Field("nonResourceURLs")),
		})
	}
	return rules
}

func texts(list *schema.Value) []string {
	if list.Len() == 0 {
		return nil
	}
	out := make([]string, 0, list.Len())
	for _, v := range list.Items() {
		out = append(out, v.Str())
	}
	return out
}

// write appends the rule to the rules of a role.
func (r *rule) write(role *schema.Object) {
	v := role.Root().Make("rules").Append()
	for name, list := range map[string][]string{
		"verbs": r.verbs, "apiGroups": r.groups, "resources": r.resources, "resourceNames": r.names, "nonResourceURLs": r.paths,
	} {
		if len(list) == 0 {
			continue
		}
		to := v.Make(name)
		for _, s := range list {
			to.Append().SetStr(s)
		}
	}
}
