package validation

import (
	"strings"

	"quorate/apiserver/objects/schema"
)

func signatureHooks() schema.Hooks {
	return schema.Hooks{
		Validators: map[string]schema.Validator{
			"imageSignature": imageSignature,
		},
		Comparisons: map[string]schema.Comparison{
			"signatureContentFixed": signatureContentFixed,
		},
	}
}

// imageSignature validates a signature's metadata, requires the conditions Trusted and ForImage to
// occur together, and rejects information about a signature whose trust is unknown (M28).
func imageSignature(c *schema.Context, v *schema.Value) {
	signatureMetadata(c, v.Field("metadata"))
	trusted, forImage := latestCondition(v, "Trusted"), latestCondition(v, "ForImage")
	switch {
	case trusted != nil && forImage == nil:
		c.Invalid(v.Field("conditions"), `missing "ForImage" condition type`, "conditions")
	case trusted == nil && forImage != nil:
		c.Invalid(v.Field("conditions"), `missing "Trusted" condition type`, "conditions")
	}
	if status := trusted.Field("status").Str(); status == "True" || status == "False" {
		return
	}
	for _, name := range [...]string{"imageIdentity", "signedClaims", "issuedBy", "issuedTo"} {
		f := v.Field(name)
		if f.IsSet() && (f.Type().Form == schema.FormMessage || !f.IsEmpty()) {
			c.Invalid(f, "must be unset for unknown signature state", name)
		}
	}
}

func signatureMetadata(c *schema.Context, meta *schema.Value) {
	name := meta.Field("name").Str()
	if image, signature, ok := strings.Cut(name, "@"); !ok || image == "" || signature == "" || strings.Contains(signature, "@") {
		c.Invalid(name, "name must be of format <imageName>@<signatureName>", "metadata", "name")
	}
	if meta.Field("labels").Len() > 0 {
		c.Forbidden("signature labels cannot be set", "metadata", "labels")
	}
	if meta.Field("annotations").Len() > 0 {
		c.Forbidden("signature annotations cannot be set", "metadata", "annotations")
	}
}

// latestCondition returns the condition of a type with the latest probe time. If several have that
// time, it returns the last of them.
func latestCondition(signature *schema.Value, kind string) *schema.Value {
	var latest *schema.Value
	for _, condition := range signature.Field("conditions").Items() {
		if condition.Field("type").Str() == kind &&
			(latest == nil || condition.Field("lastProbeTime").Int() >= latest.Field("lastProbeTime").Int()) {
			latest = condition
		}
	}
	return latest
}

// signatureContentFixed rejects changes of a signature's content. Signatures may be added and
// removed.
func signatureContentFixed(c *schema.Context, v, old *schema.Value) {
	if v.Len() == 0 || old.Len() == 0 {
		return
	}
	before := make(map[string]*schema.Value, old.Len())
	for _, signature := range old.Items() {
		before[signature.Lookup("metadata", "name").Str()] = signature
	}
	for i, signature := range v.Items() {
		was := before[signature.Lookup("metadata", "name").Str()]
		if was == nil {
			continue
		}
		for _, name := range [...]string{"type", "content"} {
			if f := signature.Field(name); f.Str() != was.Field(name).Str() {
				c.Invalid(f, fieldImmutable, i, name)
			}
		}
	}
}
