package validation

import (
	"errors"
	"strconv"
	"strings"

	"quorate/apiserver/objects/schema"
)

func deploymentHooks() schema.Hooks {
	return schema.Hooks{
		Validators: map[string]schema.Validator{
			"deadlineAfterReady": deadlineAfterReady,
			"recreatesAtOnce":    recreatesAtOnce,
			"updateProgresses":   updateProgresses,
			"podCountsFit":       podCountsFit,
		},
	}
}

// deadlineAfterReady rejects a deadline for progress that passes before a pod can become available.
func deadlineAfterReady(c *schema.Context, v *schema.Value) {
	deadline := v.Field("progressDeadlineSeconds")
	if deadline.IsSet() && deadline.Int() >= 0 && deadline.Int() <= v.Field("minReadySeconds").Int() {
		c.Invalid(deadline, "must be greater than minReadySeconds", "progressDeadlineSeconds")
	}
}

// recreatesAtOnce rejects the pace of a rolling update where all pods end first.
func recreatesAtOnce(c *schema.Context, v *schema.Value) {
	if v.Field("type").Str() == "Recreate" && v.Field("rollingUpdate").IsSet() {
		c.Forbidden("may not be specified when strategy `type` is 'Recreate'", "rollingUpdate")
	}
}

// updateProgresses rejects a rolling update that may neither end a pod before its replacement runs
// nor start one more, and one that may be short of more pods than there are.
func updateProgresses(c *schema.Context, v *schema.Value) {
	unavailable, surge := v.Field("maxUnavailable"), v.Field("maxSurge")
	if isNothing(unavailable) && isNothing(surge) {
		c.Invalid(unavailable, "may not be 0 when `maxSurge` is 0", "maxUnavailable")
	}
	if overAll(unavailable) {
		c.Invalid(unavailable, "must not be greater than 100%", "maxUnavailable")
	}
}

// overAll reports whether a share of pods exceeds 100%.
func overAll(v *schema.Value) bool {
	digits, percent := strings.CutSuffix(v.Str(), "%")
	n, err := strconv.Atoi(digits)
	return percent && (err == nil && n > 100 || errors.Is(err, strconv.ErrRange))
}

// isNothing reports whether a number or share of pods is 0.
func isNothing(v *schema.Value) bool {
	if v.IsText() {
		n, err := strconv.Atoi(strings.TrimSuffix(v.Str(), "%"))
		return err == nil && n == 0
	}
	return v.Int() == 0
}

// podCountsFit rejects counts of some pods in a status that exceed the count of all, and more pods
// that are available than are ready.
func podCountsFit(c *schema.Context, v *schema.Value) {
	all := v.Field("replicas").Int()
	for _, name := range [...]string{"fullyLabeledReplicas", "updatedReplicas", "readyReplicas", "availableReplicas"} {
		if n := v.Field(name); n.Int() > all {
			c.Invalid(n, "cannot be greater than status.replicas", name)
		}
	}
	if available := v.Field("availableReplicas"); available.Int() > v.Field("readyReplicas").Int() {
		c.Invalid(available, "cannot be greater than readyReplicas", "availableReplicas")
	}
}
