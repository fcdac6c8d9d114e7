package validation

import "quorate/apiserver/objects/schema"

func schedulingHooks() schema.Hooks {
	return schema.Hooks{
		Validators: map[string]schema.Validator{
			"toleration":            toleration,
			"nodeRequirementValues": nodeRequirementValues,
		},
	}
}

// toleration requires key, operator, value and effect to be consistent.
func toleration(c *schema.Context, v *schema.Value) {
	operator := v.Field("operator").Str()
	if v.Field("key").Str() == "" && operator != "Exists" {
		c.Invalid(operator, "operator must be Exists when `key` is empty, which means \"match all values and all keys\"", "operator")
	}
	if effect := v.Field("effect").Str(); v.Field("tolerationSeconds").IsSet() && effect != "NoExecute" {
		c.Invalid(effect, "effect must be 'NoExecute' when `tolerationSeconds` is set", "effect")
	}
	if operator == "Exists" && v.Field("value").Str() != "" {
		c.Invalid(v, "value must be empty when `operator` is 'Exists'", "operator")
	}
}

// nodeRequirementValues requires as many values as the operator takes. Node selectors have the
// operators of label selectors, and Gt and Lt.
func nodeRequirementValues(c *schema.Context, v *schema.Value) {
	switch v.Field("operator").Str() {
	case "Gt", "Lt":
		if v.Field("values").Len() != 1 {
			c.Required("must be specified single value when `operator` is 'Lt' or 'Gt'", "values")
		}
	default:
		labelRequirementValues(c, v)
	}
}
