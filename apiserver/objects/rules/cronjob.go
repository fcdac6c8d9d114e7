package rules

import "quorate/apiserver/objects/schema"

func cronJobHooks() schema.Hooks {
	return schema.Hooks{
		Validators: map[string]schema.Validator{
			"selectorIsGenerated": selectorIsGenerated,
			"runsToCompletion":    runsToCompletion,
		},
	}
}

// selectorIsGenerated: each job that a template makes gets a selector of its own.
func selectorIsGenerated(c *schema.Context, v *schema.Value) {
	if selector := v.Field("selector"); selector.IsSet() {
		c.Invalid(selector, "`selector` will be auto-generated", "selector")
	}
	if manual := v.Field("manualSelector"); manual.Bool() {
		c.NotSupported(manual, []string{"nil", "false"}, "manualSelector")
	}
}

// runsToCompletion: a job's pods end (M23). The default of pods is no choice here, so one has to be
// made.
func runsToCompletion(c *schema.Context, v *schema.Value) {
	switch policy := v.Field("spec").Field("restartPolicy").Str(); policy {
	case "OnFailure", "Never":
	default:
		c.NotSupported(policy, []string{"OnFailure", "Never"}, "spec", "restartPolicy")
	}
}
