package validation

import (
	"quorate/apiserver/objects/schema"
)

func podHooks() schema.Hooks {
	return schema.Hooks{
		Steps: map[string]schema.Step{
			"keepOwnerReferences": keepOwnerReferences,
		},
		Defaulters: map[string]schema.Defaulter{
			"newPodPhase": newPodPhase,
			"qosClass":    qosClass,
		},
		Comparisons: map[string]schema.Comparison{
			"podUpdate": podUpdate,
		},
	}
}

// keepOwnerReferences restores the stored owner references in a write of the status.
func keepOwnerReferences(c *schema.Context) {
	if c.Object.Metadata() == nil {
		return
	}
	c.Object.Metadata().Set("ownerReferences", c.Old.OwnerReferences())
}

// newPodPhase sets the phase of a new pod to Pending (M6).
func newPodPhase(c *schema.Context, m *schema.Value) {
	if c.Operation == schema.Create {
		m.Make("phase").SetStr("Pending")
	}
}

// qosClass sets the class of a new pod from the resources of its containers (M7). The spec's
// defaults must be set.
func qosClass(c *schema.Context, m *schema.Value) {
	if c.Operation != schema.Create {
		return
	}
	spec := c.Object.Field("spec")
	guaranteed, bestEffort := true, true
	for _, list := range [...]string{"initContainers", "containers"} {
		for _, container := range spec.Field(list).Items() {
			resources := container.Field("resources")
			limits, requests := resources.Field("limits"), resources.Field("requests")
			if asksFor(limits) || asksFor(requests) {
				bestEffort = false
			}
			if !equallyLimited(limits, requests) {
				guaranteed = false
			}
		}
	}
	class := "Burstable"
	switch {
	case bestEffort:
		class = "BestEffort"
	case guaranteed:
		class = "Guaranteed"
	}
	m.Make("qosClass").SetStr(class)
}

// asksFor reports whether a list of resources contains cpu or memory. Other resources do not affect
// the class.
func asksFor(resources *schema.Value) bool {
	return !resources.Get("cpu").IsEmpty() || !resources.Get("memory").IsEmpty()
}

func equallyLimited(limits, requests *schema.Value) bool {
	for _, name := range [...]string{"cpu", "memory"} {
		limit, request := limits.Get(name), requests.Get(name)
		if limit.IsEmpty() || limit.Str() != request.Str() {
			return false
		}
	}
	return true
}

const podUpdateForbidden = "pod updates may not change fields other than `spec.containers[*].image`, " +
	"`spec.initContainers[*].image`, `spec.activeDeadlineSeconds` or `spec.tolerations` (only additions to existing tolerations)"

// podUpdate rejects changes of a pod's spec other than those of images, the deadline and
// tolerations, which may change within limits (E22).
func podUpdate(c *schema.Context, v, old *schema.Value) {
	spec, oldSpec := v.Field("spec"), old.Field("spec")
	if spec == oldSpec { // a write of the status keeps the spec
		return
	}
	for _, list := range [...]string{"containers", "initContainers"} {
		if spec.Field(list).Len() != oldSpec.Field(list).Len() {
			c.Forbidden("pod updates may not add or remove containers", "spec", list)
			return
		}
	}
	if !podDeadlineUpdate(c, spec.Field("activeDeadlineSeconds"), oldSpec.Field("activeDeadlineSeconds")) {
		return
	}
	onlyAddedTolerations(c, spec.Field("tolerations"), oldSpec.Field("tolerations"))
	if !samePodSpec(spec, oldSpec) {
		c.Forbidden(podUpdateForbidden, "spec")
	}
}

// podDeadlineUpdate allows a deadline to be set or brought forward. It reports whether the new one
// is valid.
func podDeadlineUpdate(c *schema.Context, deadline, old *schema.Value) bool {
	switch {
	case !old.IsSet():
	case !deadline.IsSet():
		c.Invalid(deadline, "must not update from a positive integer to nil value", "spec", "activeDeadlineSeconds")
	case deadline.Int() > old.Int():
		c.Invalid(deadline, "must be less than or equal to previous value", "spec", "activeDeadlineSeconds")
		return false
	}
	return true
}

// onlyAddedTolerations requires the update to keep all tolerations. It may add some and change
// tolerationSeconds.
func onlyAddedTolerations(c *schema.Context, tolerations, old *schema.Value) {
	var have set[[4]string]
	for _, t := range tolerations.Items() {
		have.add(tolerationIdentity(t))
	}
	for _, t := range old.Items() {
		if !have.has(tolerationIdentity(t)) {
			c.Forbidden("existing toleration can not be modified except its tolerationSeconds", "spec", "tolerations")
			return
		}
	}
}

func tolerationIdentity(t *schema.Value) [4]string {
	return [4]string{t.Field("key").Str(), t.Field("operator").Str(), t.Field("value").Str(), t.Field("effect").Str()}
}

// samePodSpec reports whether the fields that an update must not change are equal.
func samePodSpec(spec, old *schema.Value) bool {
	if !spec.IsSet() || !old.IsSet() {
		return schema.Equal(spec, old)
	}
	for _, f := range spec.Type().Message().Fields() {
		switch f.Name {
		case "activeDeadlineSeconds", "tolerations":
			continue
		case "containers", "initContainers":
			if !sameButImages(spec.Field(f.Name), old.Field(f.Name)) {
				return false
			}
		default:
			if !sameField(f, spec, old) {
				return false
			}
		}
	}
	return true
}

func sameButImages(containers, old *schema.Value) bool {
	for i, container := range containers.Items() {
		for _, f := range container.Type().Message().Fields() {
			if f.Name != "image" && !sameField(f, container, old.At(i)) {
				return false
			}
		}
	}
	return true
}

// sameField compares a field of two messages of one type. For fields with `pointer`, unset and
// empty differ.
func sameField(f *schema.Field, a, b *schema.Value) bool {
	x, y := a.Field(f.Name), b.Field(f.Name)
	if f.Spec.Pointer && x.IsSet() != y.IsSet() {
		return false
	}
	return schema.Equal(x, y)
}
