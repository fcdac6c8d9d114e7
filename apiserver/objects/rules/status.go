package rules

import "quorate/apiserver/objects/schema"

func statusHooks() schema.Hooks {
	return schema.Hooks{
		Steps: map[string]schema.Step{
			"resetStatus": resetStatus,
			"keepStatus":  keepStatus,
			"keepSpec":    keepSpec,
		},
	}
}

// resetStatus drops the status that a client sent with a new object (A58).
func resetStatus(c *schema.Context) { c.Object.Root().Clear("status") }

// keepStatus makes a write of the main resource leave the status alone (E17).
func keepStatus(c *schema.Context) { keep(c, "status") }

// keepSpec makes a write of the status leave the spec alone.
func keepSpec(c *schema.Context) { keep(c, "spec") }

// keep puts the stored object's field in place of what the client sent. The value is shared with
// the old object, not copied: both belong to this request, and nothing changes what was kept.
func keep(c *schema.Context, name string) {
	c.Object.Root().Set(name, c.Old.Field(name))
}
