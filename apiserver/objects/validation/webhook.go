package validation

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"quorate/apiserver/objects/expression"
	"quorate/apiserver/objects/schema"
)

// maxWebhookSeconds is the longest time that a webhook may take.
const maxWebhookSeconds = 30

func webhookHooks() schema.Hooks {
	return schema.Hooks{
		Steps: map[string]schema.Step{"countWebhooks": countWebhooks},
		Defaulters: map[string]schema.Defaulter{
			"everyNamespace": func(_ *schema.Context, m *schema.Value) { m.Make("namespaceSelector") },
			"everyObject":    func(_ *schema.Context, m *schema.Value) { m.Make("objectSelector") },
		},
		Validators: map[string]schema.Validator{
			"admissionRule":   admissionRule,
			"matchCondition":  matchCondition,
			"matchConditions": matchConditions,
			"webhook":         admissionWebhook,
			"webhookNames":    webhookNames,
		},
	}
}

// countWebhooks increments the generation if the webhooks change. What the client left out is no
// change.
func countWebhooks(c *schema.Context) {
	c.Kind.Default(c.Object)
	if !schema.Equal(c.Object.Root().Field("webhooks"), c.Old.Root().Field("webhooks")) {
		c.Object.SetGeneration(c.Old.Generation() + 1)
	}
}

// webhookNames refuses two webhooks of one name.
func webhookNames(c *schema.Context, webhooks *schema.Value) {
	seen := map[string]bool{}
	for i, webhook := range webhooks.Items() {
		name := webhook.Field("name").Str()
		if name != "" && seen[name] {
			c.Duplicate(name, i, "name")
		}
		seen[name] = true
	}
}

// admissionWebhook requires a name, a time and an address with which a webhook can be called, and a
// version of AdmissionReview that the server sends.
func admissionWebhook(c *schema.Context, webhook *schema.Value) {
	if name := webhook.Field("name").Str(); name != "" {
		for _, err := range validation.IsFullyQualifiedName(field.NewPath("name"), name) {
			c.Invalid(name, err.Detail, "name")
		}
	}
	if seconds := webhook.Field("timeoutSeconds"); seconds.IsSet() && (seconds.Int() < 1 || seconds.Int() > maxWebhookSeconds) {
		c.Invalid(seconds.Int(), fmt.Sprintf("the timeout value must be between 1 and %d seconds", maxWebhookSeconds), "timeoutSeconds")
	}
	checkWebhookClient(c, webhook.Field("clientConfig"), "clientConfig")
	checkAdmissionReviewVersions(c, webhook.Field("admissionReviewVersions"))
}

// checkAdmissionReviewVersions requires one of the two versions that the server sends.
func checkAdmissionReviewVersions(c *schema.Context, versions *schema.Value) {
	const at, accepted = "admissionReviewVersions", "v1, v1beta1"
	var names []string
	for i, v := range versions.Items() {
		if slices.Contains(names, v.Str()) {
			c.Invalid(v.Str(), "duplicate version", at, i)
			continue
		}
		for _, why := range validation.IsDNS1035Label(v.Str()) {
			c.Invalid(v.Str(), why, at, i)
		}
		names = append(names, v.Str())
	}
	switch {
	case len(names) == 0:
		c.Required("must specify one of "+accepted, at)
	case !slices.Contains(names, "v1") && !slices.Contains(names, "v1beta1"):
		c.Invalid(names, "must include at least one of "+accepted, at)
	}
}

// admissionRule requires each list of a rule, and that a wildcard stands alone.
func admissionRule(c *schema.Context, rule *schema.Value) {
	operations := rule.Field("operations")
	checkWildcard(c, operations, "operations", "operations")
	supported := []string{"*", "CONNECT", "CREATE", "DELETE", "UPDATE"}
	for i, v := range operations.Items() {
		if !slices.Contains(supported, v.Str()) {
			c.NotSupported(v.Str(), supported, "operations", i)
		}
	}
	checkWildcard(c, rule.Field("apiGroups"), "apiGroups", "API groups")
	versions := rule.Field("apiVersions")
	checkWildcard(c, versions, "apiVersions", "API versions")
	for i, v := range versions.Items() {
		if v.Str() == "" {
			c.Required("", "apiVersions", i)
		}
	}
	checkRuleResources(c, rule.Field("resources"))
}

func checkWildcard(c *schema.Context, list *schema.Value, name, what string) {
	switch {
	case list.Len() == 0:
		c.Required("", name)
	case list.Len() > 1 && contains(list, "*"):
		c.Invalid(list, "if '*' is present, must not specify other "+what, name)
	}
}

// checkRuleResources refuses resources that a wildcard before them covers.
func checkRuleResources(c *schema.Context, resources *schema.Value) {
	const at = "resources"
	if resources.Len() == 0 {
		c.Required("", at)
	}
	covered := map[string]bool{} // x/* and */x
	plain := false
	for i, v := range resources.Items() {
		text := v.Str()
		if text == "" {
			c.Required("", at, i)
			continue
		}
		resource, subresource, nested := strings.Cut(text, "/")
		if !nested {
			plain = text != "*"
			continue
		}
		for _, wildcard := range []string{resource + "/*", "*/" + subresource} {
			if covered[wildcard] {
				c.Invalid(text, fmt.Sprintf("if '%s' is present, must not specify %s", wildcard, text), at, i)
			}
		}
		if resource == "*" || subresource == "*" {
			covered[text] = true
		}
	}
	if resources.Len() > 1 && contains(resources, "*/*") {
		c.Invalid(resources, "if '*/*' is present, must not specify other resources", at)
	}
	if plain && contains(resources, "*") {
		c.Invalid(resources, "if '*' is present, must not specify other resources without subresources", at)
	}
}

// matchConditions bounds the conditions of a webhook and refuses two of one name.
func matchConditions(c *schema.Context, conditions *schema.Value) {
	if n := conditions.Len(); n > expression.MaxConditions {
		c.Report(field.TooMany(c.Path(), n, expression.MaxConditions))
	}
	webhookNames(c, conditions)
}

// matchCondition requires a name, and an expression that can be evaluated.
func matchCondition(c *schema.Context, condition *schema.Value) {
	text := condition.Field("expression").Str()
	if strings.TrimSpace(text) == "" {
		c.Required("", "expression")
	} else if err := (&expression.Condition{Expression: text}).Check(); err != nil {
		c.Invalid(text, err.Error(), "expression")
	}
	name := condition.Field("name").Str()
	if name == "" {
		c.Required("", "name")
	} else if why := validation.IsQualifiedName(name); len(why) > 0 {
		c.Invalid(name, strings.Join(why, ","), "name")
	}
}
