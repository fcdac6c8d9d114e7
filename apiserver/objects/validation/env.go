package validation

import (
	"slices"
	"strings"

	"quorate/apiserver/objects/schema"
)

func envHooks() schema.Hooks {
	return schema.Hooks{
		Conditions: map[string]schema.Condition{
			"usedInVolume": usedInVolume,
		},
		Validators: map[string]schema.Validator{
			"oneEnvSource":       oneEnvSource,
			"oneEnvFromSource":   oneEnvFromSource,
			"fieldPathForItsUse": fieldPathForItsUse,
			"divisorOfItsKind":   divisorOfItsKind,
		},
	}
}

// oneEnvSource requires a variable to have either a value or exactly one other source.
func oneEnvSource(c *schema.Context, v *schema.Value) {
	switch n := countSet(v, "fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef"); {
	case n == 0:
		c.Invalid("", "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`")
	case c.Enclosing("EnvVar").Field("value").Str() != "":
		c.Invalid("", "may not be specified when `value` is not empty")
	case n > 1:
		c.Invalid("", "may not have more than one field specified at a time")
	}
}

func oneEnvFromSource(c *schema.Context, v *schema.Value) {
	switch n := countSet(v, "configMapRef", "secretRef"); {
	case n == 0:
		c.Invalid("", "must specify one of: `configMapRef` or `secretRef`")
	case n > 1:
		c.Invalid("", "may not have more than one field specified at a time")
	}
}

// countSet returns how many of a message's fields are set.
func countSet(v *schema.Value, names ...string) int {
	n := 0
	for _, name := range names {
		if v.Field(name).IsSet() {
			n++
		}
	}
	return n
}

// usedInVolume reports whether a resource field is part of a volume. It then requires a container
// name, because a volume does not belong to a container.
func usedInVolume(c *schema.Context, _ *schema.Value) bool { return c.Enclosing("EnvVarSource") == nil }

// fieldPathForItsUse rejects a field path that is not supported where it is used, in a variable or
// a volume. The type file lists the supported paths of both.
func fieldPathForItsUse(c *schema.Context, v *schema.Value) {
	spec := c.Parent().Type().Message().Field("fieldPath").Spec
	supported := spec.EnumVolume
	if c.Enclosing("EnvVarSource") != nil {
		supported = spec.EnumEnv
	}
	path := v.Str()
	switch {
	case slices.Contains(supported, path):
	case slices.Contains(podFieldPaths(), path):
		c.NotSupported(path, supported)
	default:
		c.Invalid(path, "error converting fieldPath: field label not supported: "+path)
	}
}

// podFieldPaths returns the fields of a pod that the downward API knows. Not all are supported
// everywhere.
func podFieldPaths() []string {
	return []string{
		"metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName",
		"spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName", "status.phase", "status.hostIP", "status.podIP",
	}
}

// divisorOfItsKind rejects divisors that are not units of the resource. An unset divisor is "0" and
// means 1.
func divisorOfItsKind(c *schema.Context, v *schema.Value) {
	resource := c.Parent().Field("resource").Str()
	_, kind, _ := strings.Cut(resource, ".")
	switch kind {
	case "cpu":
		if v.Str() != "1m" && v.Str() != "1" {
			c.Invalid(resource, "only divisor's values 1m and 1 are supported with the cpu resource")
		}
	case "memory", "ephemeral-storage":
		if !isByteUnit(v.Str()) {
			name := "memory"
			if kind != name {
				name = "local ephemeral storage"
			}
			c.Invalid(resource, "only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are supported with the "+name+" resource")
		}
	}
}

func isByteUnit(s string) bool {
	switch s {
	case "1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei":
		return true
	}
	return false
}
