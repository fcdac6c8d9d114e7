package validation

import (
	"strings"

	"quorate/apiserver/objects/schema"
)

const (
	phaseActive      = "Active"
	phaseTerminating = "Terminating"

	// finalizerPlatform keeps a namespace until all of its objects are deleted.
	finalizerPlatform = "platform"
)

func namespaceHooks() schema.Hooks {
	return schema.Hooks{
		Steps: map[string]schema.Step{
			"activateNamespace": activateNamespace,
		},
		Validators: map[string]schema.Validator{
			"namespaceFinalizers": namespaceFinalizers,
			"namespacePhase":      namespacePhase,
		},
	}
}

// activateNamespace sets a new namespace's phase to Active and adds the platform's finalizer (M3).
func activateNamespace(c *schema.Context) {
	root := c.Object.Root()
	root.Clear("status")
	root.Make("status").Make("phase").SetStr(phaseActive)
	list := root.Make("spec").Make("finalizers")
	for _, item := range list.Items() {
		if item.Str() == finalizerPlatform {
			return
		}
	}
	list.Append().SetStr(finalizerPlatform)
}

// namespaceFinalizers requires finalizers to be qualified names or the platform's own, as in
// metadata (A22).
func namespaceFinalizers(c *schema.Context, v *schema.Value) {
	for i, item := range v.Items() {
		switch name := item.Str(); name {
		case finalizerPlatform, "orphan", "foregroundDeletion":
		default:
			if !strings.Contains(name, "/") {
				c.Invalid(name, "name is neither a standard finalizer name nor is it fully qualified", i)
			}
		}
	}
}

// namespacePhase requires the phase to agree with the deletion timestamp, so that it can only
// change from Active to Terminating (M5).
func namespacePhase(c *schema.Context, v *schema.Value) {
	if c.Operation != schema.UpdateStatus {
		return
	}
	switch _, deleting := c.Object.DeletionTimestamp(); {
	case deleting && v.Str() != phaseTerminating:
		c.Invalid(v, "may only be 'Terminating' if `deletionTimestamp` is not empty")
	case !deleting && v.Str() != phaseActive:
		c.Invalid(v, "may only be 'Active' if `deletionTimestamp` is empty")
	}
}
