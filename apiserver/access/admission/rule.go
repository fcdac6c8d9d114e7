package admission

import (
	"slices"
	"strings"

	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/stored"
)

// wildcard stands for everything in each list of a rule.
const wildcard = "*"

// rule matches requests. Each of the lists must contain what the request is about, or the wildcard.
type rule struct {
	operations, groups, versions []string
	resources                    []resourceRule
	scope                        string
}

// resourceRule is a resource with a subresource, which may be empty.
type resourceRule struct{ resource, subresource string }

func newRule(v *schema.Value) rule {
	r := rule{
		operations: texts(v.Field("operations")), groups: texts(v.Field("apiGroups")), versions: texts(v.Field("apiVersions")),
		scope: text(v.Field("scope")),
	}
	for _, name := range texts(v.Field("resources")) {
		resource, subresource, _ := strings.Cut(name, "/")
		r.resources = append(r.resources, resourceRule{resource, subresource})
	}
	return r
}

func texts(list *schema.Value) []string {
	var out []string
	for _, item := range list.Items() {
		out = append(out, text(item))
	}
	return out
}

// matches reports whether the rule matches a target if its path names k.
func (r *rule) matches(t *Target, k *schema.Kind) bool {
	return has(r.operations, string(t.Operation)) && has(r.groups, k.Group) && has(r.versions, k.Version) &&
		r.hasScope(k) && r.hasResource(k.Plural, t.Subresource)
}

func has(list []string, s string) bool {
	return slices.Contains(list, wildcard) || slices.Contains(list, s)
}

func (r *rule) hasScope(k *schema.Kind) bool {
	switch r.scope {
	case "", wildcard:
		return true
	case "Namespaced":
		return k.Namespaced
	}
	return !k.Namespaced
}

func (r *rule) hasResource(resource, subresource string) bool {
	return slices.ContainsFunc(r.resources, func(m resourceRule) bool {
		return (m.resource == wildcard || m.resource == resource) && (m.subresource == wildcard || m.subresource == subresource)
	})
}

// kindFor returns the kind in whose form the webhook gets the objects of a target: that of the path
// if a rule names it, or else, with the match policy Equivalent, the first other one that a rule
// names. It returns nil if no rule matches.
func (h *hook) kindFor(t *Target) *schema.Kind {
	for i := range h.rules {
		if h.rules[i].matches(t, t.Kind) {
			return t.Kind
		}
	}
	if !h.equivalent {
		return nil
	}
	for i := range h.rules {
		for _, k := range t.Kind.Versions() {
			if k != t.Kind && k.Served() && h.rules[i].matches(t, k) {
				return k
			}
		}
	}
	return nil
}

// isNamespace reports whether the objects of a target are namespaces.
func (t *Target) isNamespace() bool { return t.Kind.Resource == stored.Namespaces }
