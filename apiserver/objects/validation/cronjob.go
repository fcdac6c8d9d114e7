package validation

import "quorate/apiserver/objects/schema"

func cronJobHooks() schema.Hooks {
	return schema.Hooks{
		Validators: map[string]schema.Validator{
			"selectorIsGenerated": selectorIsGenerated,
			"runsToCompletion":    runsToCompletion,
		},
	}
}

// selectorIsGenerated rejects a selector in the template, because each job gets a generated one.
func selectorIsGenerated(c *schema.Context, v *schema.Value) {
	if selector := v.Field("selector"); selector.IsSet() {
		c.Invalid(selector, "`selector` will be auto-generated", "selector")
	}
	if manual := v.Field("manualSelector"); manual.Bool() {
		c.NotSupported(manual, []string{"nil", "false"}, "manualSelector")
	}
}

// runsToCompletion requires a restart policy under which pods can complete (M23). The default
// policy of pods is not valid here.
func runsToCompletion(c *schema.Context, v *schema.Value) {
	switch policy := v.Field("spec").Field("restartPolicy").Str(); policy {
	case "OnFailure", "Never":
	default:
		c.NotSupported(policy, []string{"OnFailure", "Never"}, "spec", "restartPolicy")
	}
}
