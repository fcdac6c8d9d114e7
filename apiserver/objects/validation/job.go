package validation

import (
	"math"

	"quorate/apiserver/objects/schema"
)

// The labels by which a job finds its pods, and those that say its name. Each has the name that
// stock clients read today and the one that they read before.
const (
	jobUIDLabel     = "batch.kubernetes.io/controller-uid"
	oldJobUIDLabel  = "controller-uid"
	jobNameLabel    = "batch.kubernetes.io/job-name"
	oldJobNameLabel = "job-name"

	indexed             = "Indexed"
	defaultBackoffLimit = 6
)

func jobHooks() schema.Hooks {
	return schema.Hooks{
		Defaulters: map[string]schema.Defaulter{
			"jobCounts": jobCounts,
		},
		Validators: map[string]schema.Validator{
			"jobSelector":           jobSelector,
			"indexedJob":            indexedJob,
			"oneFailureRequirement": oneFailureRequirement,
		},
		Comparisons: map[string]schema.Comparison{
			"completionsFixed": completionsFixed,
		},
		Steps: map[string]schema.Step{
			"selectOwnPods": selectOwnPods,
		},
	}
}

// jobCounts sets the defaults that depend on other fields: a job without counts is done after one
// pod, and one that counts failures by index has no limit for all of them.
func jobCounts(_ *schema.Context, m *schema.Value) {
	if !m.Field("parallelism").IsSet() && !m.Field("completions").IsSet() {
		m.Make("completions").SetInt(1)
	}
	if !m.Field("backoffLimit").IsSet() {
		limit := int64(defaultBackoffLimit)
		if m.Field("backoffLimitPerIndex").IsSet() {
			limit = math.MaxInt32
		}
		m.Make("backoffLimit").SetInt(limit)
	}
	if !m.Field("podReplacementPolicy").IsSet() {
		policy := "TerminatingOrFailed"
		if m.Field("podFailurePolicy").IsSet() {
			policy = "Failed"
		}
		m.Make("podReplacementPolicy").SetStr(policy)
	}
}

// jobSelector requires a selector that is given by hand to match the template. One that the server
// makes may not be given when the job is created.
func jobSelector(c *schema.Context, v *schema.Value) {
	selector := v.Field("selector")
	if v.Field("manualSelector").Bool() {
		if !selector.IsSet() {
			c.Required("", "selector")
			return
		}
		selectorMatchesTemplate(c, v)
		return
	}
	if c.Old == nil && selector.IsSet() {
		c.Invalid(selector, "`selector` not auto-generated", "selector")
	}
}

// indexedJob requires what an indexed job needs, and rejects what only indexed jobs have.
func indexedJob(c *schema.Context, v *schema.Value) {
	restarts := v.Lookup("template", "spec", "restartPolicy").Str() != "Never"
	if v.Field("completionMode").Str() == indexed {
		if !v.Field("completions").IsSet() {
			c.Required("when completion mode is Indexed", "completions")
		}
	} else {
		for _, name := range [...]string{"backoffLimitPerIndex", "successPolicy"} {
			if value := v.Field(name); value.IsSet() {
				c.Invalid(value, "requires indexed completion mode", name)
			}
		}
	}
	for _, name := range [...]string{"backoffLimitPerIndex", "podFailurePolicy"} {
		if value := v.Field(name); value.IsSet() && restarts {
			c.Invalid(value, "requires the restartPolicy Never", name)
		}
	}
	if most := v.Field("maxFailedIndexes"); most.IsSet() && !v.Field("backoffLimitPerIndex").IsSet() {
		c.Required("when maxFailedIndexes is specified", "backoffLimitPerIndex")
	}
	if v.Field("podFailurePolicy").IsSet() && v.Field("podReplacementPolicy").Str() != "Failed" {
		c.NotSupported(v.Field("podReplacementPolicy").Str(), []string{"Failed"}, "podReplacementPolicy")
	}
}

// oneFailureRequirement requires one of the two descriptions of a failure.
func oneFailureRequirement(c *schema.Context, v *schema.Value) {
	codes, conditions := v.Field("onExitCodes").IsSet(), v.Field("onPodConditions").Len() > 0
	switch {
	case codes && conditions:
		c.Invalid(v.Field("onExitCodes"), "specifying both OnExitCodes and OnPodConditions is not supported", "onExitCodes")
	case !codes && !conditions:
		c.Required("specifying one of OnExitCodes and OnPodConditions is required", "onExitCodes")
	}
}

// completionsFixed rejects a change of the completions, unless the job is indexed, whose number of
// indexes may change together with its parallelism.
func completionsFixed(c *schema.Context, v, old *schema.Value) {
	same := v.IsSet() == old.IsSet() && v.Int() == old.Int()
	if !same && c.Parent().Field("completionMode").Str() != indexed {
		c.Invalid(v, "field is immutable")
	}
}

// selectOwnPods gives a new job the selector and labels by which it finds its pods. It is the last
// step, because they contain the uid.
func selectOwnPods(c *schema.Context) {
	spec := c.Object.Field("spec")
	if c.Old != nil || spec.Field("manualSelector").Bool() {
		return
	}
	uid, name := c.Object.UID(), c.Object.Name()
	labels := spec.Make("template").Make("metadata").Make("labels")
	for _, label := range [...]struct{ key, value string }{
		{jobUIDLabel, uid}, {oldJobUIDLabel, uid}, {jobNameLabel, name}, {oldJobNameLabel, name},
	} {
		labels.Put(label.key).SetStr(label.value)
	}
	spec.Make("selector").Make("matchLabels").Put(jobUIDLabel).SetStr(uid)
}
