package validation

import "quorate/apiserver/objects/schema"

// fieldImmutable is the detail of the error for a changed immutable field (E21).
const fieldImmutable = "field is immutable"

func metadataHooks() schema.Hooks {
	return schema.Hooks{
		Defaulters: map[string]schema.Defaulter{
			"endInitialization": endInitialization,
		},
		Validators: map[string]schema.Validator{
			"labelRequirementValues": labelRequirementValues,
		},
	}
}

// endInitialization removes an empty initializers field. An object without this field is
// initialized (A30).
func endInitialization(c *schema.Context, m *schema.Value) {
	in := m.Field("initializers")
	if m == c.Object.Metadata() && in.IsSet() && in.Field("pending").Len() == 0 && !in.Field("result").IsSet() {
		m.Clear("initializers")
	}
}

// labelRequirementValues requires or rejects the values of a label selector's requirement,
// depending on its operator.
func labelRequirementValues(c *schema.Context, v *schema.Value) {
	values := v.Field("values").Len()
	switch v.Field("operator").Str() {
	case "In", "NotIn":
		if values == 0 {
			c.Required("must be specified when `operator` is 'In' or 'NotIn'", "values")
		}
	case "Exists", "DoesNotExist":
		if values > 0 {
			c.Forbidden("may not be specified when `operator` is 'Exists' or 'DoesNotExist'", "values")
		}
	}
}
