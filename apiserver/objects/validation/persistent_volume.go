package validation

import (
	"path"

	"quorate/apiserver/objects/schema"
)

func persistentVolumeHooks() schema.Hooks {
	return schema.Hooks{
		Validators: map[string]schema.Validator{
			"onlyStorage":         onlyStorage,
			"recycleNotWholeHost": recycleNotWholeHost,
		},
		Comparisons: map[string]schema.Comparison{
			"volumeSourceFixed":  volumeSourceFixed,
			"statusNeedsVersion": statusNeedsVersion,
		},
	}
}

// onlyStorage rejects all resources except storage in a volume's capacity.
func onlyStorage(c *schema.Context, v *schema.Value) {
	if v.Get("storage") == nil || v.Len() > 1 {
		c.NotSupported(v, []string{"storage"})
	}
}

func recycleNotWholeHost(c *schema.Context, v *schema.Value) {
	host := c.Parent().Lookup("hostPath", "path").Str()
	if v.Str() == "Recycle" && host != "" && path.Clean(host) == "/" {
		c.Forbidden("may not be 'recycle' for a hostPath mount of '/'")
	}
}

// volumeSourceFixed rejects changes of a volume's source (E26).
func volumeSourceFixed(c *schema.Context, v, old *schema.Value) {
	spec, oldSpec := v.Field("spec"), old.Field("spec")
	if !spec.IsSet() || !oldSpec.IsSet() {
		return // reported elsewhere
	}
	for _, f := range spec.Type().Message().Fields() {
		if isVolumeSource(f) && !sameField(f, spec, oldSpec) {
			c.Forbidden("is immutable after creation", "spec", "persistentvolumesource")
			return
		}
	}
}

// statusNeedsVersion requires a resourceVersion in writes of a volume's status.
func statusNeedsVersion(c *schema.Context, _, _ *schema.Value) {
	if c.Operation == schema.UpdateStatus && c.Object.ResourceVersion() == "" {
		c.Required("", "metadata", "resourceVersion")
	}
}
