package validation

import (
	"strings"

	"quorate/apiserver/objects/schema"
)

// highestUserPriority is the highest priority that a class may have whose name does not begin with
// systemPrefix.
const (
	highestUserPriority = 1_000_000_000
	systemPrefix        = "system-"
)

func claimHooks() schema.Hooks {
	return schema.Hooks{
		Validators: map[string]schema.Validator{
			"claimAsks":          claimAsks,
			"oneDisruptionBound": oneDisruptionBound,
			"systemPriority":     systemPriority,
		},
		Comparisons: map[string]schema.Comparison{
			"claimUpdate": claimUpdate,
		},
	}
}

// claimAsks requires a claim to say how and how much storage it wants. In the templates of a
// StatefulSet, whoever makes claims of them finds out.
func claimAsks(c *schema.Context, v *schema.Value) {
	spec := v.Field("spec")
	modes := spec.Field("accessModes")
	if modes.Len() == 0 {
		c.Required("at least 1 access mode is required", "spec", "accessModes")
	}
	if modes.Len() > 1 && contains(modes, "ReadWriteOncePod") {
		c.Forbidden("may not use ReadWriteOncePod with other access modes", "spec", "accessModes")
	}
	size := spec.Field("resources").Field("requests").Get("storage")
	switch quantity := size.Quantity(); {
	case size == nil:
		c.Required("", "spec", "resources", schema.Key("storage"))
	case quantity.Sign() <= 0:
		c.Invalid(size, "must be greater than zero", "spec", "resources", "requests", schema.Key("storage"))
	}
}

const claimUpdateForbidden = "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims"

// claimUpdate rejects changes of what a claim asks for. A bound claim may ask for more storage and
// for another class of attributes. One that is not bound may name its volume.
func claimUpdate(c *schema.Context, v, old *schema.Value) {
	spec, oldSpec := v.Field("spec"), old.Field("spec")
	if !spec.IsSet() || !oldSpec.IsSet() {
		return // reported elsewhere
	}
	bound := old.Field("status").Field("phase").Str() == "Bound"
	for _, f := range spec.Type().Message().Fields() {
		switch {
		case sameField(f, spec, oldSpec):
		case f.Name == "volumeName" && oldSpec.Field("volumeName").Str() == "":
		case f.Name == "volumeAttributesClassName" && bound:
		case f.Name == "resources" && bound:
			claimGrows(c, spec, oldSpec)
		default:
			c.Forbidden(claimUpdateForbidden, "spec")
			return
		}
	}
}

// claimGrows rejects a request for less storage than before.
func claimGrows(c *schema.Context, spec, old *schema.Value) {
	size, before := spec.Lookup("resources", "requests").Get("storage").Quantity(), old.Lookup("resources", "requests").Get("storage").Quantity()
	if size.Cmp(before) < 0 {
		c.Forbidden("field can not be less than previous value", "spec", "resources", "requests", "storage")
	}
}

// oneDisruptionBound rejects two bounds, and a share of more than all pods.
func oneDisruptionBound(c *schema.Context, v *schema.Value) {
	if v.Field("minAvailable").IsSet() && v.Field("maxUnavailable").IsSet() {
		c.Invalid(v, "minAvailable and maxUnavailable cannot be both set")
	}
	for _, name := range [...]string{"minAvailable", "maxUnavailable"} {
		if bound := v.Field(name); overAll(bound) {
			c.Invalid(bound, "must not be greater than 100%", name)
		}
	}
}

// systemPriority keeps priorities above those of users, and names that begin like those of the
// system, to the system.
func systemPriority(c *schema.Context, v *schema.Value) {
	name, value := c.Object.Name(), v.Field("value")
	switch system := name == "system-node-critical" || name == "system-cluster-critical"; {
	case system:
	case strings.HasPrefix(name, systemPrefix):
		c.Forbidden("priority class names with '"+systemPrefix+"' prefix are reserved for system use only", "metadata", "name")
	case value.Int() > highestUserPriority:
		c.Forbidden("maximum allowed value of a user defined priority is 1000000000", "value")
	}
}
