package validation

import "quorate/apiserver/objects/schema"

func leaseHooks() schema.Hooks {
	return schema.Hooks{
		Validators: map[string]schema.Validator{
			"preferredHolderHasStrategy": preferredHolderHasStrategy,
		},
	}
}

// preferredHolderHasStrategy rejects a preferred holder without a strategy, because no coordinator
// would use it.
func preferredHolderHasStrategy(c *schema.Context, _ *schema.Value) {
	if c.Parent().Field("strategy").Str() == "" {
		c.Forbidden("may only be specified when `strategy` is defined")
	}
}
