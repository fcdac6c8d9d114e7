package rules

import (
	"strings"

	"quorate/apiserver/objects/schema"
)

// reservedDomains are the domains of the platform's present and future groups and of those that
// stock clients assume. Users can't define kinds in them, so no user's kind hides one (K11).
func reservedDomains() [2]string { return [2]string{"platform.io", "k8s.io"} }

func thirdPartyHooks() schema.Hooks {
	return schema.Hooks{
		Validators: map[string]schema.Validator{
			"thirdPartyName":     thirdPartyName,
			"versionNamesUnique": versionNamesUnique,
		},
	}
}

// thirdPartyName requires a name that consists of a kind and a group with a domain (K1, K2). Names
// don't change, so only new ones are checked.
func thirdPartyName(c *schema.Context, _ *schema.Value) {
	if c.Operation != schema.Create {
		return
	}
	name := c.Object.Name()
	_, group, _ := strings.Cut(name, ".")
	switch {
	case name == "": // refused by its format
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
