package validation

import (
	"strings"

	"quorate/apiserver/objects/schema"
)

// reservedDomains returns the domains of the groups that belong to the platform and of those that
// stock clients rely on. A ThirdPartyResource cannot define a kind in either domain or below it, so
// that it cannot hide one of these kinds (K11). A CustomResourceDefinition cannot define one in the
// first.
func reservedDomains() [2]string { return [2]string{"platform.io", "k8s.io"} }

func thirdPartyHooks() schema.Hooks {
	return schema.Hooks{
		Validators: map[string]schema.Validator{
			"thirdPartyName":     thirdPartyName,
			"versionNamesUnique": versionNamesUnique,
		},
	}
}

// thirdPartyName requires a name that consists of a kind and a group with a domain (K1, K2). It
// checks new names only, because names are immutable.
func thirdPartyName(c *schema.Context, _ *schema.Value) {
	if c.Operation != schema.Create {
		return
	}
	name := c.Object.Name()
	_, group, _ := strings.Cut(name, ".")
	switch {
	case name == "": // the format rejects it
	case !strings.Contains(group, "."):
		c.Invalid(name, "must be at least three segments long: <kind>.<domain>.<tld>", "metadata", "name")
	}
	for _, domain := range reservedDomains() {
		if group == domain || strings.HasSuffix(group, "."+domain) {
			c.Invalid(name, "the groups of "+domain+" are reserved", "metadata", "name")
		}
	}
}

func versionNamesUnique(c *schema.Context, v *schema.Value) { reportRepeated(c, v, "name") }
