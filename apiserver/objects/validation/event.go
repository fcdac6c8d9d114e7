package validation

import "quorate/apiserver/objects/schema"

func eventHooks() schema.Hooks {
	return schema.Hooks{
		Validators: map[string]schema.Validator{
			"eventBesideItsObject": eventBesideItsObject,
		},
	}
}

// eventBesideItsObject requires an event to be in the namespace of its involved object, or in
// namespace default if that object has no namespace (M16).
func eventBesideItsObject(c *schema.Context, v *schema.Value) {
	about, own := v.Field("namespace").Str(), c.Object.Namespace()
	if about == own || about == "" && own == "default" {
		return
	}
	c.Invalid(about, "does not match event.namespace", "namespace")
}
