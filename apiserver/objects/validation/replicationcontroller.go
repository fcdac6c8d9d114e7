package validation

import "quorate/apiserver/objects/schema"

func replicationControllerHooks() schema.Hooks {
	return schema.Hooks{
		Defaulters: map[string]schema.Defaulter{
			"labelsFromTemplate": labelsFromTemplate,
		},
		Validators: map[string]schema.Validator{
			"labelsMatchTemplate": labelsMatchTemplate,
		},
	}
}

// labelsFromTemplate copies the labels of the template to a controller without labels, and makes
// them the selector if there is none.
func labelsFromTemplate(_ *schema.Context, m *schema.Value) {
	labels := m.Lookup("spec", "template", "metadata", "labels")
	if labels.Len() == 0 {
		return
	}
	for _, part := range [...]struct{ message, field string }{{"spec", "selector"}, {"metadata", "labels"}} {
		if m.Lookup(part.message, part.field).Len() > 0 {
			continue
		}
		to := m.Make(part.message).Make(part.field)
		for key, value := range labels.Entries() {
			to.Put(key).SetStr(value.Str())
		}
	}
}

// labelsMatchTemplate requires the template to have the labels of the selector.
func labelsMatchTemplate(c *schema.Context, v *schema.Value) {
	if !v.Field("template").IsSet() {
		return // reported as missing
	}
	labels := v.Lookup("template", "metadata", "labels")
	for key, value := range v.Field("selector").Entries() {
		if have := labels.Get(key); have == nil || have.Str() != value.Str() {
			c.Invalid(labels, "`selector` does not match template `labels`", "template", "metadata", "labels")
			return
		}
	}
}
