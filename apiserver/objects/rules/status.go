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

// resetStatus removes the status that a client sent with a new object (A58).
func resetStatus(c *schema.Context) { c.Object.Root().Clear("status") }

// keepStatus keeps the stored status in a write of the main resource (E17).
func keepStatus(c *schema.Context) { keep(c, "status") }

// keepSpec keeps the stored spec in a write of the status.
func keepSpec(c *schema.Context) { keep(c, "spec") }

// keep replaces a field that the client sent with the stored one. The objects share the value: both
// belong to this request, and nothing changes it.
func keep(c *schema.Context, name string) {
	c.Object.Root().Set(name, c.Old.Field(name))
}
