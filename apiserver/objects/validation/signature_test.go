package validation

import "quorate/apiserver/objects/schema"

func signatureRows() []row {
	signature := func(parts string) string {
		return image("x", `"signatures":[{`+members(`"type":"T","content":"YQ=="`, parts)+`}]`)
	}
	const meta = `"metadata":{"name":"x@s"}`
	condition := func(kind, status, probed string) string {
		return `{"type":"` + kind + `","status":"` + status + `","lastProbeTime":"` + probed + `"}`
	}
	conditions := func(status string) string {
		return `,"conditions":[` + condition("Trusted", status, "2020-01-02T00:00:00Z") + "," + condition("ForImage", status, "2020-01-02T00:00:00Z") +
			"," + condition("Trusted", "Unknown", "2020-01-01T00:00:00Z") + "]"
	}
	const identity = `,"imageIdentity":"i","signedClaims":{"a":"b"},"issuedBy":{"commonName":"c"},"issuedTo":{"commonName":"d"}`
	const unset = "must be unset for unknown signature state"
	return []row{
		{name: "plain M28", kind: "images", body: signature(meta)},
		{name: "of a known signer M28", kind: "images", body: signature(meta + conditions("False") + identity)},
		{name: "of an unknown signer M28", kind: "images", body: signature(meta + conditions("Unknown") + identity), errs: []string{
			`signatures[0].imageIdentity: Invalid value: "i": ` + unset,
			`signatures[0].signedClaims: Invalid value: {"a":"b"}: ` + unset,
			`signatures[0].issuedBy: Invalid value: {"commonName":"c"}: ` + unset,
			`signatures[0].issuedTo: Invalid value: {"commonName":"d","publicKeyID":""}: ` + unset}},
		{name: "trusted for nothing M28", kind: "images", body: signature(meta + `,"conditions":[{"type":"Trusted","status":"True"}]`),
			errs: []string{`signatures[0].conditions: Invalid value: [{"type":"Trusted","status":"True","lastProbeTime":null,"lastTransitionTime":null}]: missing "ForImage" condition type`}},
		{name: "for an image without trust M28", kind: "images", body: signature(meta + `,"conditions":[{"type":"ForImage","status":"True"}]`),
			errs: []string{`signatures[0].conditions: Invalid value: [{"type":"ForImage","status":"True","lastProbeTime":null,"lastTransitionTime":null}]: missing "Trusted" condition type`}},
		{name: "of no good metadata M28", kind: "images", body: signature(`"metadata":{"name":"s","labels":{"a":"b"},"annotations":{"c":"d"}}`), errs: []string{
			`signatures[0].metadata.name: Invalid value: "s": name must be of format <imageName>@<signatureName>`,
			"signatures[0].metadata.labels: Forbidden: signature labels cannot be set",
			"signatures[0].metadata.annotations: Forbidden: signature annotations cannot be set"}},
		{name: "come and go E28", kind: "images", op: schema.Update, old: signature(meta), body: signature(`"metadata":{"name":"x@t"}`)},
		{name: "stays E28", kind: "images", op: schema.Update, old: signature(meta), body: signature(meta + conditions("True"))},
		{name: "changes E28", kind: "images", op: schema.Update, old: signature(meta), body: image("x", `"signatures":[{"metadata":{"name":"x@s"},"type":"U","content":"Yg=="}]`),
			errs: []string{`signatures[0].type: Invalid value: "U": field is immutable`, `signatures[0].content: Invalid value: "Yg==": field is immutable`}},
	}
}
