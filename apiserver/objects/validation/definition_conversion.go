package validation

import (
	"crypto/x509"
	"net/url"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"quorate/apiserver/objects/schema"
)

const (
	conversionNone    = "None"
	conversionWebhook = "Webhook"
)

// definitionConversion requires a strategy, and for Webhook a webhook that can be called.
func definitionConversion(c *schema.Context, conversion *schema.Value) {
	webhook := conversion.Field("webhook")
	switch strategy := conversion.Field("strategy").Str(); strategy {
	case "":
		c.Required("", "strategy")
	case conversionNone:
		if webhook.IsSet() {
			c.Forbidden("should not be set when strategy is not set to Webhook", "webhookClientConfig")
		}
	case conversionWebhook:
		checkWebhook(c, webhook)
	default:
		c.NotSupported(strategy, []string{conversionNone, conversionWebhook}, "strategy")
	}
}

func checkWebhook(c *schema.Context, webhook *schema.Value) {
	checkReviewVersions(c, webhook.Field("conversionReviewVersions"))
	client := webhook.Field("clientConfig")
	if !client.IsSet() {
		c.Required("required when strategy is set to Webhook", "webhookClientConfig")
		return
	}
	checkWebhookClient(c, client, "webhookClientConfig")
	if unreadable(client) && !allowsUnreadable(c) {
		c.Invalid("", "unable to load root certificates: unable to parse bytes as PEM block", "webhookClientConfig", "caBundle")
	}
}

// unreadable reports whether the caBundle of a clientConfig contains no certificates.
func unreadable(client *schema.Value) bool {
	ca := client.Field("caBundle")
	return !ca.IsEmpty() && !x509.NewCertPool().AppendCertsFromPEM([]byte(ca.Str()))
}

// allowsUnreadable reports whether a definition may have a caBundle without certificates: one that
// is not served yet, whose certificates a controller is to fill in, and one that has such a bundle
// already.
func allowsUnreadable(c *schema.Context) bool {
	return c.Operation != schema.Update || !Established(c.Old.Root()) || UnreadableCABundle(c.Old.Root())
}

// UnreadableCABundle reports whether the conversion webhook of a definition has a caBundle without
// certificates. Such a definition is not served.
func UnreadableCABundle(definition *schema.Value) bool {
	return unreadable(definition.Lookup("spec", "conversion", "webhook", "clientConfig"))
}

// checkWebhookClient requires the address of a webhook or its service. at is the path in errors.
func checkWebhookClient(c *schema.Context, client *schema.Value, at string) {
	address, service := client.Field("url"), client.Field("service")
	switch {
	case address.IsSet() == service.IsSet():
		c.Required("exactly one of url or service is required", at)
	case address.IsSet():
		checkWebhookURL(c, address.Str(), at, "url")
	default:
		checkWebhookService(c, service, at)
	}
}

// checkReviewVersions requires one of the two versions of ConversionReview that the server sends.
func checkReviewVersions(c *schema.Context, versions *schema.Value) {
	var names []string
	for i, v := range versions.Items() {
		if why := strings.Join(validation.IsDNS1035Label(v.Str()), ","); why != "" {
			c.Invalid(v.Str(), why, "conversionReviewVersions", i)
		}
		if slices.Contains(names, v.Str()) {
			c.Invalid(v.Str(), "duplicate version", "conversionReviewVersions", i)
		}
		names = append(names, v.Str())
	}
	switch {
	case len(names) == 0:
		c.Required("", "conversionReviewVersions")
	case !slices.Contains(names, "v1") && !slices.Contains(names, "v1beta1"):
		c.Invalid(names, "must include at least one of v1, v1beta1", "conversionReviewVersions")
	}
}

// checkWebhookURL requires an address with the scheme https and without what no webhook needs.
func checkWebhookURL(c *schema.Context, text string, at ...any) {
	const form = "; desired format: https://host[/path]"
	u, err := url.Parse(text)
	if err != nil {
		c.Required("url must be a valid URL: "+err.Error()+form, at...)
		return
	}
	if u.Scheme != "https" {
		c.Invalid(u.Scheme, "'https' is the only allowed URL scheme"+form, at...)
	}
	if u.Host == "" {
		c.Invalid(u.Host, "host must be specified"+form, at...)
	}
	if u.User != nil {
		c.Invalid(u.User.String(), "user information is not permitted in the URL", at...)
	}
	if u.Fragment != "" {
		c.Invalid(u.Fragment, "fragments are not permitted in the URL", at...)
	}
	if u.RawQuery != "" {
		c.Invalid(u.RawQuery, "query parameters are not permitted in the URL", at...)
	}
}

func checkWebhookService(c *schema.Context, service *schema.Value, client string) {
	at := func(name string) []any { return []any{client, "service", name} }
	for _, name := range []string{"name", "namespace"} {
		text := service.Field(name).Str()
		if text == "" {
			c.Required("service "+name+" is required", at(name)...)
		} else if why := strings.Join(validation.IsDNS1123Subdomain(text), ","); why != "" {
			c.Invalid(text, why, at(name)...) // it is a part of a host name
		}
	}
	if port := service.Field("port"); port.IsSet() {
		if why := strings.Join(validation.IsValidPortNum(int(port.Int())), ","); why != "" {
			c.Invalid(port.Int(), "port is not valid: "+why, at("port")...)
		}
	}
	// An empty path is the same as none, as clients that always write the field have it.
	if path := service.Field("path").Str(); path != "" && !strings.HasPrefix(path, "/") {
		c.Invalid(path, "must start with a '/'", at("path")...)
	}
}
