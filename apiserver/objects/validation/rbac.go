package validation

import (
	"k8s.io/apimachinery/pkg/util/validation"

	"quorate/apiserver/objects/schema"
)

const (
	rbacGroup = "rbac.authorization.platform.io"

	kindUser           = "User"
	kindGroup          = "Group"
	kindServiceAccount = "ServiceAccount"
)

func rbacHooks() schema.Hooks {
	return schema.Hooks{
		Defaulters: map[string]schema.Defaulter{
			"subjectGroup": subjectGroup,
		},
		Conditions: map[string]schema.Condition{
			"needsNamespace": needsNamespace,
		},
		Validators: map[string]schema.Validator{
			"policyRule":         policyRule,
			"subjectGroupOfKind": subjectGroupOfKind,
			"serviceAccountName": serviceAccountName,
		},
		Comparisons: map[string]schema.Comparison{
			"roleRefFixed": roleRefFixed,
		},
	}
}

// policyRule requires a rule to apply either to resources of API groups or to non-resource paths.
// Rules of namespaced roles cannot apply to paths (M29).
func policyRule(c *schema.Context, v *schema.Value) {
	groups, resources := v.Field("apiGroups").Len(), v.Field("resources").Len()
	if urls := v.Field("nonResourceURLs"); urls.Len() > 0 {
		if c.Kind.Namespaced {
			c.Invalid(urls, "namespaced rules cannot apply to non-resource URLs", "nonResourceURLs")
		}
		if groups > 0 || resources > 0 || v.Field("resourceNames").Len() > 0 {
			c.Invalid(urls, "rules cannot apply to both regular resources and non-resource URLs", "nonResourceURLs")
		}
		return
	}
	if groups == 0 {
		c.Required("resource rules must supply at least one api group", "apiGroups")
	}
	if resources == 0 {
		c.Required("resource rules must supply at least one resource", "resources")
	}
}

// subjectGroup defaults the API group of users and groups to the group of the binding (M30).
func subjectGroup(c *schema.Context, m *schema.Value) {
	if kind := m.Field("kind").Str(); kind == kindUser || kind == kindGroup {
		m.Make("apiGroup").SetStr(c.Kind.Group)
	}
}

func subjectGroupOfKind(c *schema.Context, v *schema.Value) {
	group := v.Field("apiGroup").Str()
	switch v.Field("kind").Str() {
	case kindUser, kindGroup:
		if group != c.Kind.Group {
			c.NotSupported(group, []string{c.Kind.Group}, "apiGroup")
		}
	case kindServiceAccount:
		if group != "" {
			c.NotSupported(group, []string{""}, "apiGroup")
		}
	}
}

func isServiceAccount(m *schema.Value) bool { return m.Field("kind").Str() == kindServiceAccount }

// needsNamespace reports whether a subject must have a namespace: a service account in a
// cluster-wide binding. In a namespaced binding it defaults to the binding's namespace (M30).
func needsNamespace(c *schema.Context, m *schema.Value) bool {
	return isServiceAccount(m) && !c.Kind.Namespaced
}

// serviceAccountName validates the names of service accounts, which must be names of objects. Users
// and groups may have any name.
func serviceAccountName(c *schema.Context, v *schema.Value) {
	if !isServiceAccount(c.Parent()) {
		return
	}
	for _, why := range validation.IsDNS1123Subdomain(v.Str()) {
		c.Invalid(v, why)
	}
}

// roleRefFixed rejects changes of the role that a binding refers to (E27).
func roleRefFixed(c *schema.Context, v, old *schema.Value) {
	if !schema.Equal(v, old) {
		c.Invalid(v, "cannot change roleRef")
	}
}
