package validation

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"quorate/apiserver/objects/schema"
)

const (
	kindSystemUser  = "SystemUser"
	kindSystemGroup = "SystemGroup"

	serviceAccountPrefix = "system:serviceaccount:"
)

func legacyBindingHooks() schema.Hooks {
	return schema.Hooks{
		Steps: map[string]schema.Step{
			"namesReplaceSubjects": namesReplaceSubjects,
		},
		Validators: map[string]schema.Validator{
			"legacySubjects": legacySubjects,
			"legacyRoleRef":  legacyRoleRef,
		},
		Comparisons: map[string]schema.Comparison{
			"legacyRoleRefFixed": legacyRoleRefFixed,
		},
		Converters: map[string]schema.Converter{
			"legacyBindingToRbac": legacyBindingToRbac,
			"rbacToLegacyBinding": rbacToLegacyBinding,
		},
	}
}

// namesReplaceSubjects replaces the subjects with those that userNames and groupNames name, if a
// client sets either (J41). It keeps subjects that have exactly these names, so that a client that
// writes back an unchanged object does not change their order (E20).
func namesReplaceSubjects(c *schema.Context) {
	root := c.Object.Root()
	users, groups := root.Field("userNames"), root.Field("groupNames")
	if !users.IsSet() && !groups.IsSet() || areNamed(root.Field("subjects"), users, groups) {
		return
	}
	root.Clear("subjects")
	if users.Len()+groups.Len() == 0 {
		return
	}
	subjects := root.Make("subjects")
	for _, user := range users.Items() {
		subject := subjects.Append()
		if namespace, name, ok := serviceAccountOf(user.Str()); ok {
			subject.Make("kind").SetStr(kindServiceAccount)
			subject.Make("namespace").SetStr(namespace)
			subject.Make("name").SetStr(name)
			continue
		}
		subject.Make("kind").SetStr(legacyKind(user.Str(), kindUser, kindSystemUser))
		subject.Make("name").SetStr(user.Str())
	}
	for _, group := range groups.Items() {
		subject := subjects.Append()
		subject.Make("kind").SetStr(legacyKind(group.Str(), kindGroup, kindSystemGroup))
		subject.Make("name").SetStr(group.Str())
	}
}

// areNamed reports whether the subjects have exactly these names, in this order.
func areNamed(subjects, users, groups *schema.Value) bool {
	u, g := 0, 0
	for _, subject := range subjects.Items() {
		switch name := subject.Field("name").Str(); subject.Field("kind").Str() {
		case kindServiceAccount:
			if users.At(u).Str() != serviceAccountUser(subject.Field("namespace").Str(), name) {
				return false
			}
			u++
		case kindUser, kindSystemUser:
			if users.At(u).Str() != name {
				return false
			}
			u++
		case kindGroup, kindSystemGroup:
			if groups.At(g).Str() != name {
				return false
			}
			g++
		default:
			return false
		}
	}
	return u == users.Len() && g == groups.Len()
}

// serviceAccountUser returns the user name of a service account.
func serviceAccountUser(namespace, name string) string {
	return serviceAccountPrefix + namespace + ":" + name
}

// serviceAccountOf parses the user name of a service account.
func serviceAccountOf(user string) (namespace, name string, ok bool) {
	rest, ok := strings.CutPrefix(user, serviceAccountPrefix)
	if !ok {
		return "", "", false
	}
	namespace, name, ok = strings.Cut(rest, ":")
	if !ok || len(validation.IsDNS1123Label(namespace)) > 0 || len(validation.IsDNS1123Subdomain(name)) > 0 {
		return "", "", false
	}
	return namespace, name, true
}

// legacyKind returns the kind of a subject: system if no user or group object can have the name,
// else plain (J42).
func legacyKind(name, plain, system string) string {
	if name == "" || name == "." || name == ".." || name == "~" || strings.ContainsAny(name, "/%:") {
		return system
	}
	return plain
}

// legacySubjects validates the subjects as strictly as those of the stored form (J40, M30).
func legacySubjects(c *schema.Context, v *schema.Value) {
	for i, subject := range v.Items() {
		name := subject.Field("name").Str()
		if name == "" {
			c.Required("", i, "name")
		}
		switch kind := subject.Field("kind").Str(); kind {
		case kindUser, kindGroup, kindSystemUser, kindSystemGroup:
		case kindServiceAccount:
			if subject.Field("namespace").Str() == "" {
				c.Required("Service account subjects for ClusterRoleBindings must have a namespace", i, "namespace")
			}
			if name == "" {
				continue
			}
			for _, why := range validation.IsDNS1123Subdomain(name) {
				c.Invalid(name, why, i, "name")
			}
		case "":
			c.Required("", i, "kind")
		default:
			c.NotSupported(kind, []string{kindServiceAccount, kindUser, kindGroup, kindSystemUser, kindSystemGroup}, i, "kind")
		}
	}
}

// legacyRoleRef requires a reference to a cluster role to consist of a name only (J40).
func legacyRoleRef(c *schema.Context, v *schema.Value) {
	switch name := v.Field("name").Str(); {
	case name == "":
		c.Required("", "name")
	case name == "." || name == "..":
		c.Invalid(name, "may not be '"+name+"'", "name")
	default:
		for _, bad := range [...]string{"/", "%"} {
			if strings.Contains(name, bad) {
				c.Invalid(name, "may not contain '"+bad+"'", "name")
			}
		}
	}
	if namespace := v.Field("namespace").Str(); namespace != "" {
		c.Invalid(namespace, fmt.Sprintf("attempts to reference role in namespace %q instead of cluster scope", namespace), "namespace")
	}
}

// legacyRoleRefFixed rejects changes of the part of the reference that is stored (E27).
func legacyRoleRefFixed(c *schema.Context, v, old *schema.Value) {
	if v.Field("name").Str() != old.Field("name").Str() {
		c.Invalid(v, "cannot change roleRef")
	}
}

// legacyBindingToRbac converts a binding to the stored form (J39, J40).
func legacyBindingToRbac(from, to *schema.Object) {
	ref := to.Root().Make("roleRef")
	ref.Make("apiGroup").SetStr(rbacGroup)
	ref.Make("kind").SetStr("ClusterRole")
	ref.Make("name").SetStr(from.Field("roleRef").Field("name").Str())
	legacy := from.Field("subjects")
	if legacy.Len() == 0 {
		return
	}
	subjects := to.Root().Make("subjects")
	for _, old := range legacy.Items() {
		subject := subjects.Append()
		subject.Make("name").SetStr(old.Field("name").Str())
		switch old.Field("kind").Str() {
		case kindServiceAccount:
			subject.Make("kind").SetStr(kindServiceAccount)
			subject.Make("namespace").SetStr(old.Field("namespace").Str())
		case kindGroup, kindSystemGroup:
			subject.Make("kind").SetStr(kindGroup)
			subject.Make("apiGroup").SetStr(rbacGroup)
		default:
			subject.Make("kind").SetStr(kindUser)
			subject.Make("apiGroup").SetStr(rbacGroup)
		}
	}
}

// rbacToLegacyBinding converts a stored binding to the legacy form (J42).
func rbacToLegacyBinding(from, to *schema.Object) {
	root := to.Root()
	root.Make("roleRef").Make("name").SetStr(from.Field("roleRef").Field("name").Str())
	for _, stored := range from.Field("subjects").Items() {
		name := stored.Field("name").Str()
		subject := root.Make("subjects").Append()
		subject.Make("name").SetStr(name)
		switch stored.Field("kind").Str() {
		case kindServiceAccount:
			namespace := stored.Field("namespace").Str()
			subject.Make("kind").SetStr(kindServiceAccount)
			subject.Make("namespace").SetStr(namespace)
			root.Make("userNames").Append().SetStr(serviceAccountUser(namespace, name))
		case kindGroup:
			subject.Make("kind").SetStr(legacyKind(name, kindGroup, kindSystemGroup))
			root.Make("groupNames").Append().SetStr(name)
		default:
			subject.Make("kind").SetStr(legacyKind(name, kindUser, kindSystemUser))
			root.Make("userNames").Append().SetStr(name)
		}
	}
}
