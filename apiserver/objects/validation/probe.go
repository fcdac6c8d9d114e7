package validation

import "quorate/apiserver/objects/schema"

func probeHooks() schema.Hooks {
	return schema.Hooks{
		Validators: map[string]schema.Validator{
			"oneHandler":             oneHandler,
			"livenessSucceedsAtOnce": livenessSucceedsAtOnce,
		},
	}
}

// oneHandler requires a probe or a lifecycle hook to have exactly one handler.
func oneHandler(c *schema.Context, v *schema.Value) {
	have := false
	for _, name := range [...]string{"exec", "httpGet", "tcpSocket", "grpc", "sleep"} {
		if !v.Field(name).IsSet() {
			continue
		}
		if have {
			c.Forbidden("may not specify more than 1 handler type", name)
		}
		have = true
	}
	if !have {
		c.Required("must specify a handler type")
	}
}

// livenessSucceedsAtOnce requires a success threshold of 1 in liveness probes.
func livenessSucceedsAtOnce(c *schema.Context, v *schema.Value) {
	if n := v.Field("successThreshold"); n.Int() != 1 {
		c.Invalid(n.Int(), "must be 1", "successThreshold")
	}
}
