package review

import (
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/rest/route"
)

// whatMayI lists the permissions of the requester in a namespace.
func whatMayI(cfg *Config, c *route.Call, o *schema.Object) error {
	rules := cfg.Reviewer.Rules(c.User, o.Field("spec").Field("namespace").Str())
	answer := o.Root().Make("status")
	list := answer.Make("resourceRules")
	for _, r := range rules.Resource {
		rule := list.Append()
		setTexts(rule.Make("verbs"), r.Verbs)
		setTexts(rule.Make("apiGroups"), r.Groups)
		setTexts(rule.Make("resources"), r.Resources)
		setTexts(rule.Make("resourceNames"), r.Names)
	}
	list = answer.Make("nonResourceRules")
	for _, r := range rules.NonResource {
		rule := list.Append()
		setTexts(rule.Make("verbs"), r.Verbs)
		setTexts(rule.Make("nonResourceURLs"), r.Paths)
	}
	answer.Make("incomplete").SetBool(rules.Incomplete != "")
	answer.Make("evaluationError").SetStr(rules.Incomplete)
	return nil
}
