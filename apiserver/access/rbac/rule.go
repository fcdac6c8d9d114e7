package rbac

import (
	"slices"
	"strings"

	"quorate/apiserver/access/auth"
	"quorate/apiserver/objects/schema"
)

// everything stands for all verbs, groups, resources or paths.
const everything = "*"

// rule allows every combination of what it lists: verbs on resources of groups, of these names if
// there are any, or verbs on paths.
type rule struct{ verbs, groups, resources, names, paths []string }

// allows reports whether the rule allows a request (J18, J19). A request of no name is never
// allowed by a rule with names (J20).
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

// hasResource: a resource does not cover its subresources, and there is no pattern but "*" and
// "*/subresource".
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

// coversPath reports whether a listed path covers one: the same, or what it begins with when it
// ends with a star.
func coversPath(listed, path string) bool {
	prefix, open := strings.CutSuffix(listed, everything)
	return listed == path || open && strings.HasPrefix(path, prefix)
}

// readRules returns the rules of a role. Their strings share the memory of what was decoded.
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
