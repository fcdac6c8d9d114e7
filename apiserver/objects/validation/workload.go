package validation

import (
	"strconv"
	"strings"

	"quorate/apiserver/objects/schema"
)

const (
	rollingUpdate = "RollingUpdate"
	onDelete      = "OnDelete"
)

func workloadHooks() schema.Hooks {
	return schema.Hooks{
		Defaulters: map[string]schema.Defaulter{
			"statefulSetRollingUpdate": statefulSetRollingUpdate,
		},
		Conditions: map[string]schema.Condition{
			"isRollingUpdate": isRollingUpdate,
			"inRollingUpdate": inRollingUpdate,
		},
		Validators: map[string]schema.Validator{
			"selectorNotEmpty":        selectorNotEmpty,
			"selectorMatchesTemplate": selectorMatchesTemplate,
			"runsForever":             runsForever,
			"someUnavailable":         someUnavailable,
			"onlyRollingUpdates":      onlyRollingUpdates,
			"replicasOfStatus":        replicasOfStatus,
		},
		Comparisons: map[string]schema.Comparison{
			"neverDecremented":  neverDecremented,
			"statefulSetUpdate": statefulSetUpdate,
		},
	}
}

// selectorNotEmpty rejects an empty selector, which would select the pods of all workloads (M21).
func selectorNotEmpty(c *schema.Context, v *schema.Value) {
	if v.Field("matchLabels").Len()+v.Field("matchExpressions").Len() == 0 {
		c.Invalid(v, "empty selector is invalid for "+strings.ToLower(c.Kind.Kind))
	}
}

// selectorMatchesTemplate requires the selector to match the labels of the template (M21).
func selectorMatchesTemplate(c *schema.Context, v *schema.Value) {
	selector := v.Field("selector")
	labels := v.Lookup("template", "metadata", "labels")
	if selector.Field("matchLabels").Len()+selector.Field("matchExpressions").Len() > 0 && !selects(selector, labels) {
		c.Invalid(labels, "`selector` does not match template `labels`", "template", "metadata", "labels")
	}
}

// selects reports whether a label selector matches labels. It ignores malformed requirements, which
// other rules report.
func selects(selector, labels *schema.Value) bool {
	for key, value := range selector.Field("matchLabels").Entries() {
		if have := labels.Get(key); have == nil || have.Str() != value.Str() {
			return false
		}
	}
	for _, requirement := range selector.Field("matchExpressions").Items() {
		have := labels.Get(requirement.Field("key").Str())
		ok := true
		switch requirement.Field("operator").Str() {
		case "In":
			ok = have != nil && contains(requirement.Field("values"), have.Str())
		case "NotIn":
			ok = have == nil || !contains(requirement.Field("values"), have.Str())
		case "Exists":
			ok = have != nil
		case "DoesNotExist":
			ok = have == nil
		}
		if !ok {
			return false
		}
	}
	return true
}

// contains reports whether a list of strings contains s.
func contains(list *schema.Value, s string) bool {
	for _, item := range list.Items() {
		if item.Str() == s {
			return true
		}
	}
	return false
}

// runsForever requires the restart policy Always and rejects a deadline, because these workloads
// replace pods that terminate (M21).
func runsForever(c *schema.Context, v *schema.Value) {
	spec := v.Field("spec")
	if policy := spec.Field("restartPolicy").Str(); policy != "" && policy != "Always" {
		c.NotSupported(policy, []string{"Always"}, "spec", "restartPolicy")
	}
	if deadline := spec.Field("activeDeadlineSeconds"); deadline.IsSet() {
		c.Invalid(deadline, "must not be set", "spec", "activeDeadlineSeconds")
	}
}

func isRollingUpdate(_ *schema.Context, m *schema.Value) bool {
	return m.Field("type").Str() == rollingUpdate
}

func inRollingUpdate(c *schema.Context, _ *schema.Value) bool {
	return c.Enclosing("StatefulSetUpdateStrategy").Field("type").Str() == rollingUpdate
}

// someUnavailable rejects a rolling update that may not make any pod unavailable, because it would
// never progress.
func someUnavailable(c *schema.Context, v *schema.Value) {
	n := v.Int()
	if digits, percent := strings.CutSuffix(v.Str(), "%"); percent {
		var err error
		if n, err = strconv.ParseInt(digits, 10, 64); err != nil {
			n = 101 // the format allows digits only, so there are too many
		}
		if n > 100 {
			c.Invalid(v.Str(), "must not be greater than 100%")
		}
	} else if v.IsText() {
		return // the format rejects it
	}
	if n == 0 {
		c.Invalid(v, "cannot be 0")
	}
}

// statefulSetRollingUpdate defaults the settings of the rolling update, but only if the client sets
// no strategy type.
func statefulSetRollingUpdate(_ *schema.Context, m *schema.Value) {
	if m.Field("type").Str() == "" {
		m.Make("type").SetStr(rollingUpdate)
		m.Make("rollingUpdate")
	}
}

func onlyRollingUpdates(c *schema.Context, v *schema.Value) {
	if settings := v.Field("rollingUpdate"); v.Field("type").Str() == onDelete && settings.IsSet() {
		c.Invalid(settings, "only allowed for updateStrategy '"+rollingUpdate+"'", "rollingUpdate")
	}
}

// replicasOfStatus rejects a count of some replicas that exceeds the count of all.
func replicasOfStatus(c *schema.Context, v *schema.Value) {
	all := v.Field("replicas").Int()
	for _, name := range [...]string{"readyReplicas", "currentReplicas", "updatedReplicas"} {
		if n := v.Field(name); n.Int() > all {
			c.Invalid(n, "cannot be greater than status.replicas", name)
		}
	}
}

func neverDecremented(c *schema.Context, v, old *schema.Value) {
	if v.Int() < old.Int() {
		c.Invalid(v.Int(), "cannot be decremented")
	}
}

const statefulSetUpdateForbidden = "updates to statefulset spec for fields other than 'replicas', 'template', and 'updateStrategy' are forbidden."

// statefulSetUpdate rejects changes of the fields that determine the identity of pods (E23).
func statefulSetUpdate(c *schema.Context, v, old *schema.Value) {
	spec, oldSpec := v.Field("spec"), old.Field("spec")
	if !spec.IsSet() || !oldSpec.IsSet() {
		return // reported elsewhere
	}
	for _, f := range spec.Type().Message().Fields() {
		switch f.Name {
		case "replicas", "template", "updateStrategy":
			continue
		}
		if !sameField(f, spec, oldSpec) {
			c.Forbidden(statefulSetUpdateForbidden, "spec")
			return
		}
	}
}
