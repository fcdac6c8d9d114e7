package validation

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"quorate/apiserver/objects/schema"
)

// maxEvictionResponders bounds spec.evictionResponders of a pod template, as upstream does.
const maxEvictionResponders = 10

func templateTodayHooks() schema.Hooks {
	return schema.Hooks{
		Conditions: map[string]schema.Condition{
			"resolvesAlone": resolvesAlone,
		},
		Validators: map[string]schema.Validator{
			"evictionResponders": evictionResponders,
		},
	}
}

// resolvesAlone reports whether the resolvers of a pod are only those of its dnsConfig.
func resolvesAlone(c *schema.Context, m *schema.Value) bool {
	if m.Type().Message().Name != "PodSpec" {
		m = c.Enclosing("PodSpec")
	}
	return m.Field("dnsPolicy").Str() == "None"
}

// evictionResponders rejects two responders of one name, and more of them than are asked.
func evictionResponders(c *schema.Context, v *schema.Value) {
	reportRepeated(c, v, "name")
	if v.Len() > maxEvictionResponders {
		c.Report(field.TooMany(c.Path(), v.Len(), maxEvictionResponders))
	}
}
