package rules

import (
	"strings"

	"quorate/apiserver/objects/schema"
)

// reservedDomains are where the groups of kinds are and will be that the platform has of its own,
// or that stock clients assume, so nothing made by users hides one (K11).
func reservedDomains() [2]string { return [2]string{"platform.io", "k8s.io"} }

func thirdPartyHooks() schema.Hooks {
	return schema.Hooks{
		Validators: map[string]schema.Validator{
			"thirdPartyName":     thirdPartyName,
			"versionNamesUnique": versionNamesUnique,
		},
	}
}

// thirdPartyName: the name is the kind and its group, which has a domain (K1, K2). Names don't
// change, so only new ones count.
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
