package validation

import (
	"fmt"
	"strings"

	"quorate/apiserver/objects/schema"
)

// webhookBody returns a configuration with one webhook. Each pair replaces the first occurrence of
// a text.
func webhookBody(pairs ...string) string {
	body := `{"metadata":{"name":"c"},"webhooks":[{"name":"a.example.com","clientConfig":{"url":"https://example.com/admit"},` +
		`"rules":[{"operations":["CREATE"],"apiGroups":[""],"apiVersions":["v1"],"resources":["pods"]}],` +
		`"sideEffects":"None","admissionReviewVersions":["v1"]}]}`
	for i := 0; i < len(pairs); i += 2 {
		body = strings.Replace(body, pairs[i], pairs[i+1], 1)
	}
	return body
}

func webhookRows() []row {
	const (
		kind, mutating = "validatingwebhookconfigurations", "mutatingwebhookconfigurations"
		at             = "webhooks[0]."
	)
	resources := func(list string) string { return webhookBody(`["pods"]`, list) }
	conditions := func(list string) string {
		return webhookBody(`"sideEffects"`, `"matchConditions":`+list+`,"sideEffects"`)
	}
	many := strings.Repeat(`{"name":"a","expression":"true"},`, 65)
	webhook := `"webhooks":[`
	second := webhook + `{"name":"a.example.com","clientConfig":{"url":"https://example.com"},"sideEffects":"None","admissionReviewVersions":["v1"]},`
	changed := `"metadata":{"name":"c"`
	return []row{
		{name: "defaults", kind: kind, body: webhookBody(), want: map[string]string{
			"metadata.generation": `1`, at + "failurePolicy": `"Fail"`, at + "matchPolicy": `"Equivalent"`, at + "namespaceSelector": `{}`,
			at + "objectSelector": `{}`, at + "timeoutSeconds": `10`, at + "rules[0].scope": `"*"`,
		}},
		{name: "defaults of a mutating one", kind: mutating, body: webhookBody(`"url":"https://example.com/admit"`, `"service":{"namespace":"n","name":"s"}`), want: map[string]string{
			at + "reinvocationPolicy": `"Never"`, at + "objectSelector": `{}`, at + "clientConfig.service.port": `443`,
		}},
		{name: "no webhooks", kind: kind, body: `{"metadata":{"name":"c"}}`},
		{name: "names", kind: kind, body: webhookBody("a.example.com", "example.com"), errs: []string{
			at + `name: Invalid value: "example.com": should be a domain with at least three segments separated by dots`}},
		{name: "two of one name", kind: mutating, body: webhookBody(webhook, second), errs: []string{`webhooks[1].name: Duplicate value: "a.example.com"`}},
		{name: "time", kind: kind, body: webhookBody(`"sideEffects"`, `"timeoutSeconds":31,"sideEffects"`), errs: []string{
			at + "timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds"}},
		{name: "no time", kind: kind, body: webhookBody(`"sideEffects"`, `"timeoutSeconds":0,"sideEffects"`), errs: []string{
			at + "timeoutSeconds: Invalid value: 0: the timeout value must be between 1 and 30 seconds"}},
		{name: "no address", kind: kind, body: webhookBody(`"url":"https://example.com/admit"`, ``), errs: []string{
			at + "clientConfig: Required value: exactly one of url or service is required"}},
		{name: "address", kind: kind, body: webhookBody(`https://`, `http://`), errs: []string{
			at + `clientConfig.url: Invalid value: "http": 'https' is the only allowed URL scheme; desired format: https://host[/path]`}},
		{name: "versions of reviews", kind: kind, body: webhookBody(`["v1"],"res`, `["v1"],"res`, `Versions":["v1"]}]`, `Versions":["v2","v2","X"]}]`), errs: []string{
			at + `admissionReviewVersions[1]: Invalid value: "v2": duplicate version`,
			at + `admissionReviewVersions[2]: Invalid value: "X": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')`,
			at + `admissionReviewVersions: Invalid value: ["v2","X"]: must include at least one of v1, v1beta1`}},
		{name: "no version of reviews", kind: kind, body: webhookBody(`,"admissionReviewVersions":["v1"]`, ``), errs: []string{
			at + `admissionReviewVersions: Required value: must specify one of v1, v1beta1`}},
		{name: "side effects", kind: kind, body: webhookBody(`"None"`, `"Some"`), errs: []string{
			at + `sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"`}},
		{name: "empty rule", kind: kind, body: webhookBody(`{"operations":["CREATE"],"apiGroups":[""],"apiVersions":["v1"],"resources":["pods"]}`, `{}`), errs: []string{
			at + "rules[0].operations: Required value", at + "rules[0].apiGroups: Required value",
			at + "rules[0].apiVersions: Required value", at + "rules[0].resources: Required value"}},
		{name: "wildcards among others", kind: kind, body: webhookBody(`["CREATE"]`, `["*","GET"]`, `[""]`, `["*",""]`, `["v1"],"res`, `["*",""],"res`), errs: []string{
			at + `rules[0].operations: Invalid value: ["*","GET"]: if '*' is present, must not specify other operations`,
			at + `rules[0].operations[1]: Unsupported value: "GET": supported values: "*", "CONNECT", "CREATE", "DELETE", "UPDATE"`,
			at + `rules[0].apiGroups: Invalid value: ["*",""]: if '*' is present, must not specify other API groups`,
			at + `rules[0].apiVersions: Invalid value: ["*",""]: if '*' is present, must not specify other API versions`,
			at + "rules[0].apiVersions[1]: Required value"}},
		{name: "resources", kind: kind, body: resources(`["pods","pods/*","deployments/scale","*/status"]`)},
		{name: "resources that are covered", kind: kind, body: resources(`["pods/*","pods/status","*/scale","jobs/scale",""]`), errs: []string{
			at + `rules[0].resources[1]: Invalid value: "pods/status": if 'pods/*' is present, must not specify pods/status`,
			at + `rules[0].resources[3]: Invalid value: "jobs/scale": if '*/scale' is present, must not specify jobs/scale`,
			at + "rules[0].resources[4]: Required value"}},
		{name: "all resources and others", kind: kind, body: resources(`["*/*","*","pods"]`), errs: []string{
			at + `rules[0].resources: Invalid value: ["*/*","*","pods"]: if '*/*' is present, must not specify other resources`,
			at + `rules[0].resources: Invalid value: ["*/*","*","pods"]: if '*' is present, must not specify other resources without subresources`}},
		{name: "conditions", kind: kind, body: conditions(`[{"name":"a","expression":"object.metadata.name == 'x' && request.userInfo.username != 'y'"},` +
			`{"name":"b/c","expression":"authorizer.requestResource.check('get').allowed() || oldObject == null"}]`)},
		{name: "conditions of nothing", kind: kind, body: conditions(`[{"name":"","expression":" "},{"name":"a b","expression":"1"},{"name":"","expression":"true"}]`), errs: []string{
			at + "matchConditions[0].expression: Required value", at + "matchConditions[0].name: Required value",
			at + `matchConditions[1].expression: Invalid value: "1": must evaluate to bool but got int`,
			at + `matchConditions[1].name: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`,
			at + "matchConditions[2].name: Required value"}},
		{name: "condition that is no expression", kind: kind, body: conditions(`[{"name":"a","expression":"x"}]`), errs: []string{
			at + "matchConditions[0].expression: Invalid value: \"x\": compilation failed: ERROR: <input>:1:1: undeclared reference to 'x' (in container '')\n | x\n | ^"}},
		{name: "too many conditions", kind: mutating, body: conditions(`[` + many[:len(many)-1] + `]`), errs: tooManyConditions(at)},
		{name: "generation", kind: kind, op: schema.Update, old: webhookBody(), body: webhookBody(`"None"`, `"NoneOnDryRun"`), want: map[string]string{"metadata.generation": `2`}},
		{name: "generation of the same", kind: kind, op: schema.Update, old: webhookBody(), body: webhookBody(changed, changed+`,"labels":{"a":"b"}`), want: map[string]string{"metadata.generation": `1`}},
	}
}

// tooManyConditions returns the errors for 65 conditions of one name.
func tooManyConditions(at string) []string {
	errs := []string{at + "matchConditions: Too many: 65: must have at most 64 items"}
	for i := 1; i < 65; i++ {
		errs = append(errs, fmt.Sprintf(`%smatchConditions[%d].name: Duplicate value: "a"`, at, i))
	}
	return errs
}
