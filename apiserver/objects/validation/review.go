package validation

import (
	"quorate/apiserver/objects/schema"
)

func reviewHooks() schema.Hooks {
	return schema.Hooks{
		Validators: map[string]schema.Validator{
			"reviewedRequest": reviewedRequest,
			"reviewedSubject": reviewedSubject,
		},
	}
}

// reviewedRequest requires a review to describe exactly one request, for a resource or for a path
// (J58).
func reviewedRequest(c *schema.Context, v *schema.Value) {
	resource, other := v.Field("resourceAttributes"), v.Field("nonResourceAttributes")
	switch {
	case resource.IsSet() && other.IsSet():
		c.Invalid(other, "cannot be specified in combination with resourceAttributes", "nonResourceAttributes")
	case !resource.IsSet() && !other.IsSet():
		c.Invalid(resource, "exactly one of nonResourceAttributes or resourceAttributes must be specified", "resourceAttributes")
	}
}

// reviewedSubject requires a review to name a user or groups (J58).
func reviewedSubject(c *schema.Context, v *schema.Value) {
	if v.Field("user").Str() == "" && v.Field("groups").Len() == 0 {
		c.Invalid("", "at least one of user or group must be specified", "user")
	}
}
