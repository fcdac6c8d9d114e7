package validation

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

// resetStatus removes the status that a client sent in a create (A58).
func resetStatus(c *schema.Context) { c.Object.Root().Clear("status") }

// keepStatus restores the stored status in a write of the main resource (E17).
func keepStatus(c *schema.Context) { keep(c, "status") }

// keepSpec restores the stored spec in a write of the status.
func keepSpec(c *schema.Context) { keep(c, "spec") }

// keep replaces a field that the client sent by the stored one. Both objects then share the value,
// which is safe because the request does not modify it.
func keep(c *schema.Context, name string) {
	c.Object.Root().Set(name, c.Old.Field(name))
}
