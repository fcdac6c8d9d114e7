package validation

import (
	"strings"

	"quorate/apiserver/objects/schema"
)

func volumeHooks() schema.Hooks {
	return schema.Hooks{
		Defaulters: map[string]schema.Defaulter{
			"emptyDirUnlessSource": emptyDirUnlessSource,
		},
		Validators: map[string]schema.Validator{
			"volumeNamesUnique": volumeNamesUnique,
			"oneVolumeSource":   oneVolumeSource,
			"noBacksteps":       noBacksteps,
			"nonReservedPath":   nonReservedPath,
			"oneDownwardRef":    oneDownwardRef,
			"projectedPaths":    projectedPaths,
			"oneProjection":     oneProjection,
		},
	}
}

func volumeNamesUnique(c *schema.Context, v *schema.Value) { reportRepeated(c, v, "name") }

// isVolumeSource reports whether a field of Volume or PersistentVolumeSpec is a volume source,
// which is a message.
func isVolumeSource(f *schema.Field) bool {
	return f.Type.Form == schema.FormMessage && f.Name != "claimRef"
}

// emptyDirUnlessSource defaults the source of a volume to an empty directory.
func emptyDirUnlessSource(_ *schema.Context, m *schema.Value) {
	for _, f := range m.Type().Message().Fields() {
		if isVolumeSource(f) && m.Field(f.Name).IsSet() {
			return
		}
	}
	m.Make("emptyDir")
}

// oneVolumeSource requires a volume to have exactly one source (M12, M32).
func oneVolumeSource(c *schema.Context, v *schema.Value) {
	have := false
	for _, f := range v.Type().Message().Fields() {
		if !isVolumeSource(f) || !v.Field(f.Name).IsSet() {
			continue
		}
		if have {
			c.Forbidden("may not specify more than 1 volume type", f.Name)
		}
		have = true
	}
	if !have {
		c.Required("must specify a volume type")
	}
}

func noBacksteps(c *schema.Context, v *schema.Value) {
	if hasBackstep(v.Str()) {
		c.Invalid(v, "must not contain '..'")
	}
}

func hasBackstep(path string) bool {
	if !strings.Contains(path, "..") {
		return false
	}
	for element := range strings.SplitSeq(path, "/") {
		if element == ".." {
			return true
		}
	}
	return false
}

// nonReservedPath rejects paths that begin with two dots, which the node agent reserves. The format
// rejects the element "..".
func nonReservedPath(c *schema.Context, v *schema.Value) {
	if path := v.Str(); strings.HasPrefix(path, "..") && !hasBackstep(path) {
		c.Invalid(path, "must not start with '..'")
	}
}

func oneDownwardRef(c *schema.Context, v *schema.Value) {
	switch countSet(v, "fieldRef", "resourceFieldRef") {
	case 0:
		c.Required("one of fieldRef and resourceFieldRef is required")
	case 2:
		c.Invalid("resource", "fieldRef and resourceFieldRef can not be specified simultaneously")
	}
}

func oneProjection(c *schema.Context, v *schema.Value) {
	have := false
	for _, name := range [...]string{"secret", "configMap", "downwardAPI", "serviceAccountToken", "clusterTrustBundle", "podCertificate"} {
		if !v.Field(name).IsSet() {
			continue
		}
		if have {
			c.Forbidden("may not specify more than 1 volume type", name)
		}
		have = true
	}
}

// projectedPaths rejects projected items with the same path.
func projectedPaths(c *schema.Context, v *schema.Value) {
	var paths set[string]
	for i, source := range v.Items() {
		for _, name := range [...]string{"secret", "configMap", "downwardAPI"} {
			for j, item := range source.Lookup(name, "items").Items() {
				if path := item.Field("path").Str(); path != "" && !paths.add(path) {
					c.Invalid(path, "conflicting duplicate paths", i, name, "items", j, "path")
				}
			}
		}
	}
}
