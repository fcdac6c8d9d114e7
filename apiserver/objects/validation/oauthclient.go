package validation

import (
	"net/url"

	"quorate/apiserver/objects/schema"
)

func oauthClientHooks() schema.Hooks {
	return schema.Hooks{
		Validators: map[string]schema.Validator{
			"redirectURIs":        redirectURIs,
			"knownGrantMethod":    knownGrantMethod,
			"oneScopeRestriction": oneScopeRestriction,
			"literalsNotEmpty":    literalsNotEmpty,
		},
	}
}

// redirectURIs requires URIs that are unique and absolute (J56).
func redirectURIs(c *schema.Context, v *schema.Value) {
	var uris set[string]
	for i, item := range v.Items() {
		uri := item.Str()
		if uri != "" && !uris.add(uri) {
			c.Duplicate(uri, i)
		}
		if u, err := url.Parse(uri); err == nil && uri != "" && !u.IsAbs() {
			c.Invalid(uri, "must be an absolute URI", i)
		}
	}
}

// knownGrantMethod rejects changing the grant method to an unknown one (J50). An unset method means
// the server's default.
func knownGrantMethod(c *schema.Context, v *schema.Value) {
	if c.Old != nil && c.Old.Field("grantMethod").Str() == v.Str() {
		return
	}
	switch v.Str() {
	case "auto", "prompt", "deny":
	default:
		c.NotSupported(v, []string{"auto", "prompt"})
	}
}

// oneScopeRestriction requires a restriction either to list scopes or to describe roles.
func oneScopeRestriction(c *schema.Context, v *schema.Value) {
	n := 0
	if v.Field("literals").Len() > 0 {
		n++
	}
	if v.Field("clusterRole").IsSet() {
		n++
	}
	if n != 1 {
		c.Invalid(v, "exactly one of literals, clusterRole is required")
	}
}

func literalsNotEmpty(c *schema.Context, v *schema.Value) {
	for i, literal := range v.Items() {
		if literal.Str() == "" {
			c.Invalid("", "may not be empty", i)
		}
	}
}
