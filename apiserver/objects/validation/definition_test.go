package validation

import (
	"strings"

	"quorate/apiserver/objects/schema"
)

// definitionBody returns a CustomResourceDefinition. Each pair replaces the first occurrence of a
// text.
func definitionBody(pairs ...string) string {
	const body = `{"metadata":{"name":"widgets.shop.example.com"},"spec":{"group":"shop.example.com","scope":"Namespaced",
		"names":{"plural":"widgets","kind":"Widget"},
		"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object",
			"properties":{"color":{"type":"string"},"list":{"type":"array","items":{"type":"string"}}}}}}}}]}}`
	text := body
	for i := 0; i < len(pairs); i += 2 {
		text = strings.Replace(text, pairs[i], pairs[i+1], 1)
	}
	return text
}

// conversionOf returns a conversion by a webhook that is called as the fields say.
func conversionOf(fields string) string {
	return `"conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{` + fields + `}}}`
}

// unfilledBody returns a definition whose certificates a controller is to fill in.
func unfilledBody() string {
	return definitionBody(`"scope"`, conversionOf(`"url":"https://example.com/convert","caBundle":"Cg=="`)+`,"scope"`)
}

func definitionRows() []row {
	const (
		kind   = "customresourcedefinitions"
		flags  = `"served":true,"storage":true`
		schema = `"schema":{"openAPIV3Schema":{"type":"object"}}`
		group  = "k8s.io"
	)
	v2 := func(flags string) string { return `"versions":[{"name":"v2",` + flags + `,` + schema + `},` }
	community := func(annotations string) []string {
		return []string{`"name":"widgets.shop.example.com"`, `"name":"widgets.shop.k8s.io"` + annotations, "shop.example.com", "shop.k8s.io"}
	}
	const missing = `metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must have approval annotation ` +
		`"api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111`
	unfilled := unfilledBody()
	rows := []row{
		{name: "defaults", kind: kind, body: definitionBody(), want: map[string]string{
			"spec.names.singular": `"widget"`, "spec.names.listKind": `"WidgetList"`, "spec.conversion.strategy": `"None"`,
			"status.storedVersions": `["v1"]`, "metadata.generation": "1", "status.acceptedNames.kind": `""`,
		}},
		{name: "own singular and list", kind: kind, body: definitionBody(`"kind":"Widget"`, `"kind":"Widget","singular":"wid","listKind":"Widgets"`),
			want: map[string]string{"spec.names.singular": `"wid"`, "spec.names.listKind": `"Widgets"`}},
		{name: "schemas in the form of typed clients", kind: kind, body: definitionBody(`{"type":"string"}`, `{"type":"string","description":"d","nullable":false}`),
			want: map[string]string{"spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.color": `{"description":"d","type":"string"}`}},
		{name: "no schema of protobuf", kind: kind, body: definitionBody(`{"type":"string"}`, `{"type":"string","externalDocs":"x"}`), errs: []string{
			`spec.versions: Invalid value: "": json: cannot unmarshal string into Go struct field JSONSchemaProps.properties.spec.properties.color.externalDocs of type ExternalDocumentation (offset 109)`}},
		{name: "the status of a client is not taken", kind: kind,
			body: definitionBody(`"spec":`, `"status":{"storedVersions":["x"],"acceptedNames":{"kind":"X"}},"spec":`, `"properties":{"spec":`, `"properties":{"spec":`),
			want: map[string]string{"status.storedVersions": `["v1"]`}},
		{name: "no client says which instances it takes over", kind: kind,
			body: definitionBody(`"name":"widgets.shop.example.com"`, `"name":"widgets.shop.example.com","annotations":{"a":"b","apiextensions.platform.io/instances-of":"x"}`),
			want: map[string]string{"metadata.annotations": `{"a":"b"}`}},
		{name: "name", kind: kind, body: definitionBody(`"name":"widgets.shop`, `"name":"gadgets.shop`), errs: []string{
			`metadata.name: Invalid value: "gadgets.shop.example.com": must be spec.names.plural+"."+spec.group`}},
		{name: "group without a domain", kind: kind, body: definitionBody("shop.example.com", "shop", "shop.example.com", "shop"),
			errs: []string{`spec.group: Invalid value: "shop": should be a domain with at least one dot`}},
		{name: "group of the platform", kind: kind, body: definitionBody("shop.example.com", "shop.platform.io", "shop.example.com", "shop.platform.io"),
			errs: []string{`spec.group: Forbidden: the groups of platform.io are reserved`}},
		{name: "community group without approval", kind: kind, body: definitionBody(community("")...), errs: []string{missing}},
		{name: "community group with a malformed approval", kind: kind,
			body: definitionBody(community(`,"annotations":{"api-approved.kubernetes.io":"yes"}`)...), errs: []string{
				`metadata.annotations[api-approved.kubernetes.io]: Invalid value: "yes": protected groups must have approval annotation ` +
					`"api-approved.kubernetes.io" with either a URL or a reason starting with "unapproved", see https://github.com/kubernetes/enhancements/pull/1111`}},
		{name: "community group with approval", kind: kind, body: definitionBody(community(`,"annotations":{"api-approved.kubernetes.io":"https://example.com/1"}`)...)},
		{name: "community group unapproved", kind: kind, body: definitionBody(community(`,"annotations":{"api-approved.kubernetes.io":"unapproved, a test"}`)...)},
		{name: "names", kind: kind, body: definitionBody(`"kind":"Widget"`, `"kind":"Wid get","shortNames":["W"],"categories":["A.b"]`),
			errs: []string{
				`spec.names.singular: Invalid value: "wid get": ` + dns1035,
				`spec.names.kind: Invalid value: "Wid get": may have mixed case, but should otherwise match: ` + dns1035,
				`spec.names.listKind: Invalid value: "Wid getList": may have mixed case, but should otherwise match: ` + dns1035,
				`spec.names.shortNames[0]: Invalid value: "W": ` + dns1035, `spec.names.categories[0]: Invalid value: "A.b": ` + dns1035}},
		{name: "kind of objects and lists", kind: kind, body: definitionBody(`"kind":"Widget"`, `"kind":"Widget","listKind":"Widget"`),
			errs: []string{`spec.names.listKind: Invalid value: "Widget": kind and listKind may not be the same`}},
		{name: "two versions are stored", kind: kind, body: definitionBody(`"versions":[`, v2(flags)), errs: []string{
			`spec.versions: Invalid value: 2: must have exactly one version marked as storage version`}},
		{name: "two versions of one name", kind: kind, body: definitionBody(`"versions":[`, strings.Replace(v2(`"served":true,"storage":false`), "v2", "v1", 1)),
			errs: []string{`spec.versions: Invalid value: 2: must contain unique version names`}},
		{name: "no schema", kind: kind, body: strings.Split(definitionBody(), `,"schema":`)[0] + `}]}}`,
			errs: []string{`spec.versions[0].schema.openAPIV3Schema: Required value`}},
		{name: "schema that is not structural", kind: kind, body: definitionBody(`"color":{"type":"string"}`, `"color":{}`),
			errs: []string{"spec.versions[0].schema.openAPIV3Schema.properties[spec].properties[color].type: Required value: must not be empty for specified object fields"}},
		{name: "unknown fields kept", kind: kind, body: definitionBody(`"scope"`, `"preserveUnknownFields":true,"scope"`), errs: []string{
			`spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead`}},
		{name: "another conversion", kind: kind, body: definitionBody(`"scope"`, `"conversion":{"strategy":"X"},"scope"`), errs: []string{
			`spec.conversion.strategy: Unsupported value: "X": supported values: "None", "Webhook"`}},
		{name: "conversion by webhook", kind: kind, body: definitionBody(`"scope"`, conversionOf(`"url":"https://example.com/convert"`)+`,"scope"`)},
		{name: "conversion by a service", kind: kind, body: definitionBody(`"scope"`, conversionOf(`"service":{"name":"n","namespace":"ns","path":"/p","port":8443}`)+`,"scope"`)},
		{name: "conversion by a service without a path", kind: kind, body: definitionBody(`"scope"`, conversionOf(`"service":{"name":"n","namespace":"ns","path":""}`)+`,"scope"`)},
		{name: "no webhook", kind: kind, body: definitionBody(`"scope"`, `"conversion":{"strategy":"Webhook"},"scope"`), errs: []string{
			`spec.conversion.conversionReviewVersions: Required value`,
			`spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook`}},
		{name: "versions of reviews", kind: kind, body: definitionBody(`"scope"`, strings.Replace(conversionOf(`"url":"https://example.com"`), `["v1"]`, `["v2","V","v2"]`, 1)+`,"scope"`), errs: []string{
			`spec.conversion.conversionReviewVersions[1]: Invalid value: "V": ` + dns1035,
			`spec.conversion.conversionReviewVersions[2]: Invalid value: "v2": duplicate version`,
			`spec.conversion.conversionReviewVersions: Invalid value: ["v2","V","v2"]: must include at least one of v1, v1beta1`}},
		{name: "versions of reviews before v1", kind: kind,
			body: definitionBody(`"scope"`, strings.Replace(conversionOf(`"url":"https://example.com"`), `["v1"]`, `["v1alpha1","v1beta1"]`, 1)+`,"scope"`)},
		{name: "two webhooks", kind: kind, body: definitionBody(`"scope"`, conversionOf(`"url":"https://example.com","service":{"name":"n","namespace":"ns"}`)+`,"scope"`), errs: []string{
			`spec.conversion.webhookClientConfig: Required value: exactly one of url or service is required`}},
		{name: "address of a webhook", kind: kind, body: definitionBody(`"scope"`, conversionOf(`"url":"http://u@/?q#f","caBundle":"Cg=="`)+`,"scope"`), errs: []string{
			`spec.conversion.webhookClientConfig.url: Invalid value: "http": 'https' is the only allowed URL scheme; desired format: https://host[/path]`,
			`spec.conversion.webhookClientConfig.url: Invalid value: "": host must be specified; desired format: https://host[/path]`,
			`spec.conversion.webhookClientConfig.url: Invalid value: "u": user information is not permitted in the URL`,
			`spec.conversion.webhookClientConfig.url: Invalid value: "f": fragments are not permitted in the URL`,
			`spec.conversion.webhookClientConfig.url: Invalid value: "q": query parameters are not permitted in the URL`}},
		{name: "certificates that are to be filled in", kind: kind, body: unfilled},
		{name: "service of a webhook", kind: kind, body: definitionBody(`"scope"`, conversionOf(`"service":{"name":"a/b","path":"p","port":70000}`)+`,"scope"`), errs: []string{
			`spec.conversion.webhookClientConfig.service.name: Invalid value: "a/b": ` + dns1123Name,
			`spec.conversion.webhookClientConfig.service.namespace: Required value: service namespace is required`,
			`spec.conversion.webhookClientConfig.service.port: Invalid value: 70000: port is not valid: must be between 1 and 65535, inclusive`,
			`spec.conversion.webhookClientConfig.service.path: Invalid value: "p": must start with a '/'`}},
		{name: "webhook without its strategy", kind: kind, body: definitionBody(`"scope"`, `"conversion":{"strategy":"None","webhook":{}},"scope"`), errs: []string{
			`spec.conversion.webhookClientConfig: Forbidden: should not be set when strategy is not set to Webhook`}},
		{name: "deprecation warning", kind: kind, body: definitionBody(flags, flags+`,"deprecationWarning":"x"`), errs: []string{
			`spec.versions[0].deprecationWarning: Invalid value: "x": can only be set for deprecated versions`}},
		{name: "scale", kind: kind, body: definitionBody(flags, flags+`,"subresources":{"scale":{"specReplicasPath":".status.n","labelSelectorPath":"x"}}`), errs: []string{
			`spec.versions[0].subresources.scale.specReplicasPath: Invalid value: ".status.n": should be a json path under .spec`,
			`spec.versions[0].subresources.scale.statusReplicasPath: Required value`,
			`spec.versions[0].subresources.scale.labelSelectorPath: Invalid value: "x": must be a simple json path starting with .`}},
		{name: "columns", kind: kind, body: definitionBody(flags, flags+`,"additionalPrinterColumns":[{"name":"a","type":"text","jsonPath":"x"},{"name":"b","type":"string","jsonPath":".a[?"}]`),
			errs: []string{
				`spec.versions[0].additionalPrinterColumns[0].type: Invalid value: "text": must be one of boolean,date,integer,number,string`,
				`spec.versions[0].additionalPrinterColumns[0].JSONPath: Invalid value: "x": must be a simple json path starting with .`,
				`spec.versions[0].additionalPrinterColumns[1].JSONPath: Invalid value: ".a[?": unterminated array`}},
		{name: "selectable fields", kind: kind, body: definitionBody(flags, flags+`,"selectableFields":[{"jsonPath":".spec.color"},{"jsonPath":".spec.list"},{"jsonPath":".metadata.name"},{"jsonPath":".spec.color"}]`),
			errs: []string{
				`spec.versions[0].selectableFields[1].jsonPath: Invalid value: ".spec.list": must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.`,
				`spec.versions[0].selectableFields[2].jsonPath: Invalid value: ".metadata.name": must not point to fields in metadata`,
				`spec.versions[0].selectableFields[3].jsonPath: Duplicate value: ".spec.color"`}},
	}
	return append(rows, definitionUpdateRows()...)
}

const dns1035 = `a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, ` +
	`and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')`

const dns1123Name = `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with ` +
	`an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`

func definitionUpdateRows() []row {
	const (
		kind        = "customresourcedefinitions"
		established = `{"metadata":{"name":"widgets.shop.example.com"},"status":{"storedVersions":["v1"],"conditions":[{"type":"Established","status":"True"}]}}`
	)
	unfilled := unfilledBody()
	next := []string{`"name":"v1"`, `"name":"v2"`}
	return []row{
		{name: "scope before it is served", kind: kind, op: schema.Update, old: definitionBody(), body: definitionBody("Namespaced", "Cluster"),
			want: map[string]string{"metadata.generation": "2", "spec.scope": `"Cluster"`}},
		{name: "scope and kind once it is served", kind: kind, op: schema.Update, old: definitionBody(), status: established,
			body: definitionBody("Namespaced", "Cluster", `"kind":"Widget"`, `"kind":"Gadget"`), errs: []string{
				`spec.scope: Invalid value: "Cluster": field is immutable`, `spec.names.kind: Invalid value: "Gadget": field is immutable`}},
		{name: "the status stays", kind: kind, op: schema.Update, old: definitionBody(), status: established, body: definitionBody(),
			want: map[string]string{"status.storedVersions": `["v1"]`, "metadata.generation": "1"}},
		{name: "another version is stored", kind: kind, op: schema.Update, old: definitionBody(), status: established,
			body: definitionBody(`"versions":[`, `"versions":[{"name":"v2","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}},`,
				`"name":"v1","served":true,"storage":true`, `"name":"v1","served":true,"storage":false`),
			want: map[string]string{"status.storedVersions": `["v1","v2"]`}},
		{name: "the status loses no storage version", kind: kind, op: schema.UpdateStatus, old: definitionBody(),
			body: `{"metadata":{"name":"widgets.shop.example.com"},"status":{"storedVersions":["v0"]}}`, want: map[string]string{"status.storedVersions": `["v0","v1"]`}},
		{name: "nor does one without stored versions", kind: kind, op: schema.UpdateStatus, old: definitionBody(),
			body: `{"metadata":{"name":"widgets.shop.example.com"}}`, want: map[string]string{"status.storedVersions": `["v1"]`}},
		{name: "a version that was stored is removed", kind: kind, op: schema.Update, old: definitionBody(), body: definitionBody(next...), errs: []string{
			`status.storedVersions[0]: Invalid value: "v1": missing from spec.versions; v1 was previously a storage version, and must remain in spec.versions ` +
				`until a storage migration ensures no data remains persisted in v1 and removes v1 from status.storedVersions`}},
		{name: "certificates that are still to be filled in", kind: kind, op: schema.Update, old: unfilled, body: unfilled},
		{name: "a status meanwhile", kind: kind, op: schema.UpdateStatus, old: unfilled, body: established},
		{name: "certificates once it is served", kind: kind, op: schema.Update, old: definitionBody(), status: established, body: unfilled, errs: []string{
			`spec.conversion.webhookClientConfig.caBundle: Invalid value: "": unable to load root certificates: unable to parse bytes as PEM block`}},
		{name: "certificates that were never filled in", kind: kind, op: schema.Update, old: unfilled, status: established,
			body: strings.Replace(unfilled, "Cg==", "eA==", 1)},
		{name: "further selectable fields", kind: kind, op: schema.Update, old: definitionBody(),
			body: definitionBody(`"storage":true`, `"storage":true,"selectableFields":[{"jsonPath":".spec.color"}]`), errs: []string{
				`spec.versions[0].selectableFields[0].jsonPath: Forbidden: fields can only be made selectable when the definition is created, ` +
					`because the stored objects could not be found by .spec.color`}},
	}
}
